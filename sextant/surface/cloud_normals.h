// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/neighbours.h"

namespace sextant {

/// Which neighbours a plane is fitted to, and how much each of them counts.
enum class CloudNormalsMethod : std::int32_t {
  kAutomatic,  ///< kWeighted where sigma_m is given, else kPca
  kPca,        ///< the k nearest or those within radius_m, all alike: for clean scans
  kWeighted    ///< those within 3 σ, each by exp(-(d/σ)²): for noisy ones
};
inline constexpr Choice<CloudNormalsMethod> kCloudNormalsMethods[] = {
    {"automatic", CloudNormalsMethod::kAutomatic},
    {"pca", CloudNormalsMethod::kPca},
    {"weighted", CloudNormalsMethod::kWeighted}};

struct CloudNormalsOptions {
  CloudNormalsMethod method = CloudNormalsMethod::kAutomatic;
  int k = 0;  ///< of kPca: nearest neighbours, the point among them, 3 to 64; 0 takes 15
  float radius_m = 0.0f;  ///< of kPca: all neighbours within this distance instead
  float sigma_m = 0.0f;   ///< of kWeighted; there 0 takes default_sigma_m(points)
  Vec3f viewpoint_m{};    ///< normals point to the side of it

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("method", self.method, "which neighbours count, and how much", kCloudNormalsMethods);
    visit("k", self.k, "nearest neighbours that a plane is fitted to; 0 takes 15", Range{0, 64});
    visit("radius_m", self.radius_m, "all neighbours within this distance instead; 0 takes k",
          Range{0, 1e6});
    visit("sigma_m", self.sigma_m,
          "weights are exp(-(distance / sigma)^2), up to 3 sigma; 0 takes it from the resolution",
          Range{0, 1e9});
    visit("viewpoint_x_m", self.viewpoint_m.x, "normals point towards it", Range{-1e9, 1e9});
    visit("viewpoint_y_m", self.viewpoint_m.y, "normals point towards it", Range{-1e9, 1e9});
    visit("viewpoint_z_m", self.viewpoint_m.z, "normals point towards it", Range{-1e9, 1e9});
  }
};

/// The method that the options ask for: never kAutomatic.
CloudNormalsMethod method_of(const CloudNormalsOptions& options);

/// Unit normals of points in any order, one for each.
///
/// The normal is that of the least-squares plane through the point's neighbours (the eigenvector of
/// the smallest eigenvalue of their covariance about their mean), turned to the viewpoint. It is
/// NaN where the point is not finite, where it has fewer than 3 neighbours with itself, and where
/// they determine no plane: all equal, on a line, or the same spread in every direction. Neighbours
/// are exact, equal distances going to the lower index. With kWeighted mean and covariance are
/// weighted; what is farther than 3 σ counts nothing.
///
/// Accuracy: rounding adds less than 0.01° where λ1 - λ0 > 0.01 λ2, whatever the distance from the
/// origin; CPU and CUDA agree as closely there. Same bits for every number of threads.
/// Cost: 292 thousand points with k = 15 take about 60 ms on two cores, a fifth of it for the grid;
/// memory does not grow with the number of neighbours. kWeighted costs about 25 flop and one
/// exponential for each point within a box of 7.5 σ; with σ = 0 also what default_sigma_m costs,
/// and then it waits for the device.
Buffer<Vec3f> estimate_cloud_normals(const Context& context, View<const Vec3f> points,
                                     const CloudNormalsOptions& options = {});

/// For the points of a grid, in the order in which they were given; allocates nothing and does not
/// wait, so kWeighted must be given its σ. Any grid of the points will do; cells as grid_options
/// proposes make it fast.
void estimate_cloud_normals_into(const Context& context, const NeighbourGrid& grid,
                                 const CloudNormalsOptions& options, View<Vec3f> normals);
NeighbourGridOptions grid_options(const CloudNormalsOptions& options);

}  // namespace sextant
