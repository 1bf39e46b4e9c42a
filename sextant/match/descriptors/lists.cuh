// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/cuda/warp.cuh"
#include "sextant/match/descriptors/math.h"

// Sorted lists of the nearest rows in shared memory. Four neighbouring lanes, which hold the same
// row of a product of matrices, own the list of that row; no other lane touches it.

namespace sextant::detail::descriptors {

template <class Key>
__device__ Neighbour<Key> shuffle_xor(const Neighbour<Key>& from, int step) {
  return {__shfl_xor_sync(kAllLanes, from.distance, step),
          __shfl_xor_sync(kAllLanes, from.index, step)};
}

/// The smallest of four neighbouring lanes.
template <class Key>
__device__ Neighbour<Key> quad_min(Neighbour<Key> value) {
  for (int step = 1; step <= 2; step *= 2) {
    const Neighbour<Key> other = shuffle_xor(value, step);
    if (other < value) value = other;
  }
  return value;
}

/// Puts the two candidates of each lane into the list of its quad as long as they are better than
/// its last element, and returns the key of that. All lanes of a warp call this together. It is not
/// inlined, because it is called rarely and from many places, and a loop that fits the cache of
/// instructions is worth more.
template <class Key>
__device__ __noinline__ Key take_two(Neighbour<Key> a, Neighbour<Key> b, Neighbour<Key>* list,
                                     int size) {
  Neighbour<Key> last = list[size - 1];
  while (true) {
    const bool a_counts = a < last;
    const bool b_counts = b < last;
    if (__ballot_sync(kAllLanes, a_counts || b_counts) == 0) return last.distance;
    const Neighbour<Key> mine = a_counts && (!b_counts || a < b) ? a : b_counts ? b : last;
    const Neighbour<Key> best = quad_min(mine);
    if (best < last) {
      if (lane_index() % 4 == 0) insert(list, size, best);
      // A candidate that is in the list is not taken again.
      if (a.index == best.index) a = last;
      if (b.index == best.index) b = last;
    }
    __syncwarp();
    last = list[size - 1];
    __syncwarp();
  }
}

/// The rank-th smallest of the kEach values of every lane of a quad; all lanes call this together.
/// The values are lost.
template <int kEach, class Key>
__device__ Key quad_ranked(Key (&values)[kEach], int rank, Key largest) {
  Key found = largest;
  for (int i = 0; i < rank; ++i) {
    Neighbour<Key> least{largest, INT32_MAX};
    SEXTANT_UNROLL
    for (int v = 0; v < kEach; ++v) {
      const Neighbour<Key> mine{values[v], lane_index() % 4 * kEach + v};
      if (mine < least) least = mine;
    }
    least = quad_min(least);
    found = least.distance;
    SEXTANT_UNROLL
    for (int v = 0; v < kEach; ++v) {
      if (least.index == lane_index() % 4 * kEach + v) values[v] = largest;
    }
  }
  return found;
}

}  // namespace sextant::detail::descriptors
