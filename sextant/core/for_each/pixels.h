// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/for_each.h"

namespace sextant::detail {

#if SEXTANT_CUDA_COMPILER
inline constexpr int kPixelBlockColumns = 32;  // a warp reads neighbours of one row
inline constexpr int kPixelBlockRows = 8;

template <class Function>
__global__ void __launch_bounds__(kPixelBlockColumns* kPixelBlockRows)
    for_each_pixel_kernel(int width, int height, const Function function) {
  const int u = static_cast<int>(blockIdx.x * kPixelBlockColumns + threadIdx.x);
  if (u >= width) return;
  for (int v = static_cast<int>(blockIdx.y * kPixelBlockRows + threadIdx.y); v < height;
       v += static_cast<int>(gridDim.y * kPixelBlockRows)) {
    function(u, v);
  }
}
#endif

/// Calls function(u, v) for every pixel, in any order. It does what sextant::for_each does without
/// a division for each pixel, and with rows that the compiler can vectorise.
template <class Function, bool kCuda = SEXTANT_CUDA_COMPILER>
void for_each_pixel(const Context& context, int width, int height, const Function& function) {
  if (width <= 0 || height <= 0) return;
  if (context.is_cpu()) {
    constexpr int kPixelsPerChunk = 16384;  // far above the cost of handing out a chunk
    const int rows = width < kPixelsPerChunk ? kPixelsPerChunk / width : 1;
    for_each_chunk(context, height, rows, [&](std::int64_t begin, std::int64_t end) {
      for (int v = static_cast<int>(begin); v < static_cast<int>(end); ++v) {
        for (int u = 0; u < width; ++u) function(u, v);
      }
    });
    return;
  }
#if SEXTANT_CUDA_COMPILER
  constexpr int kMostBlocks = 65535;  // of a grid's second dimension
  const int rows = (height + kPixelBlockRows - 1) / kPixelBlockRows;
  const dim3 grid(static_cast<unsigned>((width + kPixelBlockColumns - 1) / kPixelBlockColumns),
                  static_cast<unsigned>(rows < kMostBlocks ? rows : kMostBlocks));
  for_each_pixel_kernel<<<grid, dim3(kPixelBlockColumns, kPixelBlockRows), 0,
                          cuda_stream(context)>>>(width, height, function);
  check_launch("for_each_pixel");
#else
  fail("for_each_pixel: this function was compiled for the host, the context runs on ",
       to_string(context.device()));
#endif
}

}  // namespace sextant::detail
