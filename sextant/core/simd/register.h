// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "sextant/core/simd/instruction_set.h"

// This is what a pack of lanes (lanes.h) does with one register beyond + - × ÷, in the compiler's
// own vectors, on any machine. register_x86.h replaces some of it by intrinsics. Vectors go by
// reference, because by value their calling convention would depend on the instruction set.

namespace sextant::detail {

template <class T, int kBytes>
struct VectorOf {
  typedef T Type __attribute__((vector_size(kBytes)));
};
template <class T, int kBytes>
using Vector = typename VectorOf<T, kBytes>::Type;

/// The same at any address of a T. Copies by memcpy are taken apart by GCC 12 now and then.
template <class T, int kBytes>
struct UnalignedVectorOf {
  typedef T Type __attribute__((vector_size(kBytes), aligned(alignof(T)), may_alias));
};

/// Integers of as many bytes.
template <int kBytes>
using Signed = std::conditional_t<kBytes == 8, std::int64_t, std::int32_t>;
template <int kBytes>
using Unsigned = std::conditional_t<kBytes == 8, std::uint64_t, std::uint32_t>;

/// Masks are vectors, with all bits of a lane set where a comparison holds.
template <class T, int kBytes>
struct PlainRegister {
  using V = Vector<T, kBytes>;
  using Mask = Vector<Signed<sizeof(T)>, kBytes>;
  static constexpr int kCount = kBytes / sizeof(T);

  static void load(const void* from, V& to) {
    to = *static_cast<const typename UnalignedVectorOf<T, kBytes>::Type*>(from);
  }
  static void store(const V& from, void* to) {
    *static_cast<typename UnalignedVectorOf<T, kBytes>::Type*>(to) = from;
  }
  static void fill(T value, V& to) {
    for (int i = 0; i < kCount; ++i) to[i] = value;
  }
  static void less(const V& a, const V& b, Mask& to) { to = a < b; }
  static void not_more(const V& a, const V& b, Mask& to) { to = a <= b; }
  static void equal(const V& a, const V& b, Mask& to) { to = a == b; }
  static void both(const Mask& a, const Mask& b, Mask& to) { to = a & b; }
  static void either(const Mask& a, const Mask& b, Mask& to) { to = a | b; }
  static void select(const Mask& mask, const V& yes, const V& no, V& to) { to = mask ? yes : no; }
  /// Adds 1 where the mask holds; T is an integer.
  static void count_up(const Mask& mask, V& counts) { counts -= mask; }
  /// Bit i says whether the mask holds in lane i.
  static std::uint32_t bits(const Mask& mask) {
    std::uint32_t all = 0;
    for (int i = 0; i < kCount; ++i) all |= (mask[i] ? 1u : 0u) << i;
    return all;
  }

  /// b < a ? b : a, and a < b ? b : a.
  static void smaller(const V& a, const V& b, V& to) { to = b < a ? b : a; }
  static void larger(const V& a, const V& b, V& to) { to = a < b ? b : a; }
  /// a b + c, rounded once when the instruction set is one with kFused.
  static void multiply_add(const V& a, const V& b, const V& c, V& to) {
#if defined(__aarch64__)
    for (int i = 0; i < kCount; ++i) to[i] = __builtin_fma(a[i], b[i], c[i]);
#else
    to = a * b + c;
#endif
  }

  /// Writes the lanes of the mask, one behind the other, and returns how many there are; what lies
  /// behind them, up to `kCount` numbers in all, may be overwritten.
  static int compress(const Mask& mask, const V& v, T* to) {
    int count = 0;
    for (int i = 0; i < kCount; ++i) {
      to[count] = v[i];
      count -= static_cast<int>(mask[i]);
    }
    return count;
  }

  /// Takes x of single precision with |x| <= 2²², and gives its difference from the nearest whole
  /// number and something that stands for this number in times_power_of_two.
  static void split(const V& x, V& rest, V& whole) {
    constexpr float kRounder = 12582912.0f;  // 1.5 · 2²³: sums with it are whole
    whole = x + kRounder;
    rest = x - (whole - kRounder);
  }
  /// Returns p 2^whole, where both p and the result are normal numbers.
  static void times_power_of_two(const V& p, const V& whole, V& to) {
    using Words = Vector<std::uint32_t, kBytes>;
    // The low bits of kRounder are 0, so that shifting leaves the whole number alone.
    to = reinterpret_cast<V>(reinterpret_cast<Words>(p) + (reinterpret_cast<Words>(whole) << 23));
  }
};

/// Products of bytes: adds to each 32-bit lane of a sum the four products of its unsigned bytes
/// with four signed factors, which are the same for all lanes. Exact.
template <class Set>
struct ByteDot {
  using V = Vector<std::int32_t, Set::kBytes>;
  struct Factor {
    std::int8_t byte[4];
  };
  static void prepare(const std::int8_t (&factors)[4], Factor& to) {
    for (int b = 0; b < 4; ++b) to.byte[b] = factors[b];
  }
  static void add(const V& bytes, const Factor& factor, V& sum) {
    for (int b = 0; b < 4; ++b) sum += ((bytes >> (8 * b)) & 0xff) * factor.byte[b];
  }
};

/// A register of an instruction set.
template <class T, int kBytes, class Set>
struct RegisterOps : PlainRegister<T, kBytes> {};

}  // namespace sextant::detail
