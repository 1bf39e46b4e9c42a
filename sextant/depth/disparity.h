// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sextant/core/image.h"
#include "sextant/core/options.h"

namespace sextant {

/// The constants of a Kinect (first generation) that turn its raw disparity into depth.
struct KinectDisparityOptions {
  double baseline_m = 0.075;  ///< from the infrared projector to the infrared camera
  double focal_px = 580;      ///< of the infrared camera
  double offset = 1090;       ///< the raw value of a point at infinity

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("baseline_m", self.baseline_m, "from infrared projector to infrared camera",
          Range{1e-4, 100});
    visit("focal_px", self.focal_px, "focal length of the infrared camera", Range{1, 1e6});
    visit("offset", self.offset, "raw disparity of a point at infinity", Range{1, 65535});
  }
};

/// Raw Kinect disparity k (11 bits, in eighths of a pixel) to depth in metres:
///
///     z = 8 b f / (offset - k)
///
/// NaN where nothing came back (k = 2047 and above) and where k >= offset, which would lie at
/// infinity or behind the camera. One division a pixel, bound by memory: 6 bytes a pixel. Within
/// 2.5e-7 z of exact arithmetic; CPU and CUDA give the same bits.
Image<float> depth_from_kinect_disparity(const Context& context,
                                         ImageView<const std::uint16_t> disparity,
                                         const KinectDisparityOptions& options = {});
/// Into an image of the same size; allocates nothing and does not wait.
void depth_from_kinect_disparity_into(const Context& context,
                                      ImageView<const std::uint16_t> disparity,
                                      const KinectDisparityOptions& options,
                                      ImageView<float> depth_m);

/// A rectified pair of cameras.
struct StereoOptions {
  double baseline_m = 0.1;  ///< between the two cameras
  double focal_px = 1000;   ///< of the rectified images
  double offset_px = 0;     ///< added to the disparity: right minus left principal point

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("baseline_m", self.baseline_m, "between the two cameras", Range{1e-4, 100});
    visit("focal_px", self.focal_px, "focal length of the rectified images", Range{1, 1e6});
    visit("offset_px", self.offset_px, "added to the disparity (Middlebury's doffs)",
          Range{-1e5, 1e5});
  }
};

/// Disparity of a rectified stereo pair, in pixels, to depth in metres: z = b f / (d + offset).
/// NaN where the disparity is not finite or d + offset is not positive. Cost and accuracy as above.
Image<float> depth_from_stereo_disparity(const Context& context,
                                         ImageView<const float> disparity_px,
                                         const StereoOptions& options = {});
/// Into an image of the same size; allocates nothing and does not wait.
void depth_from_stereo_disparity_into(const Context& context, ImageView<const float> disparity_px,
                                      const StereoOptions& options, ImageView<float> depth_m);

}  // namespace sextant
