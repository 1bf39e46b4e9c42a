// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/neighbours/lanes.h"
#include "sextant/surface/gaussian/math.h"

// Exponentials and roots of sixteen numbers at a time. Host only.

namespace sextant::detail::gaussian {

/// 2^exponent for exponents in [-120, 120]. The nearest whole number becomes the exponent of the
/// result, and a polynomial (interpolated at Chebyshev's nodes, wrong by 1.6e-7) takes the rest.
SEXTANT_INLINE void exp2_lanes(const neighbours::FloatLanes& exponent,
                               neighbours::FloatLanes& result) {
  constexpr float kRounder = 12582912.0f;  // 1.5 · 2²³: sums with it are whole
  const neighbours::FloatLanes rounded = exponent + kRounder;
  const neighbours::FloatLanes rest = exponent - (rounded - kRounder);
  neighbours::FloatLanes power = rest * 0.00133908633f + 0.00967603177f;
  power = power * rest + 0.0555035695f;
  power = power * rest + 0.240221068f;
  power = power * rest + 0.693147182f;
  power = power * rest + 1.00000012f;
  // The low bits of kRounder are 0, so that shifting leaves the whole part alone.
  using WordLanes = std::uint32_t __attribute__((vector_size(64)));
  result = reinterpret_cast<neighbours::FloatLanes>(reinterpret_cast<WordLanes>(power) +
                                                    (reinterpret_cast<WordLanes>(rounded) << 23));
}

/// √value for values in [0, 1e30].
SEXTANT_INLINE void square_root_lanes(const neighbours::FloatLanes& value,
                                      neighbours::FloatLanes& result) {
  using WordLanes = std::uint32_t __attribute__((vector_size(64)));
  neighbours::FloatLanes y = reinterpret_cast<neighbours::FloatLanes>(
      0x5f375a86u - (reinterpret_cast<WordLanes>(value) >> 1));
  const neighbours::FloatLanes half = value * 0.5f;
  for (int step = 0; step < 3; ++step) y = y * (1.5f - half * y * y);
  result = value * y;
}

template <>
struct GaussianMath<neighbours::FloatLanes> {
  SEXTANT_INLINE static void exp2(const neighbours::FloatLanes& exponent,
                                  neighbours::FloatLanes& result) {
    exp2_lanes(exponent, result);
  }
  SEXTANT_INLINE static void square_root(const neighbours::FloatLanes& value,
                                         neighbours::FloatLanes& result) {
    square_root_lanes(value, result);
  }
};

}  // namespace sextant::detail::gaussian
