// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/simd/register.h"

#if defined(__x86_64__)
#include <immintrin.h>

// Registers of x86-64: the one place with intrinsics. Each does what PlainRegister does, to the
// last bit. Functions carry the target they need and are inlined once their caller is (see
// run_widest).

namespace sextant::detail {

/// SSE: 16 bytes, of any set.
template <class T, class Set>
struct RegisterOps<T, 16, Set> : PlainRegister<T, 16> {
  using typename PlainRegister<T, 16>::V;
  using typename PlainRegister<T, 16>::Mask;

  static void fill(T value, V& to) {
    if constexpr (std::is_same_v<T, float>) {
      to = _mm_set1_ps(value);
    } else if constexpr (std::is_same_v<T, double>) {
      to = _mm_set1_pd(value);
    } else if constexpr (sizeof(T) == 4) {
      to = reinterpret_cast<V>(_mm_set1_epi32(value));
    } else {
      to = reinterpret_cast<V>(_mm_set1_epi64x(value));
    }
  }
  static std::uint32_t bits(const Mask& mask) {
    if constexpr (sizeof(T) == 4) {
      return static_cast<std::uint32_t>(_mm_movemask_ps(reinterpret_cast<__m128>(mask)));
    } else {
      return static_cast<std::uint32_t>(_mm_movemask_pd(reinterpret_cast<__m128d>(mask)));
    }
  }
  static void smaller(const V& a, const V& b, V& to) {
    if constexpr (std::is_same_v<T, float>) {
      to = _mm_min_ps(b, a);
    } else {
      PlainRegister<T, 16>::smaller(a, b, to);
    }
  }
  static void larger(const V& a, const V& b, V& to) {
    if constexpr (std::is_same_v<T, float>) {
      to = _mm_max_ps(b, a);
    } else {
      PlainRegister<T, 16>::larger(a, b, to);
    }
  }
  static void multiply_add(const V& a, const V& b, const V& c, V& to) {
    if constexpr (Set::kFused) {
      fused(a, b, c, to);
    } else {
      to = a * b + c;
    }
  }

 private:
  SEXTANT_TARGET_AVX2 static void fused(const V& a, const V& b, const V& c, V& to) {
    to = _mm_fmadd_ps(a, b, c);
  }
};

/// Row m holds the places of the bits of m, for compressing eight lanes.
struct CompressTable {
  alignas(8) std::uint8_t place[256][8];
};
constexpr CompressTable make_compress_table() {
  CompressTable table{};
  for (int mask = 0; mask < 256; ++mask) {
    int count = 0;
    for (int lane = 0; lane < 8; ++lane) {
      if (mask >> lane & 1) table.place[mask][count++] = static_cast<std::uint8_t>(lane);
    }
  }
  return table;
}
inline constexpr CompressTable kCompressTable = make_compress_table();

/// AVX2: 32 bytes.
template <class T, class Set>
struct RegisterOps<T, 32, Set> : PlainRegister<T, 32> {
  using typename PlainRegister<T, 32>::V;
  using typename PlainRegister<T, 32>::Mask;

  SEXTANT_TARGET_AVX2 static void fill(T value, V& to) {
    if constexpr (std::is_same_v<T, float>) {
      to = _mm256_set1_ps(value);
    } else if constexpr (std::is_same_v<T, double>) {
      to = _mm256_set1_pd(value);
    } else if constexpr (sizeof(T) == 4) {
      to = reinterpret_cast<V>(_mm256_set1_epi32(value));
    } else {
      to = reinterpret_cast<V>(_mm256_set1_epi64x(value));
    }
  }
  SEXTANT_TARGET_AVX2 static std::uint32_t bits(const Mask& mask) {
    if constexpr (sizeof(T) == 4) {
      return static_cast<std::uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(mask)));
    } else {
      return static_cast<std::uint32_t>(_mm256_movemask_pd(reinterpret_cast<__m256d>(mask)));
    }
  }
  SEXTANT_TARGET_AVX2 static void smaller(const V& a, const V& b, V& to) {
    if constexpr (std::is_same_v<T, float>) {
      to = _mm256_min_ps(b, a);
    } else {
      PlainRegister<T, 32>::smaller(a, b, to);
    }
  }
  SEXTANT_TARGET_AVX2 static void larger(const V& a, const V& b, V& to) {
    if constexpr (std::is_same_v<T, float>) {
      to = _mm256_max_ps(b, a);
    } else {
      PlainRegister<T, 32>::larger(a, b, to);
    }
  }
  SEXTANT_TARGET_AVX2 static void multiply_add(const V& a, const V& b, const V& c, V& to) {
    to = _mm256_fmadd_ps(a, b, c);
  }
  SEXTANT_TARGET_AVX2 static int compress(const Mask& mask, const V& v, T* to) {
    if constexpr (std::is_same_v<T, float>) {
      const std::uint32_t chosen = bits(mask);
      const __m128i places =
          _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kCompressTable.place[chosen]));
      _mm256_storeu_ps(to, _mm256_permutevar8x32_ps(v, _mm256_cvtepu8_epi32(places)));
      return __builtin_popcount(chosen);
    } else {
      return PlainRegister<T, 32>::compress(mask, v, to);
    }
  }
};

/// AVX-512: 64 bytes. Masks have one bit a lane.
template <class T>
struct RegisterOps<T, 64, Avx512> : PlainRegister<T, 64> {
  using typename PlainRegister<T, 64>::V;
  using Mask = std::conditional_t<sizeof(T) == 8, std::uint8_t, std::uint16_t>;
  using PlainRegister<T, 64>::kCount;

  SEXTANT_TARGET_AVX512 static void fill(T value, V& to) {
    if constexpr (std::is_same_v<T, float>) {
      to = _mm512_set1_ps(value);
    } else if constexpr (std::is_same_v<T, double>) {
      to = _mm512_set1_pd(value);
    } else if constexpr (sizeof(T) == 4) {
      to = reinterpret_cast<V>(_mm512_set1_epi32(value));
    } else {
      to = reinterpret_cast<V>(_mm512_set1_epi64(value));
    }
  }
  SEXTANT_TARGET_AVX512 static void less(const V& a, const V& b, Mask& to) {
    compare<_CMP_LT_OQ, _MM_CMPINT_LT>(a, b, to);
  }
  SEXTANT_TARGET_AVX512 static void not_more(const V& a, const V& b, Mask& to) {
    compare<_CMP_LE_OQ, _MM_CMPINT_LE>(a, b, to);
  }
  SEXTANT_TARGET_AVX512 static void equal(const V& a, const V& b, Mask& to) {
    compare<_CMP_EQ_OQ, _MM_CMPINT_EQ>(a, b, to);
  }
  static void both(const Mask& a, const Mask& b, Mask& to) { to = static_cast<Mask>(a & b); }
  static void either(const Mask& a, const Mask& b, Mask& to) { to = static_cast<Mask>(a | b); }
  static std::uint32_t bits(const Mask& mask) { return mask; }

  SEXTANT_TARGET_AVX512 static void select(const Mask& mask, const V& yes, const V& no, V& to) {
    if constexpr (std::is_same_v<T, float>) {
      to = _mm512_mask_blend_ps(mask, no, yes);
    } else if constexpr (std::is_same_v<T, double>) {
      to = _mm512_mask_blend_pd(mask, no, yes);
    } else if constexpr (sizeof(T) == 4) {
      to = reinterpret_cast<V>(_mm512_mask_blend_epi32(mask, ints(no), ints(yes)));
    } else {
      to = reinterpret_cast<V>(_mm512_mask_blend_epi64(mask, ints(no), ints(yes)));
    }
  }
  SEXTANT_TARGET_AVX512 static void count_up(const Mask& mask, V& counts) {
    const __m512i now = ints(counts);
    if constexpr (sizeof(T) == 4) {
      counts = reinterpret_cast<V>(_mm512_mask_add_epi32(now, mask, now, _mm512_set1_epi32(1)));
    } else {
      counts = reinterpret_cast<V>(_mm512_mask_add_epi64(now, mask, now, _mm512_set1_epi64(1)));
    }
  }

  SEXTANT_TARGET_AVX512 static void smaller(const V& a, const V& b, V& to) {
    if constexpr (std::is_same_v<T, float>) {
      to = _mm512_maskz_min_ps(kAll, b, a);
    } else {
      Mask mask;
      less(b, a, mask);
      select(mask, b, a, to);
    }
  }
  SEXTANT_TARGET_AVX512 static void larger(const V& a, const V& b, V& to) {
    if constexpr (std::is_same_v<T, float>) {
      to = _mm512_maskz_max_ps(kAll, b, a);
    } else {
      Mask mask;
      less(a, b, mask);
      select(mask, b, a, to);
    }
  }
  SEXTANT_TARGET_AVX512 static void multiply_add(const V& a, const V& b, const V& c, V& to) {
    to = _mm512_fmadd_ps(a, b, c);
  }

  /// Compresses in a register first, because compressing stores are slow on some processors.
  SEXTANT_TARGET_AVX512 static int compress(const Mask& mask, const V& v, T* to) {
    if constexpr (std::is_same_v<T, float>) {
      _mm512_storeu_ps(to, _mm512_maskz_compress_ps(mask, v));
    } else if constexpr (sizeof(T) == 4) {
      _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(mask, ints(v)));
    } else {
      _mm512_storeu_si512(to, _mm512_maskz_compress_epi64(mask, ints(v)));
    }
    return __builtin_popcount(mask);
  }

  SEXTANT_TARGET_AVX512 static void split(const V& x, V& rest, V& whole) {
    whole = _mm512_maskz_roundscale_ps(kAll, x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    rest = x - whole;
  }
  SEXTANT_TARGET_AVX512 static void times_power_of_two(const V& p, const V& whole, V& to) {
    to = _mm512_maskz_scalef_ps(kAll, p, whole);
  }

 private:
  /// GCC 12 warns of an uninitialised register in the intrinsics without a mask.
  static constexpr Mask kAll = static_cast<Mask>(~0u);

  SEXTANT_TARGET_AVX512 static __m512i ints(const V& v) { return reinterpret_cast<__m512i>(v); }

  template <int kFloatOrder, int kIntOrder>
  SEXTANT_TARGET_AVX512 static void compare(const V& a, const V& b, Mask& to) {
    if constexpr (std::is_same_v<T, float>) {
      to = _mm512_cmp_ps_mask(a, b, kFloatOrder);
    } else if constexpr (std::is_same_v<T, double>) {
      to = _mm512_cmp_pd_mask(a, b, kFloatOrder);
    } else if constexpr (sizeof(T) == 4) {
      to = _mm512_cmp_epi32_mask(ints(a), ints(b), kIntOrder);
    } else {
      to = _mm512_cmp_epi64_mask(ints(a), ints(b), kIntOrder);
    }
  }
};

// Without an instruction for bytes, those with even and with odd number become 16-bit numbers whose
// products are added in pairs. (The instruction that multiplies bytes right away saturates.)

inline std::int32_t even_factors(const std::int8_t (&factors)[4]) {
  return static_cast<std::int32_t>(static_cast<std::uint16_t>(std::int16_t{factors[0]}) |
                                   static_cast<std::uint32_t>(std::int16_t{factors[2]}) << 16);
}
inline std::int32_t odd_factors(const std::int8_t (&factors)[4]) {
  return static_cast<std::int32_t>(static_cast<std::uint16_t>(std::int16_t{factors[1]}) |
                                   static_cast<std::uint32_t>(std::int16_t{factors[3]}) << 16);
}

template <>
struct ByteDot<Portable> {
  using V = Vector<std::int32_t, 16>;
  struct Factor {
    __m128i even, odd;
  };
  static void prepare(const std::int8_t (&factors)[4], Factor& to) {
    to.even = _mm_set1_epi32(even_factors(factors));
    to.odd = _mm_set1_epi32(odd_factors(factors));
  }
  static void add(const V& bytes, const Factor& factor, V& sum) {
    const __m128i all = reinterpret_cast<__m128i>(bytes);
    const __m128i even = _mm_and_si128(all, _mm_set1_epi16(0xff));
    sum += reinterpret_cast<V>(_mm_madd_epi16(even, factor.even));
    sum += reinterpret_cast<V>(_mm_madd_epi16(_mm_srli_epi16(all, 8), factor.odd));
  }
};

template <>
struct ByteDot<Avx2> {
  using V = Vector<std::int32_t, 32>;
  struct Factor {
    __m256i even, odd;
  };
  SEXTANT_TARGET_AVX2 static void prepare(const std::int8_t (&factors)[4], Factor& to) {
    to.even = _mm256_set1_epi32(even_factors(factors));
    to.odd = _mm256_set1_epi32(odd_factors(factors));
  }
  SEXTANT_TARGET_AVX2 static void add(const V& bytes, const Factor& factor, V& sum) {
    const __m256i all = reinterpret_cast<__m256i>(bytes);
    const __m256i even = _mm256_and_si256(all, _mm256_set1_epi16(0xff));
    sum += reinterpret_cast<V>(_mm256_madd_epi16(even, factor.even));
    sum += reinterpret_cast<V>(_mm256_madd_epi16(_mm256_srli_epi16(all, 8), factor.odd));
  }
};

template <>
struct ByteDot<Avx512> {
  using V = Vector<std::int32_t, 64>;
  struct Factor {
    __m512i even, odd;
  };
  SEXTANT_TARGET_AVX512 static void prepare(const std::int8_t (&factors)[4], Factor& to) {
    to.even = _mm512_set1_epi32(even_factors(factors));
    to.odd = _mm512_set1_epi32(odd_factors(factors));
  }
  SEXTANT_TARGET_AVX512 static void add(const V& bytes, const Factor& factor, V& sum) {
    const __m512i all = reinterpret_cast<__m512i>(bytes);
    const __m512i even = _mm512_and_si512(all, _mm512_set1_epi16(0xff));
    sum += reinterpret_cast<V>(_mm512_madd_epi16(even, factor.even));
    sum += reinterpret_cast<V>(_mm512_madd_epi16(_mm512_srli_epi16(all, 8), factor.odd));
  }
};

template <>
struct ByteDot<Avx512Vnni> {
  using V = Vector<std::int32_t, 64>;
  struct Factor {
    __m512i all;
  };
  SEXTANT_TARGET_AVX512_VNNI static void prepare(const std::int8_t (&factors)[4], Factor& to) {
    std::int32_t word;
    __builtin_memcpy(&word, factors, sizeof(word));
    to.all = _mm512_set1_epi32(word);
  }
  SEXTANT_TARGET_AVX512_VNNI static void add(const V& bytes, const Factor& factor, V& sum) {
    sum = reinterpret_cast<V>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sum),
                                                  reinterpret_cast<__m512i>(bytes), factor.all));
  }
};

}  // namespace sextant::detail

#endif
