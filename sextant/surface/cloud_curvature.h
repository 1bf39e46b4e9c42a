// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/neighbours.h"
#include "sextant/surface/curvature.h"

namespace sextant {

struct CloudCurvatureOptions {
  /// A quadric is fitted to all neighbours within this distance. Twice the radius of the smallest
  /// ball or rod is too large; with less than 30 neighbours noise rules. 0 takes
  /// curvature_radius_m(points).
  float radius_m = 0.0f;
  /// A point with fewer neighbours than this, itself among them, looks twice as far, and up to
  /// eight times: the points of a depth camera thin out with the distance. 0 takes 30 where
  /// radius_m is 0, else the given radius counts alone.
  int widen_below = 0;
  int iterations = 5;
  CurvatureWeights weights = CurvatureWeights::kRobust;
  float weight_scale_m = 0.001f;  ///< k = its square; the least s of kRobust
  bool first_unweighted = false;  ///< least squares in the first iteration
  bool remove_bias = true;        ///< exact on spheres and cylinders of any radius
  int least_samples = 12;
  float clamp_per_m = 0.0f;  ///< limit of |k1| and |k2|; 0 for none
  Vec3f viewpoint_m{};  ///< without normals: they point to it, and convex is as seen from there

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("radius_m", self.radius_m, "all neighbours within this distance; 0 takes some 60",
          Range{0, 1e3});
    visit(
        "widen_below", self.widen_below,
        "points with fewer neighbours look two to eight times as far; 0 takes 30 without a radius",
        Range{0, 1e6});
    visit("iterations", self.iterations, "Gauss-Newton steps", Range{1, 50});
    visit("weights", self.weights, "what counts how much", kCurvatureWeights);
    visit("weight_scale_m", self.weight_scale_m, "distance from the quadric that halves the weight",
          Range{1e-9, 1e3});
    visit("first_unweighted", self.first_unweighted, "least squares in the first iteration");
    visit("remove_bias", self.remove_bias, "exact on spheres and cylinders of any radius");
    visit("least_samples", self.least_samples, "fewer neighbours give no curvature", Range{6, 1e6});
    visit("clamp_per_m", self.clamp_per_m, "limit of the curvatures' size in 1/m; 0 for none",
          Range{0, 1e9});
    visit("viewpoint_x_m", self.viewpoint_m.x, "normals point towards it", Range{-1e9, 1e9});
    visit("viewpoint_y_m", self.viewpoint_m.y, "normals point towards it", Range{-1e9, 1e9});
    visit("viewpoint_z_m", self.viewpoint_m.z, "normals point towards it", Range{-1e9, 1e9});
  }
};

/// One of each for every point; NaN where `valid` is 0.
struct CloudCurvature {
  Buffer<float> k1_per_m;      ///< the larger principal curvature; positive on what is convex seen
  Buffer<float> k2_per_m;      ///< from outside
  Buffer<Vec3f> direction1;    ///< unit tangent along which the curvature is k1, of either sign
  Buffer<Vec3f> normals;       ///< unit, of the fitted quadric, to the outside
  Buffer<Vec3f> points;        ///< on the fitted quadric: the given ones without their noise
  Buffer<std::uint8_t> valid;  ///< 1 or 0
};

/// Where estimate_cloud_curvature_into writes; empty views are not written.
struct CloudCurvatureViews {
  View<float> k1_per_m;
  View<float> k2_per_m;
  View<Vec3f> direction1;
  View<Vec3f> normals;
  View<Vec3f> points;
  View<std::uint8_t> valid;
};

/// Principal curvatures of points in any order, in 1/m: the quadric of estimate_curvature, fitted
/// to the neighbours within a radius and started from their least-squares plane. `normals`, none or
/// one for each point, say which side is outside and nothing else; where there is none, or it is
/// NaN, that is the side of the viewpoint.
///
/// There is none where the point is not finite, where it has fewer than least_samples neighbours
/// with itself, and where they determine no quadric: all equal, on a line or on two. With robust
/// weights also where most neighbours disagree with the quadric, or where it is far sharper than
/// the neighbourhood is wide.
///
/// Accuracy: without noise, exact on planes, spheres and cylinders up to rounding (1e-3 of 1/radius
/// and less) while the radius is below that of the surface. CPU and CUDA agree within 1e-3 /
/// radius_m for 99.9 % of the points; same bits for every number of threads.
/// Cost: about 115 flop a neighbour and iteration. 100 thousand points with 110 neighbours each
/// take 0.28 s of one core with AVX-512. Memory does not grow with the neighbours. Does not wait
/// for the device unless radius_m is 0.
CloudCurvature estimate_cloud_curvature(const Context& context, View<const Vec3f> points,
                                        View<const Vec3f> normals = {},
                                        const CloudCurvatureOptions& options = {});

/// For the points of a grid, in the order in which they were given; allocates nothing and does not
/// wait, so radius_m must be given. Any grid of the points will do; cells as grid_options proposes
/// make it fast.
void estimate_cloud_curvature_into(const Context& context, const NeighbourGrid& grid,
                                   View<const Vec3f> normals, const CloudCurvatureOptions& options,
                                   const CloudCurvatureViews& out);
NeighbourGridOptions grid_options(const CloudCurvatureOptions& options);

/// The median, over some thousand of the points, of the distance within which a point has 60
/// neighbours; NaN when there are no 60 finite points, or when they coincide. Copies the points to
/// the host and waits for the device.
float curvature_radius_m(const Context& context, View<const Vec3f> points);

}  // namespace sextant
