// SPDX-License-Identifier: Apache-2.0
#include "sextant/depth/disparity.h"

#include "sextant/core/build_config.h"
#include "sextant/core/for_each/pixels.h"
#include "sextant/depth/disparity/math.h"

namespace sextant {

using namespace detail::disparity;

namespace {

template <class T>
void check_images(const Context& context, const ImageView<const T>& disparity,
                  const ImageView<float>& depth_m) {
  require_on(context, disparity, "disparity");
  require_on(context, depth_m, "depth_m");
  require(depth_m.width == disparity.width && depth_m.height == disparity.height,
          "depth_m: ", depth_m.width, " x ", depth_m.height, " px, but the disparity has ",
          disparity.width, " x ", disparity.height);
}

template <class Pixel>
void convert(const Context& context, const Pixel& pixel) {
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) return disparity_cuda(context, pixel);
  }
  detail::for_each_pixel(context, pixel.depth_m.width, pixel.depth_m.height, pixel);
}

}  // namespace

void depth_from_kinect_disparity_into(const Context& context,
                                      ImageView<const std::uint16_t> disparity,
                                      const KinectDisparityOptions& options,
                                      ImageView<float> depth_m) {
  check_options(options);
  check_images(context, disparity, depth_m);
  convert(context, KinectPixel{disparity, depth_m,
                               static_cast<float>(8 * options.baseline_m * options.focal_px),
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
  check_images(context, disparity_px, depth_m);
  convert(context, StereoPixel{disparity_px, depth_m,
                               static_cast<float>(options.baseline_m * options.focal_px),
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
