// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/pairs/math.h"
#include "sextant/geometry/neighbours.h"

namespace sextant::detail::cloud_pairs {

/// The partners of one point of a cloud.
struct CloudPartners {
  NeighbourGridView grid;
  const Vec3f* points = nullptr;
  const Vec3f* normals = nullptr;
  float most_m = 0.0f;
  pairs::PairTest test;
  pairs::Lookers lookers;
  std::int32_t* partners = nullptr;

  /// When all look, i is a place in the order of the grid, so that neighbours share what they read.
  SEXTANT_HD void operator()(std::int64_t i) const {
    const bool all = lookers.samples == lookers.points;
    const std::int64_t row = all ? grid.points[i].index : i;
    const std::int64_t point = all ? row : lookers.point_of(row);
    const Vec3f p = points[point];
    const Vec3f n = normals[point];
    pairs::Partners found(test);
    if (is_finite(p) && is_finite(n)) {
      for_each_neighbour(grid, p, most_m, [&](const GridPoint& neighbour, float distance_sq) {
        if (!(distance_sq >= test.least_sq && distance_sq <= found.distance_sq[2])) return;
        if (dot(n, normals[neighbour.index]) < test.cos_angle) {
          found.insert(distance_sq, neighbour.index);
        }
      });
    }
    found.store(partners + row * kPartnersPerPoint);
  }
};

}  // namespace sextant::detail::cloud_pairs
