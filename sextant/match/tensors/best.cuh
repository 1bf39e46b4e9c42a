// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/cuda/warp.cuh"
#include "sextant/match/tensors/math.h"

// What the searches by correlation and by cosine share. For .cu files only.

namespace sextant::detail::tensors {

/// Places of the library whose angles lie in the window of a tensor of the scene.
struct Window {
  std::int64_t begin;
  std::int64_t end;
};

__device__ inline Window window_of(const MatchJob& job, std::int64_t t) {
  if (t >= *job.scene.count) return {0, 0};
  const float angle = job.scene.frames[t].angle_rad;
  if (!(angle >= 0.0f)) return {0, 0};
  const float* angles = job.library.angles_rad;
  const float window = job.options.angle_window_rad;
  return {place_of<false>(angles, job.library.size, angle - window),
          place_of<true>(angles, job.library.size, angle + window)};
}

__device__ inline TensorMatch shuffle_xor(const TensorMatch& from, int step) {
  return {__shfl_xor_sync(kAllLanes, from.model, step),
          __shfl_xor_sync(kAllLanes, from.flipped, step),
          __shfl_xor_sync(kAllLanes, from.correlation, step),
          __shfl_xor_sync(kAllLanes, from.overlap, step)};
}

/// A warp writes the k best of a list, best first. The result must not overlap the list.
__device__ inline void select_best(const TensorMatch* list, int size, int k, TensorMatch* to) {
  TensorMatch last;
  for (int i = 0; i < k; ++i) {
    TensorMatch best;
    for (int e = lane_index(); e < size; e += kWarp) {
      const TensorMatch candidate = list[e];
      if ((i == 0 || better(last, candidate)) && better(candidate, best)) best = candidate;
    }
    for (int step = kWarp / 2; step > 0; step /= 2) {
      const TensorMatch other = shuffle_xor(best, step);
      if (better(other, best)) best = other;
    }
    if (lane_index() == 0) to[i] = best;
    last = best;
    if (best.model < 0) {
      for (int rest = i + 1; rest < k; ++rest) {
        if (lane_index() == 0) to[rest] = TensorMatch{};
      }
      return;
    }
  }
}

}  // namespace sextant::detail::tensors
