// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/for_each.h"
#include "sextant/match/descriptors/float_search.cuh"
#include "sextant/match/descriptors/job.h"

// The exact distances of the rows that may be among the nearest. For floats.cu only, which is
// compiled without fused products so that these have the bits of the CPU.

namespace sextant::detail::descriptors {

namespace {

/// The exact distance of two rows; all lanes of a warp add it up and get it.
__device__ double warp_distance_sq(const float* a, const float* b, int length) {
  double sum = partial_distance_sq(a, b, length, lane_index());
  for (int half = kWarp / 2; half > 0; half /= 2) sum += __shfl_down_sync(kAllLanes, sum, half);
  return __shfl_sync(kAllLanes, sum, 0);
}

struct ExactList {
  Neighbour<double> nearest[kMostNearestDescriptors];

  __device__ explicit ExactList(int k) {
    for (int i = 0; i < k; ++i) nearest[i] = {INFINITY, kNobody};
  }
};

__device__ void write(const FloatSearch& search, std::int64_t result, const ExactList& found) {
  for (int i = 0; i < search.k; ++i) {
    const bool exists = found.nearest[i].distance < INFINITY;
    search.indices[result * search.k + i] = exists ? found.nearest[i].index : -1;
    search.distances_sq[result * search.k + i] =
        exists ? static_cast<float>(found.nearest[i].distance) : INFINITY;
  }
}

/// The lists of a query in a segment, seen as one.
struct ListsOfQuery {
  const Neighbour<float>* first;
  std::int64_t stride;  ///< from one list to the next
  int lists;
  int size;

  __device__ int count() const { return lists * size; }
  __device__ Neighbour<float> at(int i) const { return first[i / size * stride + i % size]; }
};

/// The key of the k-th nearest by the hardware's products.
__device__ float kth_key(const ListsOfQuery& lists, int k) {
  Neighbour<float> before{-INFINITY, -1};
  for (int round = 0; round < k; ++round) {
    Neighbour<float> next{INFINITY, kNobody};
    for (int i = lane_index(); i < lists.count(); i += kWarp) {
      const Neighbour<float> candidate = lists.at(i);
      if (before < candidate && candidate < next) next = candidate;
    }
    for (int step = kWarp / 2; step > 0; step /= 2) {
      const Neighbour<float> other = shuffle_xor(next, step);
      if (other < next) next = other;
    }
    before = next;
  }
  return before.distance;
}

/// A warp for each query and segment measures what may be among the nearest.
__global__ void measure_kernel(const FloatSearch search, std::int64_t results) {
  const std::int64_t result = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / kWarp;
  if (result >= results) return;
  const std::int64_t segment = result / search.query_rows;
  const std::int64_t query = result % search.query_rows;
  const std::int64_t per_list = search.query_rows * search.list;
  const int lists_per_segment = search.parts * kColumnWarps;
  const ListsOfQuery lists{
      search.partial + segment * lists_per_segment * per_list + query * search.list, per_list,
      lists_per_segment, search.list};
  ExactList found(search.k);
  bool complete = true;
  const float norm_sq = search.query_norms_sq[query];
  if (norm_sq < INFINITY) {
    const float error = key_error(search);
    const float farthest = kth_key(lists, search.k) + 2.0f * error;
    for (int i = 0; i < lists.count(); ++i) {
      const Neighbour<float> candidate = lists.at(i);
      if (!(candidate.distance <= farthest) || candidate.index == kNobody) continue;
      const double distance_sq = warp_distance_sq(
          search.query_values + query * search.length,
          search.base_values + std::int64_t{candidate.index} * search.length, search.length);
      insert(found.nearest, search.k, {distance_sq, candidate.index});
      // What fell out of a full list is no nearer than its last element.
      if (i % search.list == search.list - 1) complete = false;
    }
  }
  if (lane_index() != 0) return;
  search.undecided[result] = complete ? 0 : 1;
  if (complete) write(search, result, found);
}

/// A block for each query and segment; those that are undecided meet every row again.
__global__ void measure_all_kernel(const FloatSearch search) {
  __shared__ Neighbour<double> lists[kForEachBlock / kWarp][kMostNearestDescriptors];
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const std::int64_t segment = blockIdx.y;
  const std::int64_t query = blockIdx.x;
  const std::int64_t place = segment * search.query_rows + query;
  if (search.undecided[place] == 0) return;
  const Segment range = segment_at(search.segment_ends, segment, search.base_rows);
  ExactList found(search.k);
  for (std::int32_t row = range.begin + warp; row < range.end; row += kForEachBlock / kWarp) {
    if (!(search.base_norms_sq[row] < INFINITY)) continue;
    const double distance_sq =
        warp_distance_sq(search.query_values + query * search.length,
                         search.base_values + std::int64_t{row} * search.length, search.length);
    insert(found.nearest, search.k, {distance_sq, row});
  }
  if (lane_index() == 0) {
    for (int i = 0; i < search.k; ++i) lists[warp][i] = found.nearest[i];
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < kForEachBlock / kWarp; ++w) {
    for (int i = 0; i < search.k; ++i) insert(found.nearest, search.k, lists[w][i]);
  }
  write(search, place, found);
}

}  // namespace

}  // namespace sextant::detail::descriptors
