// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>

#include "sextant/core/simd/lanes_math.h"
#include "sextant/match/descriptors/math.h"

namespace sextant::detail::descriptors {

/// Rows of floats on the host. Products are summed in single precision, in whatever way is fastest;
/// that errs by at most g (|q|² + |t|²) / 2 with g = (length + 2) 2⁻²⁴, so that
///     |t|² (1 - slack) - 2 Σ q t  <  |q - t|² - |q|² (1 - slack) + least
/// with a slack of twice g and some more for the other roundings, and a least that is beyond what
/// numbers near the smallest ones lose. What may be nearer than the
/// farthest neighbour so far is measured in double precision.
struct FloatRows {
  using Number = float;
  using Word = float;
  using QueryWord = float;
  using Key = float;
  using Distance = double;
  static constexpr Key kNoTerm = std::numeric_limits<Key>::infinity();
  static constexpr Key kNoLimit = std::numeric_limits<Key>::infinity();
  static constexpr Key kNothing = -std::numeric_limits<Key>::infinity();
  static constexpr Distance kFarthest = std::numeric_limits<Distance>::infinity();

  const float* queries;
  const float* base;
  int length;

  int words() const { return length; }
  double kept_share() const { return 1.0 - (length + 16) * 0x1p-23; }

  void pack_row(std::int64_t row, Word* to, std::int64_t stride, Key& term) const {
    const float* from = base + row * length;
    const double norm_sq = usable_norm_sq(from, length);
    const bool usable = norm_sq < INFINITY;
    term = usable ? static_cast<float>(norm_sq * kept_share()) : kNoTerm;
    for (int i = 0; i < length; ++i) to[i * stride] = usable ? from[i] : 0.0f;
  }
  void pack_query(std::int64_t row, QueryWord* to) const {
    for (int i = 0; i < length; ++i) to[i] = queries[row * length + i];
  }
  double query_norm_sq(std::int64_t row) const {
    return usable_norm_sq(queries + row * length, length);
  }
  Key first_limit(double norm_sq) const { return norm_sq < INFINITY ? kNoLimit : kNothing; }
  Key limit(double norm_sq, Distance farthest) const {
    if (!(farthest < INFINITY)) return first_limit(norm_sq);
    const double least = length * 0x1p-124;
    return std::nextafter(static_cast<float>(farthest - norm_sq * kept_share() + least), kNoLimit);
  }
  Distance distance(std::int64_t query, std::int64_t row, Key) const {
    return descriptors::distance_sq(queries + query * length, base + row * length, length);
  }
  float distance_sq(double, Distance found) const { return static_cast<float>(found); }

  template <class Set>
  struct Products {
    using Pack = FloatLanes<Set::kFloats, Set>;
    using Factor = Pack;

    static void load_factor(const QueryWord* word, Factor& to) { to = Pack(*word); }
    static void add(const Pack& row, const Factor& factor, Pack& sum) {
      sum = LaneMath<Pack>::multiply_add(row, factor, sum);
    }
    static Pack keys(const Pack& term, const Pack& sum) { return term - (sum + sum); }
  };
};

}  // namespace sextant::detail::descriptors
