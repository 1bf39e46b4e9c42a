// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "sextant/surface/segment/noise_levels.h"

// How much a sensor errs, at every depth, found from what the windows of a frame leave of a simple
// surface: they are counted by depth and size, and a low quantile of the sizes is the noise, since
// some windows of every scene lie on something simple. The bins are those of segmentation.

namespace sextant::detail::noise {

using segment::depth_bin;
using segment::kDepthBins;
using segment::kNoiseBins;
using segment::noise_bin;
using segment::noise_of_bin;

/// Adds one to a count that many threads add to.
SEXTANT_HD inline void count_one(std::int32_t* count) {
#if defined(__CUDA_ARCH__)
  atomicAdd(count, 1);
#else
  std::atomic_ref(*count).fetch_add(1, std::memory_order_relaxed);
#endif
}

/// Counts a window in a histogram of kDepthBins × kNoiseBins.
SEXTANT_HD inline void count_window(std::int32_t* histogram, float z_m, float inverse_m) {
  count_one(histogram + depth_bin(z_m) * kNoiseBins + noise_bin(inverse_m));
}

/// What a share of the windows stay below, from their counts by size; -1 where there are fewer than
/// `least`.
SEXTANT_HD inline float quantile_level(const std::int32_t* counts, float share,
                                       std::int32_t least) {
  std::int32_t windows = 0;
  for (int k = 0; k < kNoiseBins; ++k) windows += counts[k];
  if (windows < least) return -1.0f;
  const float enough = share * static_cast<float>(windows);
  std::int32_t below = 0;
  int k = 0;
  for (; k < kNoiseBins && static_cast<float>(below) < enough; ++k) below += counts[k];
  return noise_of_bin(k - 1);
}

/// The level at the nearest depth that has one (not negative), of two the nearer to the sensor;
/// `otherwise` when none has.
SEXTANT_HD inline float nearest_level(const float* levels, int bin, float otherwise) {
  for (int away = 0; away < kDepthBins; ++away) {
    if (bin - away >= 0 && levels[bin - away] >= 0.0f) return levels[bin - away];
    if (bin + away < kDepthBins && levels[bin + away] >= 0.0f) return levels[bin + away];
  }
  return otherwise;
}

}  // namespace sextant::detail::noise
