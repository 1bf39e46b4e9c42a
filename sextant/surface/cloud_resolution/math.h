// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/surface/cloud_resolution.h"

namespace sextant::detail::cloud_resolution {

/// The point itself, perhaps a copy of it, and another.
inline constexpr int kNearest = 3;

/// A sum of distances to the nearest other point, and over how many points.
struct NearestSum {
  double distance_m = 0;
  double points = 0;
};
SEXTANT_HD inline NearestSum operator+(const NearestSum& a, const NearestSum& b) {
  return {a.distance_m + b.distance_m, a.points + b.points};
}

/// The first distance of a row of kNearest that is not zero; nothing where there is none.
struct NearestOfPoint {
  const float* distances_sq;
  SEXTANT_HD NearestSum operator()(std::int64_t row) const {
    for (int i = 1; i < kNearest; ++i) {
      const float square = distances_sq[row * kNearest + i];
      if (square > 0.0f && square < INFINITY) return {std::sqrt(static_cast<double>(square)), 1};
    }
    return {};
  }
};

}  // namespace sextant::detail::cloud_resolution
