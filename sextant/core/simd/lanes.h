// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "sextant/core/host_device.h"
#include "sextant/core/simd/register_x86.h"

// Packs of numbers that are treated alike, for host code that run_widest compiles. Every
// instruction set and every width does the same operations in the same order on each lane, so all
// give the same bits; only multiply_add may differ, where it says so.

namespace sextant::detail {

/// How N lanes of T lie in registers of a set: in one, or in as many as they fill.
template <class T, int N, class Set>
struct LaneLayout {
  static constexpr int kAllBytes = N * static_cast<int>(sizeof(T));
  static constexpr int kBytes = kAllBytes < Set::kBytes ? kAllBytes : Set::kBytes;
  static constexpr int kParts = kAllBytes / kBytes;
  static constexpr int kPartLanes = N / kParts;
  using Ops = RegisterOps<T, kBytes, Set>;
  static_assert(kParts * kBytes == kAllBytes, "not a whole number of registers");
};

/// Where a comparison of packs holds, for lanes of as many bytes; NaN compares false.
template <int kLaneBytes, int N, class Set>
struct LaneMask {
  using Layout = LaneLayout<Signed<kLaneBytes>, N, Set>;
  using Ops = typename Layout::Ops;
  typename Ops::Mask part[Layout::kParts];

  LaneMask() {}
  LaneMask(const LaneMask& other) { *this = other; }
  LaneMask& operator=(const LaneMask& other) {
    SEXTANT_UNROLL
    for (int p = 0; p < Layout::kParts; ++p) part[p] = other.part[p];
    return *this;
  }

  friend LaneMask operator&(const LaneMask& a, const LaneMask& b) {
    LaneMask result;
    SEXTANT_UNROLL
    for (int p = 0; p < Layout::kParts; ++p) Ops::both(a.part[p], b.part[p], result.part[p]);
    return result;
  }
  friend LaneMask operator|(const LaneMask& a, const LaneMask& b) {
    LaneMask result;
    SEXTANT_UNROLL
    for (int p = 0; p < Layout::kParts; ++p) Ops::either(a.part[p], b.part[p], result.part[p]);
    return result;
  }

  /// Bit i says whether the mask holds in lane i.
  std::uint32_t bits() const {
    std::uint32_t all = 0;
    SEXTANT_UNROLL
    for (int p = 0; p < Layout::kParts; ++p) all |= Ops::bits(part[p]) << p * Layout::kPartLanes;
    return all;
  }
  bool any() const { return bits() != 0; }
};

/// N numbers: float, double, std::int32_t or std::int64_t. The copy constructor is not the
/// compiler's own, so that packs are passed in memory and their calling convention does not depend
/// on the instruction set.
template <class T, int N, class Set>
struct Lanes {
  using Layout = LaneLayout<T, N, Set>;
  using Ops = typename Layout::Ops;
  using Part = typename Ops::V;
  using Mask = LaneMask<sizeof(T), N, Set>;
  static constexpr int kCount = N;
  static constexpr int kParts = Layout::kParts;

  Part part[kParts];

  Lanes() {
    SEXTANT_UNROLL
    for (Part& p : part) p = Part{};
  }
  Lanes(T value) {
    SEXTANT_UNROLL
    for (Part& p : part) Ops::fill(value, p);
  }
  Lanes(const Lanes& other) { *this = other; }
  Lanes& operator=(const Lanes& other) {
    SEXTANT_UNROLL
    for (int p = 0; p < kParts; ++p) part[p] = other.part[p];
    return *this;
  }

  static Lanes load(const T* from) { return load_bits(from); }
  void store(T* to) const { store_bits(to); }
  /// Takes whatever lies there as if it were N numbers.
  static Lanes load_bits(const void* from) {
    Lanes lanes;
    SEXTANT_UNROLL
    for (int p = 0; p < kParts; ++p) {
      Ops::load(static_cast<const T*>(from) + p * Layout::kPartLanes, lanes.part[p]);
    }
    return lanes;
  }
  void store_bits(void* to) const {
    SEXTANT_UNROLL
    for (int p = 0; p < kParts; ++p) {
      Ops::store(part[p], static_cast<T*>(to) + p * Layout::kPartLanes);
    }
  }
  T lane(int i) const { return part[i / Layout::kPartLanes][i % Layout::kPartLanes]; }

  Lanes& operator+=(const Lanes& b) {
    SEXTANT_UNROLL
    for (int p = 0; p < kParts; ++p) part[p] += b.part[p];
    return *this;
  }
  Lanes& operator-=(const Lanes& b) {
    SEXTANT_UNROLL
    for (int p = 0; p < kParts; ++p) part[p] -= b.part[p];
    return *this;
  }
  Lanes& operator*=(const Lanes& b) {
    SEXTANT_UNROLL
    for (int p = 0; p < kParts; ++p) part[p] *= b.part[p];
    return *this;
  }
  Lanes& operator/=(const Lanes& b) {
    SEXTANT_UNROLL
    for (int p = 0; p < kParts; ++p) part[p] /= b.part[p];
    return *this;
  }
  friend Lanes operator+(Lanes a, const Lanes& b) { return a += b; }
  friend Lanes operator-(Lanes a, const Lanes& b) { return a -= b; }
  friend Lanes operator*(Lanes a, const Lanes& b) { return a *= b; }
  friend Lanes operator/(Lanes a, const Lanes& b) { return a /= b; }
  Lanes operator-() const {
    Lanes result;
    SEXTANT_UNROLL
    for (int p = 0; p < kParts; ++p) result.part[p] = -part[p];
    return result;
  }

  friend Mask operator<(const Lanes& a, const Lanes& b) {
    Mask mask;
    SEXTANT_UNROLL
    for (int p = 0; p < kParts; ++p) Ops::less(a.part[p], b.part[p], mask.part[p]);
    return mask;
  }
  friend Mask operator<=(const Lanes& a, const Lanes& b) {
    Mask mask;
    SEXTANT_UNROLL
    for (int p = 0; p < kParts; ++p) Ops::not_more(a.part[p], b.part[p], mask.part[p]);
    return mask;
  }
  friend Mask operator==(const Lanes& a, const Lanes& b) {
    Mask mask;
    SEXTANT_UNROLL
    for (int p = 0; p < kParts; ++p) Ops::equal(a.part[p], b.part[p], mask.part[p]);
    return mask;
  }
  friend Mask operator>(const Lanes& a, const Lanes& b) { return b < a; }
  friend Mask operator>=(const Lanes& a, const Lanes& b) { return b <= a; }

  /// Adds 1 where the mask holds; for integers.
  void count_up(const Mask& mask) {
    SEXTANT_UNROLL
    for (int p = 0; p < kParts; ++p) Ops::count_up(mask.part[p], part[p]);
  }

  /// Sums up all lanes: the upper half is added to the lower one until one is left.
  T sum() const {
    Lanes rest = *this;
    SEXTANT_UNROLL
    for (int half = kParts / 2; half > 0; half /= 2) {
      SEXTANT_UNROLL
      for (int p = 0; p < half; ++p) rest.part[p] += rest.part[p + half];
    }
    return sum_of(rest.part[0]);
  }

  /// Writes the lanes of the mask, one behind the other, and returns how many there are. What lies
  /// behind them, up to N numbers in all, may be overwritten.
  int compress(const Mask& mask, T* to) const {
    int count = 0;
    SEXTANT_UNROLL
    for (int p = 0; p < kParts; ++p) count += Ops::compress(mask.part[p], part[p], to + count);
    return count;
  }

 private:
  template <class Whole>
  static T sum_of(const Whole& v) {
    constexpr int kHalf = sizeof(Whole) / sizeof(T) / 2;
    if constexpr (kHalf == 1) {
      return v[0] + v[1];
    } else {
      return sum_of_halves(v, std::make_integer_sequence<int, kHalf>());
    }
  }
  template <class Whole, int... i>
  static T sum_of_halves(const Whole& v, std::integer_sequence<int, i...>) {
    constexpr int kHalf = sizeof...(i);
    return sum_of(__builtin_shufflevector(v, v, i...) +
                  __builtin_shufflevector(v, v, (i + kHalf)...));
  }
};

template <int N, class Set>
using FloatLanes = Lanes<float, N, Set>;
template <int N, class Set>
using DoubleLanes = Lanes<double, N, Set>;
template <int N, class Set>
using IntLanes = Lanes<std::int32_t, N, Set>;

/// Converts to another type; floating-point numbers are cut to whole ones. It takes four at a time
/// where the size changes: GCC 12 makes one instruction of that, but not of eight.
template <class To, class From, int N, class Set>
Lanes<To, N, Set> convert(const Lanes<From, N, Set>& from) {
  using Result = Lanes<To, N, Set>;
  constexpr int kFromParts = Lanes<From, N, Set>::kParts;
  Result to;
  if constexpr (Result::kParts == kFromParts) {
    static_assert(sizeof(To) == sizeof(From) || N == 4);
    SEXTANT_UNROLL
    for (int p = 0; p < kFromParts; ++p) {
      to.part[p] = __builtin_convertvector(from.part[p], typename Result::Part);
    }
  } else {
    static_assert(N == 4 && Result::kParts == 2 && kFromParts == 1);
    const auto all = __builtin_convertvector(from.part[0], Vector<To, 4 * sizeof(To)>);
    to.part[0] = __builtin_shufflevector(all, all, 0, 1);
    to.part[1] = __builtin_shufflevector(all, all, 2, 3);
  }
  return to;
}

}  // namespace sextant::detail
