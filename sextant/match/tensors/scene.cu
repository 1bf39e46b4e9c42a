// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that shares have the bits of the CPU
#include "sextant/core/cuda_check.h"
#include "sextant/match/tensors/blocks_math.h"

namespace sextant::detail::tensors {

namespace {

constexpr int kThreads = 128;  // about as many as a tensor has bins

/// A block for each tensor. Sums are of whole numbers, so that their order does not matter.
__global__ void __launch_bounds__(kThreads)
    arrange_scene_kernel(const tensor::TensorSource from, const SceneTensors to) {
  __shared__ unsigned long long sums[2][4 * kBlockWords];
  __shared__ unsigned long long masks[2][kMaskWords];
  __shared__ unsigned long long norm_sq;
  const std::int64_t t = blockIdx.x;
  if (t >= *from.count) return;
  const int thread = static_cast<int>(threadIdx.x);
  const int all = to.all_bins();
  std::uint32_t* areas = to.areas + 2 * t * all;
  for (int i = thread; i < 2 * 4 * kBlockWords; i += kThreads) (&sums[0][0])[i] = 0;
  if (thread < 2 * kMaskWords) (&masks[0][0])[thread] = 0;
  if (thread == 0) norm_sq = 0;
  for (int i = thread; i < 2 * all; i += kThreads) areas[i] = 0;
  __syncthreads();
  for (int e = thread; e < from.sizes[t]; e += kThreads) {
    const int seen = from.indices[from.first[t] + e];
    const std::uint32_t area = fixed_area(from.values[from.first[t] + e]);
    const unsigned long long square = std::uint64_t{area} * area;
    atomicAdd(&norm_sq, square);
    for (int f = 0; f < 2; ++f) {
      const int bin = f ? flipped_bin(seen, to.bins) : seen;
      areas[f * all + bin] = area;
      atomicOr(&masks[f][bin / 64], 1ull << (bin % 64));
      atomicAdd(&sums[f][block_of(bin, to.bins)], square);
    }
  }
  __syncthreads();
  if (thread == 0) to.norms_sq[t] = norm_sq;
  if (thread < 2 * kMaskWords) {
    to.masks[2 * t + thread / kMaskWords].words[thread % kMaskWords] = (&masks[0][0])[thread];
  }
  for (int i = thread; i < 2 * kBlockWords; i += kThreads) {
    std::uint32_t word = 0;
    for (int b = 0; b < 4; ++b) word |= share_of((&sums[0][0])[4 * i + b], norm_sq) << 8 * b;
    to.blocks[2 * t * kBlockWords + i] = word;
  }
}

}  // namespace

void arrange_scene_cuda(const Context& context, const tensor::TensorSource& from,
                        const SceneTensors& to) {
  if (to.capacity == 0) return;
  arrange_scene_kernel<<<static_cast<unsigned>(to.capacity), kThreads, 0, cuda_stream(context)>>>(
      from, to);
  check_launch("arrange_scene_kernel");
}

}  // namespace sextant::detail::tensors
