// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each/pixels.h"
#include "sextant/depth/color_points/math.h"

namespace sextant::detail::color_points {

void color_points_cuda(const Context& context, const RegisteredColor& color) {
  for_each_pixel(context, color.image.width, color.image.height, color);
}

void color_points_cuda(const Context& context, const ProjectedColor& color) {
  for_each(context, color.points.size, color);
}

}  // namespace sextant::detail::color_points
