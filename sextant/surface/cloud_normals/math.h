// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/neighbours/nearest.h"
#include "sextant/surface/cloud_normals.h"
#include "sextant/surface/normals/math.h"

namespace sextant::detail::cloud_normals {

inline constexpr float kLeastNeighbours = 3.0f;

inline constexpr float kWeightReach = 3.0f;  ///< in units of σ, exclusive

/// Weighted moments, and how many points they are of.
struct WeightedMoments {
  normals::Moments<float> moments;
  float neighbours = 0;
};

/// Adds a point with its weight, when it is near enough.
SEXTANT_HD inline void accumulate_weighted(WeightedMoments& to, const Vec3f& offset,
                                           float distance_sq, float sigma_m) {
  const float radius_m = kWeightReach * sigma_m;
  if (!(distance_sq < radius_m * radius_m)) return;
  const float weight = LaneMath<float>::quick_exp2(distance_sq * (-kLog2e / (sigma_m * sigma_m)));
  to.moments.count += weight;
  to.moments.sum += offset * weight;
  to.moments.squares = to.moments.squares + outer(offset) * weight;
  to.neighbours += 1.0f;
}

/// The oriented normal of a point whose neighbours have these moments about it.
SEXTANT_HD inline Vec3f normal_of(const normals::Moments<float>& moments, float neighbours,
                                  const Vec3f& point, const Vec3f& viewpoint_m) {
  if (!(neighbours >= kLeastNeighbours)) return {NAN, NAN, NAN};
  return normals::oriented_towards(viewpoint_m, point,
                                   normals::plane_normal(normals::scatter_about_mean(moments)));
}

/// The normal of one point of the grid, from its k nearest neighbours (k > 0) or from those within
/// the radius. The neighbours are summed up as they are found, or from a thread's own short list.
template <int kCapacity>
struct CloudNormal {
  NeighbourGridView grid;
  int k;
  float radius_m;
  Vec3f viewpoint_m;
  Vec3f* normals;

  SEXTANT_HD void operator()(std::int64_t i) const {
    const GridPoint point = grid.points[i];
    normals::Moments<float> moments;
    if (is_finite(point.position)) {
      if constexpr (kCapacity > 0) {
        neighbours::NearestHeap<neighbours::LocalEntries<kCapacity>> heap{grid.points, k, 0, {}};
        neighbours::find_nearest(grid, point.position, heap);
        for (int j = 0; j < heap.size; ++j) {
          normals::accumulate(
              moments,
              grid.points[neighbours::place_of(heap.entries.get(j))].position - point.position);
        }
      } else {
        for_each_neighbour(grid, point.position, radius_m, [&](const GridPoint& neighbour, float) {
          normals::accumulate(moments, neighbour.position - point.position);
        });
      }
    }
    normals[point.index] = normal_of(moments, moments.count, point.position, viewpoint_m);
  }
};

void estimate_cloud_normals_cuda(const Context& context, const NeighbourGridView& grid,
                                 const CloudNormalsOptions& options, View<Vec3f> normals);

}  // namespace sextant::detail::cloud_normals
