// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/surface/cloud_resolution.h"

namespace sextant::detail::cloud_resolution {

/// The point itself, perhaps a copy of it, and another.
inline constexpr int kNearest = 3;
/// The same where every point has several copies.
inline constexpr int kNearestOfCopies = 64;

/// A sum of distances to the nearest other point, and over how many points.
struct NearestSum {
  double distance_m = 0;
  double points = 0;
};
SEXTANT_HD inline NearestSum operator+(const NearestSum& a, const NearestSum& b) {
  return {a.distance_m + b.distance_m, a.points + b.points};
}

/// Points this many times farther from all others than usual lie on no surface.
inline constexpr double kMostMeans = 10;
/// Each time the mean is taken anew, without them.
inline constexpr int kRounds = 6;

/// The first distance of a row of `nearest` that is not zero; nothing where there is none, or where
/// it is too long beside the `former` mean, if there is one.
struct NearestOfPoint {
  const float* distances_sq;
  const NearestSum* former;
  int nearest;
  SEXTANT_HD NearestSum operator()(std::int64_t row) const {
    for (int i = 1; i < nearest; ++i) {
      const float square = distances_sq[row * nearest + i];
      if (!(square > 0.0f && square < INFINITY)) continue;
      const double distance_m = std::sqrt(static_cast<double>(square));
      const bool far =
          former != nullptr && distance_m * former->points > kMostMeans * former->distance_m;
      return far ? NearestSum{} : NearestSum{distance_m, 1};
    }
    return {};
  }
};

}  // namespace sextant::detail::cloud_resolution
