// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "sextant/core/host_device.h"
#include "sextant/core/simd/approx_math.h"

namespace sextant::detail {

inline constexpr float kLog2e = 1.44269504f;

/// What formulas for a number or a pack of numbers need beyond + - × ÷ and comparison. A number is
/// float or double, on either device; a pack of lanes specialises it (lanes_math.h).
///
/// Names tell how good a result is. Without a prefix it is right to 3 units in the last place.
/// `quick_` is wrong by 3e-7 of the result at most, for arguments and results that are normal
/// numbers, and is a single instruction on CUDA. `rough_` is wrong by 5e-6 at most.
template <class T>
struct LaneMath {
  static SEXTANT_HD T select(bool condition, const T& yes, const T& no) {
    return condition ? yes : no;
  }
  /// They return a when the two are equal or one of them is no number.
  static SEXTANT_HD T smaller(const T& a, const T& b) { return b < a ? b : a; }
  static SEXTANT_HD T larger(const T& a, const T& b) { return a < b ? b : a; }
  static SEXTANT_HD T magnitude(const T& value) { return std::abs(value); }
  /// Cuts off what follows the point, for values that a 32-bit integer holds.
  static SEXTANT_HD T whole(const T& value) {
    return static_cast<T>(static_cast<std::int32_t>(value));
  }
  /// a b + c, rounded once; packs do so where the machine has an instruction for it.
  static SEXTANT_HD T multiply_add(const T& a, const T& b, const T& c) { return std::fma(a, b, c); }

  static SEXTANT_HD T square_root(const T& value) { return std::sqrt(value); }
  static SEXTANT_HD T inverse_square_root(const T& value) { return T(1) / std::sqrt(value); }

  static SEXTANT_HD T quick_inverse(const T& value) {
#if defined(__CUDA_ARCH__)
    if constexpr (kSingle) return approx_inverse(value);
#endif
    return T(1) / value;
  }
  static SEXTANT_HD T quick_ratio(const T& a, const T& b) {
#if defined(__CUDA_ARCH__)
    if constexpr (kSingle) return a * approx_inverse(b);
#endif
    return a / b;
  }
  static SEXTANT_HD T quick_square_root(const T& value) {
#if defined(__CUDA_ARCH__)
    if constexpr (kSingle) return approx_root(value);
#endif
    return std::sqrt(value);
  }
  /// 2^exponent for exponents in [-120, 120].
  static SEXTANT_HD T quick_exp2(const T& exponent) {
#if defined(__CUDA_ARCH__)
    if constexpr (kSingle) return approx_exp2(exponent);
#endif
    return std::exp2(exponent);
  }

  static SEXTANT_HD T rough_inverse_square_root(const T& value) {
#if defined(__CUDA_ARCH__)
    if constexpr (kSingle) return approx_inverse_root(value);
#endif
    return inverse_square_root(value);
  }
  /// 2^exponent for exponents of at most 120; those below -126 may count as -126.
  static SEXTANT_HD T rough_exp2(const T& exponent) { return quick_exp2(exponent); }

 private:
  static constexpr bool kSingle = std::is_same_v<T, float>;
};

}  // namespace sextant::detail
