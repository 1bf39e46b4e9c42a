// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/neighbours.h"

namespace sextant {

struct UniformKeypointOptions {
  float leaf_m = 0.0f;            ///< edge of a voxel; 0 takes leaf_resolutions
  float leaf_resolutions = 5.0f;  ///< the edge in multiples of the surface's resolution

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("leaf_m", self.leaf_m,
          "edge of the voxels of which each keeps one point; 0: leaf_resolutions", Range{0, 1e6});
    visit("leaf_resolutions", self.leaf_resolutions,
          "the edge in multiples of the resolution, where leaf_m is 0", Range{1e-3, 1e6});
  }
};

/// The options with the length that an edge of 0 stands for on a surface of this resolution.
UniformKeypointOptions resolved(const UniformKeypointOptions& options, float resolution_m);

/// Returns the indices, ascending, of one point for each occupied voxel: the one nearest to its
/// centre, and of equally near ones the first. Voxel (i, j, k) holds the points with
/// floor(x / leaf) = i and so on.
///
/// These are the points of pcl::UniformSampling, whose squared distances carry an error of 1.2e-7
/// in the units of the cloud: it may choose a point that is farther by so much. CPU and CUDA give
/// the same indices. Cost: two sorts of the points. An edge of 0 is taken from
/// cloud_resolution_m(points). Waits for the device, to learn how many points there are. An axis
/// has two million voxels. One point in a hundred may lie farther from the others: such points are
/// taken to lie in the last voxel on their side. Throws where they are more.
Buffer<std::int32_t> uniform_keypoints(const Context& context, View<const Vec3f> points,
                                       const UniformKeypointOptions& options = {});

/// Does not wait: `indices` has room for all points, and its first count[0] elements are filled.
/// leaf_m must be given. Voxels beyond two million along an axis are taken for one. The workspace
/// takes about 40 bytes a point.
void uniform_keypoints_into(const Context& context, View<const Vec3f> points,
                            const UniformKeypointOptions& options, View<std::int32_t> indices,
                            View<std::int32_t> count, Workspace& workspace);

struct IssOptions {
  /// Points within it make the scatter matrix; 0 takes salient_resolutions.
  float salient_radius_m = 0.0f;
  float salient_resolutions = 6.0f;  ///< that radius in multiples of the surface's resolution
  /// A keypoint is the most salient within it; 0 takes non_max_resolutions.
  float non_max_radius_m = 0.0f;
  float non_max_resolutions = 4.0f;   ///< that radius in multiples of the surface's resolution
  float most_ratio_21 = 0.975f;       ///< of the second eigenvalue to the first
  float most_ratio_32 = 0.975f;       ///< of the third to the second
  std::int32_t least_neighbours = 5;  ///< in each radius, the point included

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("salient_radius_m", self.salient_radius_m,
          "points within it make the scatter matrix; 0: salient_resolutions", Range{0, 1e6});
    visit("salient_resolutions", self.salient_resolutions,
          "that radius in multiples of the resolution", Range{1e-3, 1e6});
    visit("non_max_radius_m", self.non_max_radius_m,
          "a keypoint is the most salient within it; 0: non_max_resolutions", Range{0, 1e6});
    visit("non_max_resolutions", self.non_max_resolutions,
          "that radius in multiples of the resolution", Range{1e-3, 1e6});
    visit("most_ratio_21", self.most_ratio_21, "of the second eigenvalue to the first",
          Range{1e-6, 1e6});
    visit("most_ratio_32", self.most_ratio_32, "of the third eigenvalue to the second",
          Range{1e-6, 1e6});
    visit("least_neighbours", self.least_neighbours, "in each radius, the point included",
          Range{1, 1e9});
  }
};

/// The options with the lengths that radii of 0 stand for on a surface of this resolution.
IssOptions resolved(const IssOptions& options, float resolution_m);

/// Returns the indices, ascending, of the Intrinsic Shape Signature keypoints (Zhong, 2009), as
/// pcl::ISSKeypoint3D without border detection finds them: points whose scatter matrix Σ v vᵀ has
/// λ2 / λ1 < most_ratio_21, λ3 / λ2 < most_ratio_32 and the largest λ3 among such points within
/// non_max_radius_m. Where several have the same λ3, all are keypoints. Where the neighbourhood is
/// an exact plane (λ3 < 1e-14 λ1) there is none, while PCL compares what rounding left of λ3 or,
/// where that is negative, unset memory.
///
/// Distances are strictly less than a radius. Sums are in double precision; CPU and CUDA differ
/// only where two saliencies or a ratio and its bound agree to 1e-12. Cost: two passes over the
/// neighbours, no memory for them. Radii of 0 are taken from cloud_resolution_m(points). Waits for
/// the device, to learn how many there are.
Buffer<std::int32_t> iss_keypoints(const Context& context, View<const Vec3f> points,
                                   const IssOptions& options = {});

/// Takes the grid of the points (for_radius(salient_radius_m / 2) is a good one) and given radii.
/// Does not wait: `indices` has room for all points, and its first count[0] elements are filled.
/// The workspace takes 16 bytes a point.
void iss_keypoints_into(const Context& context, const NeighbourGrid& grid,
                        const IssOptions& options, View<std::int32_t> indices,
                        View<std::int32_t> count, Workspace& workspace);

}  // namespace sextant
