// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each.h"
#include "sextant/geometry/undistort/math.h"

namespace sextant::detail::undistort {

template <class Pixel>
void undistort_cuda(const Context& context, const UndistortPixel<Pixel>& pixel) {
  for_each(context, pixel.to.pixels(), pixel);
}

template void undistort_cuda(const Context&, const UndistortPixel<Rgb8>&);
template void undistort_cuda(const Context&, const UndistortPixel<float>&);

}  // namespace sextant::detail::undistort
