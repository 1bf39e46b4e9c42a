// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "sextant/core/sort.h"
#include "sextant/match/point_pairs/job.h"

namespace sextant::detail::point_pairs {

/// The usable points of a scene, sorted by cells as wide as a reach, coordinate by coordinate. The
/// cells along x follow each other, so that a ball lies in a few runs of points. On the host.
class SortedScene {
 public:
  static constexpr std::int64_t kPadding = 16;  ///< points of NaN that a pack may read at the end

  SortedScene(const Context& context, View<const Vec3f> points, View<const Vec3f> normals,
              float reach_m, Workspace& workspace)
      : reach_m_(reach_m), inverse_cell_(1 / reach_m) {
    const View<std::uint64_t> keys = workspace.take<std::uint64_t>(context, points.size);
    const View<std::uint32_t> order = workspace.take<std::uint32_t>(context, points.size);
    for (std::int64_t i = 0; i < points.size; ++i) {
      if (!usable(points[i], normals[i])) continue;
      const Vec3f& p = points[i];
      keys[count_] = key(along(p.x), along(p.y), along(p.z));
      order[count_++] = static_cast<std::uint32_t>(i);
    }
    keys_ = keys.data;
    sort_pairs(context, keys.subview(0, count_), order.subview(0, count_), {}, workspace);
    for (int c = 0; c < 6; ++c) {
      float* column = workspace.take<float>(context, count_ + kPadding).data;
      const View<const Vec3f>& from = c < 3 ? points : normals;
      for (std::int64_t i = 0; i < count_; ++i) column[i] = (&from[order[i]].x)[c % 3];
      std::fill_n(column + count_, kPadding, NAN);
      columns_[c] = column;
    }
  }

  /// x, y, z of the points, then of their normals.
  const float* column(int c) const { return columns_[c]; }

  /// Calls f(begin, end) for runs that together hold every point within the reach of p.
  template <class Function>
  void for_each_run(const Vec3f& p, Function&& f) const {
    std::uint64_t low[3], high[3];
    const float at[3] = {p.x, p.y, p.z};
    for (int c = 0; c < 3; ++c) {
      constexpr float kSlack = 4e-7f;  // more than the roundings of a distance
      const float reach = reach_m_ + (std::abs(at[c]) + reach_m_) * kSlack;
      low[c] = along(at[c] - reach);
      high[c] = along(at[c] + reach);
    }
    const std::uint64_t* const end = keys_ + count_;
    for (std::uint64_t z = low[2]; z <= high[2]; ++z) {
      for (std::uint64_t y = low[1]; y <= high[1]; ++y) {
        const std::uint64_t* const first = std::lower_bound(keys_, end, key(low[0], y, z));
        const std::uint64_t* const last = std::upper_bound(first, end, key(high[0], y, z));
        if (first != last) f(first - keys_, last - keys_);
      }
    }
  }

 private:
  static constexpr int kBits = 21;  // of an axis: three of them fill a key

  /// Monotone, so that no neighbour is missed; the cells at the rim reach to infinity.
  std::uint64_t along(float x) const {
    constexpr float kHalf = 1 << (kBits - 1);
    const float cell = std::floor(x * inverse_cell_);
    return static_cast<std::uint64_t>(clamp(cell, -kHalf, kHalf - 1) + kHalf);
  }
  static std::uint64_t key(std::uint64_t x, std::uint64_t y, std::uint64_t z) {
    return z << 2 * kBits | y << kBits | x;
  }

  float reach_m_, inverse_cell_;
  std::int64_t count_ = 0;
  const std::uint64_t* keys_ = nullptr;
  const float* columns_[6] = {};
};

}  // namespace sextant::detail::point_pairs
