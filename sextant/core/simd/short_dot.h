// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/simd/lanes.h"

namespace sextant::detail {

/// Products of small bytes: adds to each 32-bit lane of a sum the four products of its bytes with
/// four factors, which are the same for all lanes. Bytes and factors are from 0 to 127, and sums
/// stay below 2¹⁵: that takes half the instructions of ByteDot. A sum begins with zeros; `finish`
/// makes 32-bit lanes of it. Exact.
template <class Set>
struct ShortDot {
  using V = Vector<std::int32_t, Set::kBytes>;
  using Sum = V;
  static void add(const V& bytes, std::int32_t factors, Sum& sum) {
    for (int b = 0; b < 4; ++b) sum += ((bytes >> (8 * b)) & 0xff) * ((factors >> (8 * b)) & 0xff);
  }
  static void finish(const Sum& sum, V& to) { to = sum; }
};

#if defined(__x86_64__)

// Pairs of products of bytes below 128 fit 16 bits, and so do their sums as long as the whole does.

template <>
struct ShortDot<Portable> {
  using V = Vector<std::int32_t, 16>;
  using Sum = Vector<std::int16_t, 16>;
  static void add(const V& bytes, std::int32_t factors, Sum& sum) {
    sum += reinterpret_cast<Sum>(
        _mm_maddubs_epi16(reinterpret_cast<__m128i>(bytes), _mm_set1_epi32(factors)));
  }
  static void finish(const Sum& sum, V& to) {
    to = reinterpret_cast<V>(_mm_madd_epi16(reinterpret_cast<__m128i>(sum), _mm_set1_epi16(1)));
  }
};

template <>
struct ShortDot<Avx2> {
  using V = Vector<std::int32_t, 32>;
  using Sum = Vector<std::int16_t, 32>;
  SEXTANT_TARGET_AVX2 static void add(const V& bytes, std::int32_t factors, Sum& sum) {
    sum += reinterpret_cast<Sum>(
        _mm256_maddubs_epi16(reinterpret_cast<__m256i>(bytes), _mm256_set1_epi32(factors)));
  }
  SEXTANT_TARGET_AVX2 static void finish(const Sum& sum, V& to) {
    to = reinterpret_cast<V>(
        _mm256_madd_epi16(reinterpret_cast<__m256i>(sum), _mm256_set1_epi16(1)));
  }
};

template <>
struct ShortDot<Avx512> {
  using V = Vector<std::int32_t, 64>;
  using Sum = Vector<std::int16_t, 64>;
  SEXTANT_TARGET_AVX512 static void add(const V& bytes, std::int32_t factors, Sum& sum) {
    sum += reinterpret_cast<Sum>(
        _mm512_maddubs_epi16(reinterpret_cast<__m512i>(bytes), _mm512_set1_epi32(factors)));
  }
  SEXTANT_TARGET_AVX512 static void finish(const Sum& sum, V& to) {
    to = reinterpret_cast<V>(
        _mm512_madd_epi16(reinterpret_cast<__m512i>(sum), _mm512_set1_epi16(1)));
  }
};

#endif

}  // namespace sextant::detail
