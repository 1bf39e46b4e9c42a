// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cfloat>

#include "sextant/geometry/cloud.h"
#include "sextant/geometry/neighbour_walk.h"

// Where the cells of a grid lie, so that a few points far off make no difference to the others.

namespace sextant::detail::neighbours {

/// Where the points lie, leaving aside the few that lie far off.
struct GridRange {
  Bounds all;
  Vec3f middle;     ///< the median of a sample, axis by axis
  Vec3f low, high;  ///< between which nine tenths of the sample lie
  SEXTANT_HD float longest_m() const {
    const Vec3f inner = high - low, outer = all.high - all.low;
    const float inside = max_of(max_of(inner.x, inner.y), inner.z) / kShare;
    const float whole = max_of(max_of(outer.x, outer.y), outer.z);
    return inside > 0.0f && inside < whole ? inside : min_of(whole, FLT_MAX);
  }
  static constexpr float kShare = 0.9f;
};

/// Cells along one axis from `low` on: to the farthest point, or as many as there may be about the
/// middle. Points beyond lie in the cells at the rim, so that a far one does not make the others'
/// cells larger.
SEXTANT_HD inline void set_axis(float farthest_low, float farthest_high, float middle, float cell_m,
                                float inverse_cell, float& low, std::int32_t& cells) {
  constexpr float kHalf = static_cast<float>(kMostCells / 2 - 16);
  const float from = middle - kHalf * cell_m;
  const bool fits = (farthest_high - farthest_low) * inverse_cell < 2.0f * kHalf;
  low = fits || !(from > farthest_low) ? farthest_low : from;
  cells = cell_along(farthest_high, low, inverse_cell, kMostCells - 1) + 1;
}

/// The frame of cells of the wished edge, kept within numbers whose inverse is a float.
SEXTANT_HD inline GridFrame frame_of(const GridRange& range, float cell_m) {
  GridFrame frame;
  if (range.all.empty()) return frame;
  const Vec3f a = range.all.low, b = range.all.high, middle = range.middle;
  frame.cell_m = clamp(cell_m, 1e-18f, 1e33f);
  frame.inverse_cell = 1.0f / frame.cell_m;
  set_axis(a.x, b.x, middle.x, frame.cell_m, frame.inverse_cell, frame.low.x, frame.cells.x);
  set_axis(a.y, b.y, middle.y, frame.cell_m, frame.inverse_cell, frame.low.y, frame.cells.y);
  set_axis(a.z, b.z, middle.z, frame.cell_m, frame.inverse_cell, frame.low.z, frame.cells.z);
  return frame;
}

/// Samples that say where the points lie.
inline constexpr std::int64_t kRangeSample = 63;

/// The first point of each of as many runs that is finite, or NaN.
struct SampleRange {
  const Vec3f* from;
  std::int64_t count;
  Vec3f* sample;
  SEXTANT_HD void operator()(std::int64_t i) const {
    const std::int64_t end = count * (i + 1) / kRangeSample;
    sample[i] = {NAN, NAN, NAN};
    for (std::int64_t j = count * i / kRangeSample; j < end; ++j) {
      if (!is_finite(from[j])) continue;
      sample[i] = from[j];
      return;
    }
  }
};

struct ClearRange {
  const Bounds* bounds;
  GridRange* range;
  SEXTANT_HD void operator()(std::int64_t) const { *range = {*bounds, {}, {}, {}}; }
};

template <class Vector>
SEXTANT_HD auto& along(Vector& v, int axis) {
  return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

/// Finds the place of one coordinate of one sample among the others, and writes it where it is the
/// median or a bound.
struct RankSample {
  const Vec3f* sample;
  GridRange* range;
  SEXTANT_HD void operator()(std::int64_t element) const {
    const int axis = static_cast<int>(element % 3);
    const std::int64_t i = element / 3;
    const float mine = along(sample[i], axis);
    if (!is_finite(sample[i])) return;
    int rank = 0, finite = 0;
    for (std::int64_t j = 0; j < kRangeSample; ++j) {
      if (!is_finite(sample[j])) continue;
      const float other = along(sample[j], axis);
      rank += other < mine || (other == mine && j < i) ? 1 : 0;
      ++finite;
    }
    constexpr float kOutside = 0.5f * (1.0f - GridRange::kShare);
    const int cut = static_cast<int>(kOutside * static_cast<float>(finite));
    if (rank == finite / 2) along(range->middle, axis) = mine;
    if (rank == cut) along(range->low, axis) = mine;
    if (rank == finite - 1 - cut) along(range->high, axis) = mine;
  }
};

}  // namespace sextant::detail::neighbours
