// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "sextant/geometry/neighbour_walk.h"

// Several threads share the neighbours of one query. The file is empty where nvcc does not compile.
#if SEXTANT_CUDA_COMPILER

namespace sextant::detail::neighbours {

/// Threads that sum over the candidates of one query. The neighbouring queries of a warp read the
/// same candidates, 256 bytes at a time; and 40 thousand queries fill a large GPU, where a thread
/// for each would leave it mostly waiting for memory. On an H200 eight are faster with 300
/// candidates (64 k votees: 0.24 ms, with sixteen 0.28), sixteen with thousands (41 k: 0.47, 0.39).
inline constexpr int kGatherThreads = 16;
inline constexpr int kGatherBlock = 256;

/// Candidates of one thread after which its sum is put aside, so that rounding does not grow with
/// their number.
inline constexpr std::uint32_t kMostInOneSum = 256;

inline unsigned gather_blocks(std::int64_t queries) {
  constexpr std::int64_t kQueries = kGatherBlock / kGatherThreads;
  return static_cast<unsigned>((queries + kQueries - 1) / kQueries);
}

/// Adds every float of a struct that holds nothing else.
template <class Sums>
__device__ void add_floats(Sums& to, const Sums& more) {
  constexpr int kFloats = sizeof(Sums) / sizeof(float);
  static_assert(sizeof(Sums) == kFloats * sizeof(float));
  float a[kFloats], b[kFloats];
  memcpy(a, &to, sizeof(Sums));
  memcpy(b, &more, sizeof(Sums));
#pragma unroll
  for (int i = 0; i < kFloats; ++i) a[i] += b[i];
  memcpy(&to, a, sizeof(Sums));
}

/// Reads a point with one load of 16 bytes.
__device__ inline GridPoint load_point(const NeighbourGridView& grid, std::uint32_t i) {
  const float4 words = __ldg(reinterpret_cast<const float4*>(grid.points) + i);
  return {{words.x, words.y, words.z}, __float_as_int(words.w)};
}

/// Calls take(candidate, sums) for this thread's share of the points in cells that may lie within
/// the radius of p, in an order that depends on grid and p alone.
template <class Sums, class Take>
__device__ Sums gather_share(const NeighbourGridView& grid, const Vec3f& p, float radius_m,
                             const Take& take) {
  constexpr std::uint32_t kChunk = kMostInOneSum * kGatherThreads;
  const std::uint32_t lane = threadIdx.x % kGatherThreads;
  Sums all{};
  Sums some{};
  std::uint32_t taken = 0;
  for_each_run(grid, cells_within(*grid.frame, p, radius_m * radius_m),
               [&](std::uint32_t begin, std::uint32_t end) {
                 for (std::uint32_t first = begin; first < end; first += kChunk) {
                   const std::uint32_t last = end - first < kChunk ? end : first + kChunk;
#pragma unroll 4
                   for (std::uint32_t i = first + lane; i < last; i += kGatherThreads) {
                     take(load_point(grid, i), some);
                   }
                   taken += last - first;
                   if (taken >= kChunk) {
                     add_floats(all, some);
                     some = Sums{};
                     taken = 0;
                   }
                 }
               });
  add_floats(all, some);
  return all;
}

/// The sum over the threads of a query, known to all of them. Every thread of the warp takes part.
template <class Sums>
__device__ void sum_over_threads(Sums& sums) {
  constexpr int kFloats = sizeof(Sums) / sizeof(float);
  float part[kFloats];
  memcpy(part, &sums, sizeof(Sums));
#pragma unroll
  for (int i = 0; i < kFloats; ++i) {
#pragma unroll
    for (int step = kGatherThreads / 2; step > 0; step /= 2) {
      part[i] += __shfl_xor_sync(0xffffffffu, part[i], step);
    }
  }
  memcpy(&sums, part, sizeof(Sums));
}

}  // namespace sextant::detail::neighbours

#endif
