// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "sextant/core/vec.h"

namespace sextant::detail::photo_poses {

/// Places with weights, sorted into squares.
struct WeightedPlace {
  Vec2d at_px;
  double weight = 1;
};

/// Finds the places around one. The squares are as large as the radius.
class PlaceGrid {
 public:
  PlaceGrid(std::span<const WeightedPlace> places, double cell_px)
      : places_(places), cell_px_(cell_px) {
    keys_.reserve(places.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
      keys_.push_back(
          {key(cell(places[i].at_px.x), cell(places[i].at_px.y)), static_cast<std::int32_t>(i)});
    }
    std::sort(keys_.begin(), keys_.end());
  }

  /// Calls function(index) for the places of the nine squares around, row by row, each row's in
  /// ascending order of square and index.
  template <class Function>
  void around(const Vec2d& at_px, const Function& function) const {
    const std::int64_t u = cell(at_px.x), v = cell(at_px.y);
    for (std::int64_t row = v - 1; row <= v + 1; ++row) {
      const std::int64_t last = key(u + 1, row);
      auto it = std::lower_bound(keys_.begin(), keys_.end(), Entry{key(u - 1, row), -1});
      for (; it != keys_.end() && it->key <= last; ++it) function(it->index);
    }
  }

  /// The mean of the places within the radius, at most a square's edge; `at_px` where there is
  /// none.
  Vec2d mean_around(const Vec2d& at_px, double radius_px) const {
    Vec2d sum;
    double weight = 0;
    around(at_px, [&](std::int32_t index) {
      const WeightedPlace& p = places_[static_cast<std::size_t>(index)];
      const Vec2d apart = p.at_px - at_px;
      if (dot(apart, apart) > radius_px * radius_px) return;
      sum = sum + p.at_px * p.weight;
      weight += p.weight;
    });
    return weight > 0 ? sum * (1 / weight) : at_px;
  }

 private:
  struct Entry {
    std::int64_t key;
    std::int32_t index;
    bool operator<(const Entry& other) const {
      return key != other.key ? key < other.key : index < other.index;
    }
  };

  std::int64_t cell(double px) const {
    return static_cast<std::int64_t>(std::floor(clamp(px / cell_px_, -1e8, 1e8)));
  }
  static std::int64_t key(std::int64_t u, std::int64_t v) {
    return v * (std::int64_t{1} << 32) + u;
  }

  std::span<const WeightedPlace> places_;
  double cell_px_;
  std::vector<Entry> keys_;
};

}  // namespace sextant::detail::photo_poses
