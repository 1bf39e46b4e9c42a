// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "sextant/core/for_each/shared_sum.h"

// How much a sensor errs, at every depth, found from what the windows of a frame leave of a simple
// surface: they are counted by depth and size, and a low quantile of the sizes is the noise, since
// some windows of every scene lie on something simple.

namespace sextant::detail::noise {

inline constexpr int kDepthBins = 32;   // 2⁻⁸ m … 2⁸ m, in half octaves
inline constexpr int kNoiseBins = 128;  // 2⁻²⁴ /m … 2⁸ /m, in quarter octaves

/// The bin of a positive number on a logarithmic scale with 2^kFraction bins an octave.
template <int kFraction>
SEXTANT_HD int log_bin(float value, int lowest_exponent, int bins) {
#if defined(__CUDA_ARCH__)
  const std::uint32_t bits = __float_as_uint(value);
#else
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
#endif
  const int bin =
      static_cast<int>(bits >> (23 - kFraction)) - (lowest_exponent + 127) * (1 << kFraction);
  return bin < 0 ? 0 : bin >= bins ? bins - 1 : bin;
}
SEXTANT_HD inline int depth_bin(float z_m) { return log_bin<1>(z_m, -8, kDepthBins); }
SEXTANT_HD inline int noise_bin(float inverse_m) { return log_bin<2>(inverse_m, -24, kNoiseBins); }

/// The middle of a bin of noise.
SEXTANT_HD inline float noise_of_bin(int bin) {
  constexpr float kMiddle[4] = {1.125f, 1.375f, 1.625f, 1.875f};
  return std::ldexp(kMiddle[bin % 4], bin / 4 - 24);
}

/// Counts a window in a histogram of kDepthBins × kNoiseBins.
SEXTANT_HD inline void count_window(std::int32_t* histogram, float z_m, float inverse_m) {
  add_to(histogram + depth_bin(z_m) * kNoiseBins + noise_bin(inverse_m), 1);
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
