// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each/pixels.h"
#include "sextant/depth/deproject/math.h"

namespace sextant::detail::deproject {

template <class Pixel>
void deproject_cuda(const Context& context, int width, int height, const Pixel& pixel) {
  for_each_pixel(context, width, height, pixel);
}

template void deproject_cuda(const Context&, int, int, const DeprojectPixel<PinholeRays>&);
template void deproject_cuda(const Context&, int, int, const DeprojectPixel<DistortedRays>&);
template void deproject_cuda(const Context&, int, int, const DeprojectPixel<TabledRays>&);
template void deproject_cuda(const Context&, int, int, const TableRay<PinholeRays>&);
template void deproject_cuda(const Context&, int, int, const TableRay<DistortedRays>&);

}  // namespace sextant::detail::deproject
