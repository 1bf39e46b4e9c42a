// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <utility>

#include "sextant/core/simd/lane_math.h"
#include "sextant/core/vec.h"

// Host code that treats N pixels at once. The same source is compiled for several instruction sets:
// a function with a target attribute and `flatten` instantiates it, and the width that fits. Every
// width does the same operations in the same order on each lane, so all give the same bits.

namespace sextant::detail {

template <int N>
struct LaneMask;

/// N floats. The copy constructor is not the compiler's own, so that packs are passed in memory and
/// their calling convention does not depend on the instruction set.
template <int N>
struct Lanes {
  typedef float Floats __attribute__((vector_size(N * sizeof(float))));
  typedef std::int32_t Ints __attribute__((vector_size(N * sizeof(float))));
  typedef std::uint32_t Words __attribute__((vector_size(N * sizeof(float))));  // may wrap
  static constexpr int kCount = N;

  Floats v;

  Lanes() : v{} {}
  Lanes(float value) : v(Floats{} + value) {}
  Lanes(const Lanes& other) : v(other.v) {}
  Lanes& operator=(const Lanes& other) {
    v = other.v;
    return *this;
  }

  static Lanes load(const float* from) {
    Lanes lanes;
    std::memcpy(&lanes.v, from, sizeof(Floats));
    return lanes;
  }
  void store(float* to) const { std::memcpy(to, &v, sizeof(Floats)); }

  friend Lanes operator+(Lanes a, const Lanes& b) {
    a.v += b.v;
    return a;
  }
  friend Lanes operator-(Lanes a, const Lanes& b) {
    a.v -= b.v;
    return a;
  }
  friend Lanes operator*(Lanes a, const Lanes& b) {
    a.v *= b.v;
    return a;
  }
  friend Lanes operator/(Lanes a, const Lanes& b) {
    a.v /= b.v;
    return a;
  }
  Lanes operator-() const {
    Lanes result;
    result.v = -v;
    return result;
  }
  friend LaneMask<N> operator<(const Lanes& a, const Lanes& b) { return LaneMask<N>::less(a, b); }
  friend LaneMask<N> operator>(const Lanes& a, const Lanes& b) { return LaneMask<N>::less(b, a); }
  friend LaneMask<N> operator<=(const Lanes& a, const Lanes& b) {
    return LaneMask<N>::not_more(a, b);
  }
  friend LaneMask<N> operator>=(const Lanes& a, const Lanes& b) {
    return LaneMask<N>::not_more(b, a);
  }
};

/// All bits of a lane are set where a comparison holds; NaN compares false.
///
/// GCC 12 makes good code of comparisons of 4 and 8 lanes, but takes joined comparisons of 16 one
/// lane after the other. There the mask comes from the bits of the difference: it is negative and
/// no NaN, or not negative and no NaN. (Infinity is then not equal to itself,
/// and -0 is less than +0.)
template <int N>
struct LaneMask {
  using Ints = typename Lanes<N>::Ints;
  using Words = typename Lanes<N>::Words;
  static constexpr bool kFromBits = N == 16;
  Ints bits;

  static LaneMask less(const Lanes<N>& a, const Lanes<N>& b) {
    if constexpr (kFromBits) {
      const Words difference = reinterpret_cast<Words>(bits_of(a - b).bits);
      // Up to the bits of minus infinity, beyond which come the negative NaN.
      return {reinterpret_cast<Ints>(difference & (difference + 0x007fffffu)) >> 31};
    } else {
      return {a.v < b.v};
    }
  }
  static LaneMask not_more(const Lanes<N>& a, const Lanes<N>& b) {
    if constexpr (kFromBits) {
      const Words difference = reinterpret_cast<Words>(bits_of(b - a).bits);
      return {~(reinterpret_cast<Ints>(difference | (0x7f800000u - difference)) >> 31)};
    } else {
      return {a.v <= b.v};
    }
  }

  LaneMask(const Ints& set) : bits(set) {}
  LaneMask(const LaneMask& other) : bits(other.bits) {}
  LaneMask& operator=(const LaneMask& other) {
    bits = other.bits;
    return *this;
  }

  friend LaneMask operator&(const LaneMask& a, const LaneMask& b) { return {a.bits & b.bits}; }

  void choose(const Lanes<N>& yes, const Lanes<N>& no, Lanes<N>& to) const {
    if constexpr (kFromBits) {
      const Ints chosen = (bits_of(yes).bits & bits) | (bits_of(no).bits & ~bits);
      std::memcpy(&to.v, &chosen, sizeof chosen);
    } else {
      to.v = bits ? yes.v : no.v;
    }
  }
  bool any() const {
    std::int64_t words[sizeof(Ints) / sizeof(std::int64_t)];
    std::memcpy(words, &bits, sizeof(Ints));
    std::int64_t all = 0;
    for (const std::int64_t word : words) all |= word;
    return all != 0;
  }

 private:
  static LaneMask bits_of(const Lanes<N>& lanes) {
    LaneMask mask{Ints{}};
    std::memcpy(&mask.bits, &lanes.v, sizeof mask.bits);
    return mask;
  }
};

template <int N>
struct LaneMath<Lanes<N>> {
  using Floats = typename Lanes<N>::Floats;

  static Lanes<N> select(const LaneMask<N>& condition, const Lanes<N>& yes, const Lanes<N>& no) {
    Lanes<N> result;
    condition.choose(yes, no, result);
    return result;
  }

  /// Newton steps from an estimate that halves the exponent: far cheaper than a root and a
  /// division. Two are wrong by 5e-6 at most, three by 2 units in the last place.
  template <int kSteps>
  static Lanes<N> newton_inverse_square_root(const Lanes<N>& value) {
    typename Lanes<N>::Words bits;
    std::memcpy(&bits, &value.v, sizeof bits);
    bits = 0x5f375a86u - (bits >> 1);
    Floats y;
    std::memcpy(&y, &bits, sizeof y);
    const Floats half = value.v * 0.5f;
    for (int step = 0; step < kSteps; ++step) y = y * (1.5f - half * y * y);
    Lanes<N> result;
    result.v = y;
    return result;
  }
  static Lanes<N> inverse_square_root(const Lanes<N>& value) {
    return newton_inverse_square_root<3>(value);
  }
  /// For finite values; infinity gives minus infinity.
  static Lanes<N> square_root(const Lanes<N>& value) { return value * inverse_square_root(value); }
};

namespace lanes {

/// Lane i of the result is element 3 i + kComponent of the 3 N floats in a, b, c.
template <int N, int kComponent, int... i>
void take_third(const Lanes<N>& a, const Lanes<N>& b, const Lanes<N>& c, Lanes<N>& to,
                std::integer_sequence<int, i...>) {
  const typename Lanes<N>::Floats ab =
      __builtin_shufflevector(a.v, b.v, (3 * i + kComponent < 2 * N ? 3 * i + kComponent : 0)...);
  to.v = __builtin_shufflevector(ab, c.v,
                                 (3 * i + kComponent < 2 * N ? i : 3 * i + kComponent - N)...);
}

/// Floats kPart N … of the sequence x0 y0 z0 x1 y1 z1 …
template <int N, int kPart, int... i>
void weave(const Vec3<Lanes<N>>& from, Lanes<N>& to, std::integer_sequence<int, i...>) {
  const typename Lanes<N>::Floats xy = __builtin_shufflevector(
      from.x.v, from.y.v,
      ((kPart * N + i) % 3 == 2 ? 0 : (kPart * N + i) / 3 + N * ((kPart * N + i) % 3))...);
  to.v = __builtin_shufflevector(xy, from.z.v,
                                 ((kPart * N + i) % 3 == 2 ? N + (kPart * N + i) / 3 : i)...);
}

template <int kShift, int N, int... i>
void shift(const Lanes<N>& a, const Lanes<N>& next, Lanes<N>& to,
           std::integer_sequence<int, i...>) {
  to.v = __builtin_shufflevector(a.v, next.v, (i + kShift)...);
}

}  // namespace lanes

/// Lanes kShift, kShift + 1, … of a, continued by those of next.
template <int kShift, int N>
Lanes<N> shifted(const Lanes<N>& a, const Lanes<N>& next) {
  Lanes<N> result;
  lanes::shift<kShift>(a, next, result, std::make_integer_sequence<int, N>());
  return result;
}

/// N points from memory, one coordinate each in a pack.
template <int N>
Vec3<Lanes<N>> load_points(const Vec3f* from) {
  const float* floats = &from->x;
  const Lanes<N> a = Lanes<N>::load(floats);
  const Lanes<N> b = Lanes<N>::load(floats + N);
  const Lanes<N> c = Lanes<N>::load(floats + 2 * N);
  constexpr auto kAll = std::make_integer_sequence<int, N>();
  Vec3<Lanes<N>> points;
  lanes::take_third<N, 0>(a, b, c, points.x, kAll);
  lanes::take_third<N, 1>(a, b, c, points.y, kAll);
  lanes::take_third<N, 2>(a, b, c, points.z, kAll);
  return points;
}

template <int N>
void store_points(const Vec3<Lanes<N>>& points, Vec3f* to) {
  constexpr auto kAll = std::make_integer_sequence<int, N>();
  Lanes<N> part[3];
  lanes::weave<N, 0>(points, part[0], kAll);
  lanes::weave<N, 1>(points, part[1], kAll);
  lanes::weave<N, 2>(points, part[2], kAll);
  for (int k = 0; k < 3; ++k) part[k].store(&to->x + k * N);
}

}  // namespace sextant::detail
