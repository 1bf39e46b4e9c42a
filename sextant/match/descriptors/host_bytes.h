// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <limits>

#include "sextant/core/simd/lanes.h"
#include "sextant/match/descriptors/math.h"

namespace sextant::detail::descriptors {

/// Rows of bytes on the host. A word is four bytes of a row; a query's are signed, less by 128, as
/// the instructions ask for. Then |q - t|² = |q|² + term(t) - 2 Σ t (q - 128).
struct ByteRows {
  using Number = std::uint8_t;
  using Word = std::int32_t;
  using QueryWord = std::int32_t;
  using Key = std::int32_t;       ///< what a search compares: |q - t|² - |q|²
  using Distance = std::int32_t;  ///< what decides
  static constexpr Key kNoTerm = std::numeric_limits<Key>::max();
  static constexpr Key kNoLimit = std::numeric_limits<Key>::max();
  static constexpr Key kNothing = std::numeric_limits<Key>::min();
  static constexpr Distance kFarthest = std::numeric_limits<Distance>::max();

  const std::uint8_t* queries;
  const std::uint8_t* base;
  int length;

  int words() const { return (length + 3) / 4; }

  void pack_row(std::int64_t row, Word* to, std::int64_t stride, Key& term) const {
    const std::uint8_t* from = base + row * length;
    for (int w = 0; w < words(); ++w) {
      std::uint8_t bytes[4] = {};
      std::memcpy(bytes, from + 4 * w,
                  static_cast<std::size_t>(length - 4 * w < 4 ? length - 4 * w : 4));
      std::memcpy(to + w * stride, bytes, sizeof(Word));
    }
    term = 0;
    for (int i = 0; i < length; ++i) term += from[i] * from[i] - 256 * from[i];
  }
  void pack_query(std::int64_t row, QueryWord* to) const {
    const std::uint8_t* from = queries + row * length;
    for (int w = 0; w < words(); ++w) {
      std::int8_t bytes[4] = {};
      for (int b = 0; b < 4 && 4 * w + b < length; ++b) {
        bytes[b] = static_cast<std::int8_t>(from[4 * w + b] - 128);
      }
      std::memcpy(to + w, bytes, sizeof(QueryWord));
    }
  }
  /// |q|², which the final distance needs.
  double query_norm_sq(std::int64_t row) const {
    std::int32_t sum = 0;
    for (int i = 0; i < length; ++i) {
      sum += queries[row * length + i] * queries[row * length + i];
    }
    return sum;
  }
  Key first_limit(double) const { return kNoLimit; }
  Key limit(double, Distance farthest) const { return farthest; }
  Distance distance(std::int64_t, std::int64_t, Key key) const { return key; }
  float distance_sq(double norm_sq, Distance found) const {
    return static_cast<float>(static_cast<std::int32_t>(norm_sq) + found);
  }

  /// Sums of products of a query with lanes of the base.
  template <class Set>
  struct Products {
    using Packs = std::conditional_t<std::is_same_v<Set, Avx512Vnni>, Avx512, Set>;
    using Pack = IntLanes<Set::kBytes / 4, Packs>;
    using Dot = ByteDot<Set>;
    using Factor = typename Dot::Factor;

    static void load_factor(const QueryWord* word, Factor& to) {
      std::int8_t bytes[4];
      std::memcpy(bytes, word, sizeof(bytes));
      Dot::prepare(bytes, to);
    }
    static void add(const Pack& row, const Factor& factor, Pack& sum) {
      Dot::add(row.part[0], factor, sum.part[0]);
    }
    static Pack keys(const Pack& term, const Pack& sum) { return term - (sum + sum); }
  };
};

}  // namespace sextant::detail::descriptors
