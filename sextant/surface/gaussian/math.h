// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "sextant/core/simd/approx_math.h"

namespace sextant::detail::gaussian {

inline constexpr float kLog2e = 1.44269504f;

/// What weights that decay with distance need beyond arithmetic. T is a number; a pack of lanes
/// specialises it. Results are wrong by less than 3e-7 of their value.
template <class T>
struct GaussianMath;

template <>
struct GaussianMath<float> {
  /// 2^exponent for exponents in [-120, 120].
  static SEXTANT_HD void exp2(float exponent, float& result) {
#if defined(__CUDA_ARCH__)
    result = approx_exp2(exponent);
#else
    result = std::exp2(exponent);
#endif
  }
  /// Of a normal number with a normal inverse.
  static SEXTANT_HD float inverse(float value) {
#if defined(__CUDA_ARCH__)
    return approx_inverse(value);
#else
    return 1.0f / value;
#endif
  }
  static SEXTANT_HD void square_root(float value, float& result) { result = std::sqrt(value); }
};

}  // namespace sextant::detail::gaussian
