// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each/pixels.h"
#include "sextant/depth/disparity/math.h"

namespace sextant::detail::disparity {

void disparity_cuda(const Context& context, const KinectPixel& pixel) {
  for_each_pixel(context, pixel.depth_m.width, pixel.depth_m.height, pixel);
}

void disparity_cuda(const Context& context, const StereoPixel& pixel) {
  for_each_pixel(context, pixel.depth_m.width, pixel.depth_m.height, pixel);
}

}  // namespace sextant::detail::disparity
