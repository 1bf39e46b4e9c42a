// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "sextant/core/host_device.h"

// What both devices compute alike: the exact distance, the order of neighbours, the tests of a
// match.

namespace sextant::detail::descriptors {

/// A row of the base and how far away it is, in whatever unit a search compares.
template <class Distance>
struct Neighbour {
  Distance distance;
  std::int32_t index;

  friend SEXTANT_HD bool operator<(const Neighbour& a, const Neighbour& b) {
    return a.distance < b.distance || (a.distance == b.distance && a.index < b.index);
  }
};

/// Puts a neighbour into a sorted list of `size`, whose last element falls out.
template <class Distance>
SEXTANT_HD void insert(Neighbour<Distance>* list, int size, const Neighbour<Distance>& fresh) {
  if (!(fresh < list[size - 1])) return;
  int place = size - 1;
  for (; place > 0 && fresh < list[place - 1]; --place) list[place] = list[place - 1];
  list[place] = fresh;
}

/// The sum of (a - b)² over every kStride-th number of two rows from `first` on, in double
/// precision. CUDA must not fuse the product and the sum: its files are compiled so.
inline constexpr int kStride = 32;
SEXTANT_HD inline double partial_distance_sq(const float* a, const float* b, int length,
                                             int first) {
  double sum = 0.0;
  for (int i = first; i < length; i += kStride) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += difference * difference;
  }
  return sum;
}

SEXTANT_HD inline double partial_norm_sq(const float* row, int length, int first) {
  double sum = 0.0;
  for (int i = first; i < length; i += kStride) {
    sum += static_cast<double>(row[i]) * static_cast<double>(row[i]);
  }
  return sum;
}
/// Whether a row with this sum of squares takes part.
SEXTANT_HD inline bool is_usable(double norm_sq) { return norm_sq <= 1e36; }

/// Adds up partial(0) .. partial(kStride - 1): the upper half is added to the lower one until one
/// is left. A warp adds in this order with shuffles.
template <class Partial>
double strided_sum(const Partial& partial) {
  double sums[kStride];
  for (int first = 0; first < kStride; ++first) sums[first] = partial(first);
  for (int half = kStride / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}

inline double distance_sq(const float* a, const float* b, int length) {
  return strided_sum([&](int first) { return partial_distance_sq(a, b, length, first); });
}

/// The sum of the squares of a row, added up like a distance: infinite where a row takes no part.
inline double usable_norm_sq(const float* row, int length) {
  const double sum = strided_sum([&](int first) { return partial_norm_sq(row, length, first); });
  return is_usable(sum) ? sum : INFINITY;
}

/// The test of one query in one segment; see match_descriptors.
struct MatchTest {
  const std::int32_t* indices;
  const float* distances_sq;
  int k;
  std::int64_t queries;
  float ratio_sq;
  float most_distance_sq;
  const std::int32_t* back_indices;  ///< null without the mutual test
  int back_k;
  std::int64_t back_rows;
  std::int32_t* matches;

  SEXTANT_HD void operator()(std::int64_t row) const {
    matches[row] = passes(row) ? indices[row * k] : -1;
  }

 private:
  SEXTANT_HD bool passes(std::int64_t row) const {
    const std::int32_t nearest = indices[row * k];
    const float distance_sq = distances_sq[row * k];
    if (nearest < 0 || !(distance_sq <= most_distance_sq)) return false;
    // Equally near ones are told apart by a ratio below 1 only.
    if (ratio_sq < 1.0f && k > 1 && distances_sq[row * k + 1] < INFINITY &&
        !(distance_sq < ratio_sq * distances_sq[row * k + 1])) {
      return false;
    }
    if (back_indices == nullptr) return true;
    return nearest < back_rows &&
           back_indices[std::int64_t{nearest} * back_k] == static_cast<std::int32_t>(row % queries);
  }
};

}  // namespace sextant::detail::descriptors
