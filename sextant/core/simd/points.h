// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "sextant/core/simd/lanes_math.h"
#include "sextant/core/vec.h"

// These load points in memory as packs of coordinates, and shift packs along a row. For the host
// only.

namespace sextant::detail {

namespace shuffles {

/// Lane i of the result is element 3 i + kComponent of the 3 N floats in a, b, c.
template <int N, int kComponent, class V, int... i>
void take_third(const V& a, const V& b, const V& c, V& to, std::integer_sequence<int, i...>) {
  const V ab =
      __builtin_shufflevector(a, b, (3 * i + kComponent < 2 * N ? 3 * i + kComponent : 0)...);
  to = __builtin_shufflevector(ab, c, (3 * i + kComponent < 2 * N ? i : 3 * i + kComponent - N)...);
}

/// Floats kPart N … of the sequence x0 y0 z0 x1 y1 z1 …
template <int N, int kPart, class V, int... i>
void weave(const V& x, const V& y, const V& z, V& to, std::integer_sequence<int, i...>) {
  const V xy = __builtin_shufflevector(
      x, y, ((kPart * N + i) % 3 == 2 ? 0 : (kPart * N + i) / 3 + N * ((kPart * N + i) % 3))...);
  to = __builtin_shufflevector(xy, z, ((kPart * N + i) % 3 == 2 ? N + (kPart * N + i) / 3 : i)...);
}

template <int kShift, class V, int... i>
void shift(const V& a, const V& next, V& to, std::integer_sequence<int, i...>) {
  to = __builtin_shufflevector(a, next, (i + kShift)...);
}

}  // namespace shuffles

/// Lanes kShift, kShift + 1, … of a, continued by those of next. For packs of one register.
template <int kShift, int N, class Set>
FloatLanes<N, Set> shifted(const FloatLanes<N, Set>& a, const FloatLanes<N, Set>& next) {
  static_assert(FloatLanes<N, Set>::kParts == 1);
  FloatLanes<N, Set> result;
  shuffles::shift<kShift>(a.part[0], next.part[0], result.part[0],
                          std::make_integer_sequence<int, N>());
  return result;
}

/// Turns rows into columns: lane k of pack i goes to lane i of pack k.
template <class T, class Set>
void transpose(Lanes<T, 4, Set> (&row)[4]) {
  using Part = typename Lanes<T, 4, Set>::Part;
  static_assert(Lanes<T, 4, Set>::kParts == 1);
  const Part& a = row[0].part[0];
  const Part& b = row[1].part[0];
  const Part& c = row[2].part[0];
  const Part& d = row[3].part[0];
  const Part low_ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Part low_cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Part high_ab = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Part high_cd = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  row[0].part[0] = __builtin_shufflevector(low_ab, low_cd, 0, 1, 4, 5);
  row[1].part[0] = __builtin_shufflevector(low_ab, low_cd, 2, 3, 6, 7);
  row[2].part[0] = __builtin_shufflevector(high_ab, high_cd, 0, 1, 4, 5);
  row[3].part[0] = __builtin_shufflevector(high_ab, high_cd, 2, 3, 6, 7);
}

/// Loads as many points as the pack has lanes, with one coordinate each in a pack.
template <class Pack>
Vec3<Pack> load_points(const Vec3f* from) {
  constexpr int kLanes = Pack::Layout::kPartLanes;
  constexpr auto kAll = std::make_integer_sequence<int, kLanes>();
  using Part = typename Pack::Part;
  const float* floats = &from->x;
  Vec3<Pack> points;
  SEXTANT_UNROLL
  for (int p = 0; p < Pack::kParts; ++p) {
    Part a, b, c;
    Pack::Ops::load(floats + 3 * p * kLanes, a);
    Pack::Ops::load(floats + (3 * p + 1) * kLanes, b);
    Pack::Ops::load(floats + (3 * p + 2) * kLanes, c);
    shuffles::take_third<kLanes, 0>(a, b, c, points.x.part[p], kAll);
    shuffles::take_third<kLanes, 1>(a, b, c, points.y.part[p], kAll);
    shuffles::take_third<kLanes, 2>(a, b, c, points.z.part[p], kAll);
  }
  return points;
}

template <class Pack>
void store_points(const Vec3<Pack>& points, Vec3f* to) {
  constexpr int kLanes = Pack::Layout::kPartLanes;
  constexpr auto kAll = std::make_integer_sequence<int, kLanes>();
  using Part = typename Pack::Part;
  SEXTANT_UNROLL
  for (int p = 0; p < Pack::kParts; ++p) {
    const Part& x = points.x.part[p];
    const Part& y = points.y.part[p];
    const Part& z = points.z.part[p];
    Part a, b, c;
    shuffles::weave<kLanes, 0>(x, y, z, a, kAll);
    shuffles::weave<kLanes, 1>(x, y, z, b, kAll);
    shuffles::weave<kLanes, 2>(x, y, z, c, kAll);
    Pack::Ops::store(a, &to->x + 3 * p * kLanes);
    Pack::Ops::store(b, &to->x + (3 * p + 1) * kLanes);
    Pack::Ops::store(c, &to->x + (3 * p + 2) * kLanes);
  }
}

}  // namespace sextant::detail
