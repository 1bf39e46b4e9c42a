// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/cuda/dispatch.h"
#include "sextant/core/for_each/pixels.h"

// Loops for .cpp files that run on either device. The function that the loop calls is compiled by
// nvcc in a .cu file of the operation, which consists of one line for each:
//
//   namespace sextant::detail {
//   SEXTANT_FOR_EACH_ON_CUDA(tensor::UnpackBin)
//   SEXTANT_FOR_EACH_PIXEL_ON_CUDA(disparity::KinectPixel)
//   }

namespace sextant::detail {

template <class Function>
void for_each_on_cuda(const Context& context, std::int64_t count, const Function& function);
template <class Function>
void for_each_pixel_on_cuda(const Context& context, int width, int height,
                            const Function& function);

/// Does the same as sextant::for_each, from a .cpp file.
template <class Function>
void for_each_anywhere(const Context& context, std::int64_t count, const Function& function) {
  on_device(
      context, [&] { for_each_on_cuda(context, count, function); },
      [&] { for_each(context, count, function); });
}

/// Does the same as for_each_pixel, from a .cpp file.
template <class Function>
void for_each_pixel_anywhere(const Context& context, int width, int height,
                             const Function& function) {
  on_device(
      context, [&] { for_each_pixel_on_cuda(context, width, height, function); },
      [&] { for_each_pixel(context, width, height, function); });
}

#if SEXTANT_CUDA_COMPILER
template <class Function>
void for_each_on_cuda(const Context& context, std::int64_t count, const Function& function) {
  for_each(context, count, function);
}
template <class Function>
void for_each_pixel_on_cuda(const Context& context, int width, int height,
                            const Function& function) {
  for_each_pixel(context, width, height, function);
}

#define SEXTANT_FOR_EACH_ON_CUDA(...) \
  template void for_each_on_cuda(const Context&, std::int64_t, const __VA_ARGS__&);
#define SEXTANT_FOR_EACH_PIXEL_ON_CUDA(...) \
  template void for_each_pixel_on_cuda(const Context&, int, int, const __VA_ARGS__&);
#endif

}  // namespace sextant::detail
