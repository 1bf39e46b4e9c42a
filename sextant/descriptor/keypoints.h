// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/neighbours.h"

namespace sextant {

struct UniformKeypointOptions {
  float leaf_m = 0.01f;  ///< edge of a voxel

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("leaf_m", self.leaf_m, "edge of the voxels of which each keeps one point",
          Range{1e-9, 1e6});
  }
};

/// Indices, ascending, of one point for each occupied voxel: the one nearest to its centre, of
/// equal ones the first. Voxel (i, j, k) holds the points with floor(x / leaf) = i and so on.
///
/// The points of pcl::UniformSampling, whose squared distances carry an error of 1.2e-7 in the
/// units of the cloud: it may choose a point that is farther by so much. CPU and CUDA give the same
/// indices. Cost: two sorts of the points. Waits for the device, to learn how many there are.
/// Throws where an axis has more than two million voxels.
Buffer<std::int32_t> uniform_keypoints(const Context& context, View<const Vec3f> points,
                                       const UniformKeypointOptions& options = {});

/// Does not wait: `indices` has room for all points, and its first count[0] elements are filled.
/// Voxels beyond two million along an axis are taken for one.
void uniform_keypoints_into(const Context& context, View<const Vec3f> points,
                            const UniformKeypointOptions& options, View<std::int32_t> indices,
                            View<std::int64_t> count);

struct IssOptions {
  float salient_radius_m = 0.012f;    ///< points within it make the scatter matrix; 6 resolutions
  float non_max_radius_m = 0.008f;    ///< a keypoint is the most salient within it; 4 resolutions
  float most_ratio_21 = 0.975f;       ///< of the second eigenvalue to the first
  float most_ratio_32 = 0.975f;       ///< of the third to the second
  std::int32_t least_neighbours = 5;  ///< in each radius, the point included

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("salient_radius_m", self.salient_radius_m, "points within it make the scatter matrix",
          Range{1e-9, 1e6});
    visit("non_max_radius_m", self.non_max_radius_m, "a keypoint is the most salient within it",
          Range{1e-9, 1e6});
    visit("most_ratio_21", self.most_ratio_21, "of the second eigenvalue to the first",
          Range{1e-6, 1e6});
    visit("most_ratio_32", self.most_ratio_32, "of the third eigenvalue to the second",
          Range{1e-6, 1e6});
    visit("least_neighbours", self.least_neighbours, "in each radius, the point included",
          Range{1, 1e9});
  }
};

/// Indices, ascending, of the Intrinsic Shape Signature keypoints (Zhong, 2009), as
/// pcl::ISSKeypoint3D without border detection finds them: points whose scatter matrix Σ v vᵀ has
/// λ2 / λ1 < most_ratio_21, λ3 / λ2 < most_ratio_32 and the largest λ3 among such points within
/// non_max_radius_m; of equal ones, all. Where the neighbourhood is an exact plane (λ3 < 1e-14 λ1)
/// there is none, while PCL compares what rounding left of λ3 or, where that is negative, unset
/// memory.
///
/// Distances are strictly less than a radius. Double precision; CPU and CUDA differ only where two
/// saliencies or a ratio and its bound agree to 1e-12. Cost: two passes over the neighbours, no
/// memory for them. Waits for the device, to learn how many there are.
Buffer<std::int32_t> iss_keypoints(const Context& context, View<const Vec3f> points,
                                   const IssOptions& options = {});

/// With the grid of the points (for_radius(salient_radius_m / 2) is a good one). Does not wait:
/// `indices` has room for all points, and its first count[0] elements are filled.
void iss_keypoints_into(const Context& context, const NeighbourGrid& grid,
                        const IssOptions& options, View<std::int32_t> indices,
                        View<std::int64_t> count);

}  // namespace sextant
