// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/simd/lane_math.h"
#include "sextant/core/simd/lanes.h"

// LaneMath of packs, for the host only.

namespace sextant::detail {

template <class T, int N, class Set>
struct LaneMath<Lanes<T, N, Set>> {
  using Pack = Lanes<T, N, Set>;
  using Ops = typename Pack::Ops;

  static Pack select(const typename Pack::Mask& condition, const Pack& yes, const Pack& no) {
    Pack result;
    SEXTANT_UNROLL
    for (int p = 0; p < Pack::kParts; ++p) {
      Ops::select(condition.part[p], yes.part[p], no.part[p], result.part[p]);
    }
    return result;
  }
  static Pack smaller(const Pack& a, const Pack& b) {
    Pack result;
    SEXTANT_UNROLL
    for (int p = 0; p < Pack::kParts; ++p) Ops::smaller(a.part[p], b.part[p], result.part[p]);
    return result;
  }
  static Pack larger(const Pack& a, const Pack& b) {
    Pack result;
    SEXTANT_UNROLL
    for (int p = 0; p < Pack::kParts; ++p) Ops::larger(a.part[p], b.part[p], result.part[p]);
    return result;
  }
  static Pack magnitude(const Pack& value) {
    constexpr Word kAllButSign = ~Word{0} >> 1;
    Pack result;
    SEXTANT_UNROLL
    for (int p = 0; p < Pack::kParts; ++p) {
      result.part[p] = reinterpret_cast<Part>(reinterpret_cast<Words>(value.part[p]) & kAllButSign);
    }
    return result;
  }
  static Pack whole(const Pack& value) { return convert<T>(convert<std::int32_t>(value)); }

  /// Rounds once when Set::kFused, else twice: the only operation whose bits depend on the set.
  static Pack multiply_add(const Pack& a, const Pack& b, const Pack& c) {
    Pack result;
    SEXTANT_UNROLL
    for (int p = 0; p < Pack::kParts; ++p) {
      Ops::multiply_add(a.part[p], b.part[p], c.part[p], result.part[p]);
    }
    return result;
  }

  static Pack inverse_square_root(const Pack& value) {
    return newton_inverse_square_root<3>(value);
  }
  /// Takes finite values; infinity gives minus infinity.
  static Pack square_root(const Pack& value) { return value * inverse_square_root(value); }
  static Pack quick_inverse(const Pack& value) { return Pack(1) / value; }
  static Pack quick_ratio(const Pack& a, const Pack& b) { return a / b; }
  static Pack quick_square_root(const Pack& value) { return square_root(value); }
  static Pack rough_inverse_square_root(const Pack& value) {
    return newton_inverse_square_root<2>(value);
  }

  /// Takes a polynomial (interpolated at Chebyshev's nodes) that is wrong by 1.6e-7.
  static Pack quick_exp2(const Pack& exponent) {
    constexpr float kTerms[] = {1.00000012f,   0.693147182f,   0.240221068f,
                                0.0555035695f, 0.00967603177f, 0.00133908633f};
    return exp2_by(kTerms, exponent,
                   [](const Pack& a, const Pack& b, const Pack& c) { return a * b + c; });
  }
  /// Takes the minimax polynomial of the fourth degree, which is wrong by 3e-6, with multiply_add.
  static Pack rough_exp2(const Pack& exponent) {
    constexpr float kTerms[] = {0.999999285f, 0.693121791f, 0.240247443f, 0.0559178591f,
                                0.00957010221f};
    return exp2_by(
        kTerms, larger(Pack(-125.0f), exponent),
        [](const Pack& a, const Pack& b, const Pack& c) { return multiply_add(a, b, c); });
  }

 private:
  using Word = Unsigned<sizeof(T)>;
  using Words = Vector<Word, Pack::Layout::kBytes>;
  using Part = typename Pack::Part;

  /// Makes Newton steps from an estimate that halves the exponent: far cheaper than a root and a
  /// division. Two are wrong by 5e-6 at most, three by 2 units in the last place.
  template <int kSteps>
  static Pack newton_inverse_square_root(const Pack& value) {
    static_assert(std::is_same_v<T, float>);
    Pack result;
    SEXTANT_UNROLL
    for (int p = 0; p < Pack::kParts; ++p) {
      const Words bits = reinterpret_cast<Words>(value.part[p]);
      Part y = reinterpret_cast<Part>(0x5f375a86u - (bits >> 1));
      const Part half = value.part[p] * 0.5f;
      SEXTANT_UNROLL
      for (int step = 0; step < kSteps; ++step) y = y * (1.5f - half * y * y);
      result.part[p] = y;
    }
    return result;
  }

  /// The nearest whole number becomes the exponent of the result, a polynomial takes the rest.
  template <int kCount, class MultiplyAdd>
  static Pack exp2_by(const float (&terms)[kCount], const Pack& exponent,
                      const MultiplyAdd& multiply_and_add) {
    static_assert(std::is_same_v<T, float>);
    Pack rest, whole;
    SEXTANT_UNROLL
    for (int p = 0; p < Pack::kParts; ++p) {
      Ops::split(exponent.part[p], rest.part[p], whole.part[p]);
    }
    Pack power(terms[kCount - 1]);
    SEXTANT_UNROLL
    for (int i = kCount - 2; i >= 0; --i) power = multiply_and_add(power, rest, Pack(terms[i]));
    Pack result;
    SEXTANT_UNROLL
    for (int p = 0; p < Pack::kParts; ++p) {
      Ops::times_power_of_two(power.part[p], whole.part[p], result.part[p]);
    }
    return result;
  }
};

}  // namespace sextant::detail
