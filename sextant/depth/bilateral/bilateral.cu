// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/cuda/tiles.cuh"
#include "sextant/core/cuda_check.h"
#include "sextant/depth/bilateral/math.h"

namespace sextant::detail::bilateral {

namespace {

// A block filters 32 × 16 pixels, each thread four of one column: four independent sums hide the
// latency of the exponential, whose unit is the limit, and a depth read from shared memory serves
// four windows. 640 × 480 gives 600 blocks, which are all resident at once on a large GPU.
constexpr int kColumns = 32;
constexpr int kThreadRows = 4;
constexpr int kPixelsPerThread = 4;
constexpr int kTileRows = kThreadRows * kPixelsPerThread;
constexpr int kThreads = kColumns * kThreadRows;

/// Scaled depths of the block's pixels and of `radius` around them; outside the image are holes.
__device__ void load_tile(const ImageView<const float>& depth_m, float scale, int radius,
                          float* tile) {
  const int width = kColumns + 2 * radius;
  const int height = kTileRows + 2 * radius;
  const int first_u = static_cast<int>(blockIdx.x) * kColumns - radius;
  const int first_v = static_cast<int>(blockIdx.y) * kTileRows - radius;
  for (int i = static_cast<int>(threadIdx.y * kColumns + threadIdx.x); i < width * height;
       i += kThreads) {
    const int u = first_u + i % width;
    const int v = first_v + i / width;
    tile[i] = depth_m.contains(u, v) ? scaled_or_hole(depth_m(u, v), scale) : kScaledHole;
  }
}

/// kFixedRadius = 0 takes the radius from the weights; any other is known to the compiler, which
/// then unrolls the columns of the window.
template <int kFixedRadius>
__global__ void __launch_bounds__(kThreads)
    bilateral_kernel(const ImageView<const float> depth_m, const ImageView<float> filtered_m,
                     const __grid_constant__ BilateralWeights weights) {
  extern __shared__ float tile[];
  constexpr int kUnroll = kFixedRadius > 0 ? 2 * kFixedRadius + kPixelsPerThread : 1;
  const int radius = kFixedRadius > 0 ? kFixedRadius : weights.radius;
  const int stride = kColumns + 2 * radius;
  load_tile(depth_m, weights.scale, radius, tile);
  __syncthreads();

  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y) * kPixelsPerThread;
  float center[kPixelsPerThread], weight[kPixelsPerThread], difference[kPixelsPerThread];
#pragma unroll
  for (int k = 0; k < kPixelsPerThread; ++k) {
    center[k] = tile[(y + radius + k) * stride + x + radius];
    weight[k] = difference[k] = 0.0f;
  }
#pragma unroll 1
  for (int du = -radius; du <= radius; ++du) {
    const float log2_column = weights.log2_spatial[du < 0 ? -du : du];
    const float* column = tile + y * stride + x + radius + du;
#pragma unroll kUnroll
    for (int row = 0; row < 2 * radius + kPixelsPerThread; ++row) {
      const float neighbour = column[row * stride];
#pragma unroll
      for (int k = 0; k < kPixelsPerThread; ++k) {
        const int dv = row - radius - k;
        if (dv < -radius || dv > radius) continue;
        add_neighbour(center[k], neighbour, log2_column + weights.log2_spatial[dv < 0 ? -dv : dv],
                      weight[k], difference[k]);
      }
    }
  }

  const int u = static_cast<int>(blockIdx.x) * kColumns + x;
#pragma unroll
  for (int k = 0; k < kPixelsPerThread; ++k) {
    const int v = static_cast<int>(blockIdx.y) * kTileRows + y + k;
    if (!filtered_m.contains(u, v)) continue;
    filtered_m(u, v) = filtered_depth(depth_m(u, v), weights.unscale, weight[k], difference[k]);
  }
}

}  // namespace

void bilateral_filter_cuda(const Context& context, ImageView<const float> depth_m,
                           const BilateralWeights& weights, ImageView<float> filtered_m) {
  const dim3 grid = blocks_for_tiles(depth_m.width, depth_m.height, kColumns, kTileRows, "depth_m");
  const dim3 block(kColumns, kThreadRows);
  const std::size_t shared_bytes =
      sizeof(float) * (kColumns + 2 * weights.radius) * (kTileRows + 2 * weights.radius);
  const cudaStream_t stream = cuda_stream(context);
  if (weights.radius == 5) {
    bilateral_kernel<5><<<grid, block, shared_bytes, stream>>>(depth_m, filtered_m, weights);
  } else {
    bilateral_kernel<0><<<grid, block, shared_bytes, stream>>>(depth_m, filtered_m, weights);
  }
  check_launch("bilateral_kernel");
}

}  // namespace sextant::detail::bilateral
