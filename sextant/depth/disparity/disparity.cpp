// SPDX-License-Identifier: Apache-2.0
#include "sextant/depth/disparity.h"

#include "sextant/core/for_each/anywhere.h"
#include "sextant/depth/disparity/math.h"

namespace sextant {

using namespace detail::disparity;

namespace {

template <class T, class Pixel>
void convert(const Context& context, const ImageView<const T>& disparity,
             const ImageView<float>& depth_m, const Pixel& pixel) {
  require_on(context, disparity, "disparity");
  require_same_size(context, depth_m, disparity, "depth_m", "disparity");
  detail::for_each_pixel_anywhere(context, depth_m.width, depth_m.height, pixel);
}

}  // namespace

void depth_from_kinect_disparity_into(const Context& context,
                                      ImageView<const std::uint16_t> disparity,
                                      const KinectDisparityOptions& options,
                                      ImageView<float> depth_m) {
  check_options(options);
  convert(
      context, disparity, depth_m,
      KinectPixel{disparity, depth_m, static_cast<float>(8 * options.baseline_m * options.focal_px),
                  static_cast<float>(options.offset)});
}

Image<float> depth_from_kinect_disparity(const Context& context,
                                         ImageView<const std::uint16_t> disparity,
                                         const KinectDisparityOptions& options) {
  Image<float> depth_m(context, disparity.width, disparity.height);
  depth_from_kinect_disparity_into(context, disparity, options, depth_m);
  return depth_m;
}

void depth_from_stereo_disparity_into(const Context& context, ImageView<const float> disparity_px,
                                      const StereoOptions& options, ImageView<float> depth_m) {
  check_options(options);
  convert(
      context, disparity_px, depth_m,
      StereoPixel{disparity_px, depth_m, static_cast<float>(options.baseline_m * options.focal_px),
                  static_cast<float>(options.offset_px)});
}

Image<float> depth_from_stereo_disparity(const Context& context,
                                         ImageView<const float> disparity_px,
                                         const StereoOptions& options) {
  Image<float> depth_m(context, disparity_px.width, disparity_px.height);
  depth_from_stereo_disparity_into(context, disparity_px, options, depth_m);
  return depth_m;
}

}  // namespace sextant
