// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/eigen3.h"
#include "sextant/descriptor/keypoints.h"
#include "sextant/geometry/cloud.h"

// The steps that choose keypoints, each a function of one element.

namespace sextant::detail::keypoints {

/// The key of a point in no voxel, which sorts behind all others.
inline constexpr std::uint64_t kNoVoxel = ~std::uint64_t{0};
inline constexpr int kVoxelBits = 21;  ///< along an axis
inline constexpr float kMostVoxels = static_cast<float>(1 << kVoxelBits);

/// Voxels of the given edge. Products are rounded to float as in pcl::UniformSampling.
struct VoxelGrid {
  float leaf_m;
  float inverse;

  SEXTANT_HD float along(float x) const { return std::floor(x * inverse); }
  SEXTANT_HD Vec3f centre(const Vec3f& p) const {
    return {middle(along(p.x)), middle(along(p.y)), middle(along(p.z))};
  }
  SEXTANT_HD std::uint64_t key(const Vec3f& p, const Bounds& bounds) const {
    if (!is_finite(p)) return kNoVoxel;
    return number(p.x, bounds.low.x) | number(p.y, bounds.low.y) << kVoxelBits |
           number(p.z, bounds.low.z) << (2 * kVoxelBits);
  }

 private:
  /// The result is rounded before it is subtracted from anything.
  SEXTANT_HD float middle(float voxel) const {
#if defined(__CUDA_ARCH__)
    return __fmul_rn(voxel + 0.5f, leaf_m);
#else
    return (voxel + 0.5f) * leaf_m;
#endif
  }
  SEXTANT_HD std::uint64_t number(float x, float low) const {
    return static_cast<std::uint64_t>(clamp(along(x) - along(low), 0.0f, kMostVoxels - 1.0f));
  }
};

SEXTANT_HD inline VoxelGrid voxel_grid(float leaf_m) { return {leaf_m, 1.0f / leaf_m}; }

struct DistanceToCentre {
  const Vec3f* points;
  VoxelGrid grid;
  float* distances_sq;
  std::uint32_t* order;
  SEXTANT_HD void operator()(std::int64_t i) const {
    const Vec3f p = points[i];
    distances_sq[i] = is_finite(p) ? squared_distance(p, grid.centre(p)) : INFINITY;
    order[i] = static_cast<std::uint32_t>(i);
  }
};

struct KeyInOrder {
  const Vec3f* points;
  VoxelGrid grid;
  const Bounds* bounds;
  const std::uint32_t* order;
  std::uint64_t* keys;
  SEXTANT_HD void operator()(std::int64_t i) const {
    keys[i] = grid.key(points[order[i]], *bounds);
  }
};

/// Marks the first point of every voxel.
struct MarkFirst {
  const std::uint64_t* keys;
  const std::uint32_t* order;
  std::int32_t* marks;
  SEXTANT_HD void operator()(std::int64_t i) const {
    const bool first = keys[i] != kNoVoxel && (i == 0 || keys[i - 1] != keys[i]);
    marks[order[i]] = first ? 1 : 0;
  }
};

struct IssLimits {
  float salient_radius_m, non_max_radius_m;
  double most_ratio_21, most_ratio_32;
  std::int32_t least_neighbours;
};

/// Below this share of λ1, λ3 is rounding: the neighbourhood is a plane.
inline constexpr double kLeastSaliency = 1e-14;

/// λ3 of a scatter matrix whose eigenvalues are far enough apart, else 0.
SEXTANT_HD inline double saliency_of(const Sym3d& scatter, std::int64_t neighbours,
                                     const IssLimits& limits) {
  if (neighbours < limits.least_neighbours) return 0.0;
  const Eigen3<double> e = eigen(scatter);
  const bool apart = e.values[1] / e.values[2] < limits.most_ratio_21 &&
                     e.values[0] / e.values[1] < limits.most_ratio_32;
  const bool solid = e.values[0] > kLeastSaliency * e.values[2] && std::isfinite(e.values[2]);
  return apart && solid ? e.values[0] : 0.0;
}

/// The saliency of the grid's point number i, kept in the order of the grid.
struct IssSaliency {
  NeighbourGridView grid;
  IssLimits limits;
  double* saliency;

  SEXTANT_HD void operator()(std::int64_t i) const {
    const Vec3f p = grid.points[i].position;
    saliency[i] = 0.0;
    if (!is_finite(p)) return;
    const float radius_sq = limits.salient_radius_m * limits.salient_radius_m;
    Sym3d scatter;
    std::int64_t neighbours = 0;
    for_each_neighbour(grid, p, limits.salient_radius_m,
                       [&](const GridPoint& q, float distance_sq) {
                         if (!(distance_sq < radius_sq)) return;
                         scatter = scatter + outer(cast<double>(q.position - p));
                         ++neighbours;
                       });
    saliency[i] = saliency_of(scatter, neighbours, limits);
  }
};

/// Marks the point number i of the grid when nobody near is more salient.
struct MarkMostSalient {
  NeighbourGridView grid;
  IssLimits limits;
  const double* saliency;
  std::int32_t* marks;

  SEXTANT_HD void operator()(std::int64_t i) const {
    const GridPoint point = grid.points[i];
    const double mine = saliency[i];
    bool most = mine > 0.0;
    if (most) {
      const float radius_sq = limits.non_max_radius_m * limits.non_max_radius_m;
      std::int64_t neighbours = 0;
      for_each_run(grid, cells_within(*grid.frame, point.position, radius_sq),
                   [&](std::uint32_t begin, std::uint32_t end) {
                     for (std::uint32_t j = begin; j < end && most; ++j) {
                       const Vec3f q = grid.points[j].position;
                       if (!(squared_distance(q, point.position) < radius_sq)) continue;
                       ++neighbours;
                       most = !(mine < saliency[j]);
                     }
                   });
      most = most && neighbours >= limits.least_neighbours;
    }
    marks[point.index] = most ? 1 : 0;
  }
};

}  // namespace sextant::detail::keypoints
