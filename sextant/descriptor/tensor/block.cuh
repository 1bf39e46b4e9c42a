// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a block that computes one tensor at a time does together. For .cu files only.

#include "sextant/core/cuda/warp.cuh"
#include "sextant/descriptor/tensor/math.h"

namespace sextant::detail::tensor {

__device__ inline int block_threads() { return static_cast<int>(blockDim.x); }
__device__ inline int block_warps() { return block_threads() / kWarp; }

/// The sums of one tensor in shared memory. They are integers, so that the order of additions does
/// not matter.
struct BlockSums {
  static constexpr int kBins = 1024;  ///< a multiple of the warp, at least bins³
  std::uint32_t units[kBins];
  std::uint32_t full[kBins / 32];  ///< a bit for each sum that has passed its end
  std::uint32_t occupied[kBins / 32];
  std::int32_t before[kBins / 32];

  __device__ void clear() {
    for (int bin = threadIdx.x; bin < kBins; bin += block_threads()) units[bin] = 0;
    for (int word = threadIdx.x; word < kBins / 32; word += block_threads()) full[word] = 0;
  }

  __device__ void add(int bin, std::uint32_t area) {
    const std::uint32_t old = atomicAdd(&units[bin], area);
    if (old + area < old) atomicOr(&full[bin / 32], 1u << (bin % 32));
  }

  /// Writes the bins that are not empty; all threads of the block call it, after a barrier.
  __device__ void write(const TensorRows& out, std::int64_t t) {
    const int lane = lane_index();
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    for (int word = warp; word < kBins / 32; word += block_warps()) {
      const int bin = word * 32 + lane;
      if (full[word] >> lane & 1u) units[bin] = kFullBin;
      const unsigned mask = __ballot_sync(kAllLanes, units[bin] >= kLeastArea);
      if (lane == 0) occupied[word] = mask;
    }
    __syncthreads();
    if (warp == 0) {
      const int here = __popc(occupied[lane]);
      int sum = here;
      for (int offset = 1; offset < kWarp; offset *= 2) {
        const int lower = __shfl_up_sync(kAllLanes, sum, offset);
        if (lane >= offset) sum += lower;
      }
      before[lane] = sum - here;
      if (lane == kWarp - 1) out.sizes[t] = sum;
      if (lane < 16) {
        out.masks[t].words[lane] =
            std::uint64_t{occupied[2 * lane]} | std::uint64_t{occupied[2 * lane + 1]} << 32;
      }
      if (lane == 0) out.first[t] = t * out.all_bins();
    }
    __syncthreads();
    const std::int64_t first = t * out.all_bins();
    for (int word = warp; word < kBins / 32; word += block_warps()) {
      const std::uint32_t mask = occupied[word];
      if ((mask >> lane & 1u) == 0) continue;
      const std::int64_t to = first + before[word] + __popc(mask & lanes_before());
      out.indices[to] = static_cast<std::uint16_t>(word * 32 + lane);
      out.values[to] = area_from(units[word * 32 + lane]);
    }
  }
};

/// Not inlined: it keeps polygons in memory, and few surfaces need it.
__device__ __noinline__ inline void add_long(Vec3f a, Vec3f b, Vec3f c, int bins, BlockSums& sums) {
  add_long_triangle(a, b, c, bins, [&](int bin, std::uint32_t area) { sums.add(bin, area); });
}

/// Calls hit(group, tile) for every box of the sixteen of a group that may meet the cube; all
/// threads of the block call it. `listed` has room for a group a thread.
template <class Hit>
__device__ void for_each_box(const TensorCube& cube, const Bounds* boxes, int groups, int* listed,
                             int* length, const Hit& hit) {
  for (int begin = 0; begin < groups; begin += block_threads()) {
    if (threadIdx.x == 0) *length = 0;
    __syncthreads();
    const int group = begin + static_cast<int>(threadIdx.x);
    if (group < groups) {
      const Bounds& box = boxes[std::int64_t{group} * kBoxesPerGroup];
      // They are listed in any order; what is done with them does not depend on it.
      if (cube.may_meet(box.low, box.high)) listed[atomicAdd(length, 1)] = group;
    }
    __syncthreads();
    const int boxes_listed = *length * kTilesPerGroup;
    for (int i = threadIdx.x; i < boxes_listed; i += block_threads()) {
      const int of = listed[i / kTilesPerGroup];
      const int tile = i % kTilesPerGroup;
      const Bounds& box = boxes[std::int64_t{of} * kBoxesPerGroup + 1 + tile];
      if (cube.may_meet(box.low, box.high)) hit(of, tile);
    }
    __syncthreads();
  }
}

}  // namespace sextant::detail::tensor
