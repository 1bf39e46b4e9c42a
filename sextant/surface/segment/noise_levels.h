// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "sextant/core/host_device.h"

namespace sextant::detail::segment {

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

/// The deviation of inverse depth that the sensor causes, in 1/m, at every depth.
struct NoiseLevels {
  float inverse_m[kDepthBins];
  float least_inverse_m;

  SEXTANT_HD float at(float z_m) const { return inverse_m[depth_bin(z_m)]; }
};

}  // namespace sextant::detail::segment
