// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sextant/core/image.h"
#include "sextant/geometry/cloud.h"
#include "sextant/surface/curvature.h"

// Ways to principal curvatures that the experiments compare, the peers' as plain references in
// double precision: for tables, not for use.

namespace sextant::app {

/// Principal curvatures of every pixel, k1 >= k2, in 1/m; NaN where there is none.
struct PrincipalCurvatures {
  std::vector<float> k1_per_m;
  std::vector<float> k2_per_m;

  explicit PrincipalCurvatures(std::size_t pixels) : k1_per_m(pixels, NAN), k2_per_m(pixels, NAN) {}
  bool has(std::size_t pixel) const {
    return std::isfinite(k1_per_m[pixel]) && std::isfinite(k2_per_m[pixel]);
  }
};

/// Least squares of z = A/2 x² + B x y + C/2 y² + D x + E y + F in the frame of the first normal
/// (Douros and Buxton, 2002), over the disc of 129 samples; curvature of the graph at the point.
/// Only pixels whose `wanted` is not 0; points and normals on the host.
PrincipalCurvatures douros_curvature(ImageView<const Vec3f> points, ImageView<const Vec3f> normals,
                                     const std::vector<char>& wanted);

/// The same with weights k / (k + e²), k = 1 mm², iterated three times (after Besl and Jain, 1988).
PrincipalCurvatures besl_curvature(ImageView<const Vec3f> points, ImageView<const Vec3f> normals,
                                   const std::vector<char>& wanted);

/// The covariance of the normals within the radius, projected onto the tangent plane: pc1 and pc2
/// as PCL defines them, a variance of normals that is no curvature. `normals` are one per point.
PrincipalCurvatures covariance_of_normals(View<const Vec3f> points, View<const Vec3f> normals,
                                          float radius_m, const std::vector<char>& wanted);

/// The curvature that such a pair stands for: normals on a sphere of radius R, over a disc of
/// radius ρ, have the variance ρ²/(4 R²) along each axis, so k = 2 sqrt(pc) / ρ.
PrincipalCurvatures calibrated(const PrincipalCurvatures& covariance, float radius_m);

/// PCL's own program on the cloud, not calibrated; nothing where it was not built. `every` n-th
/// point only.
std::optional<PrincipalCurvatures> pcl_covariance(const Cloud& cloud, float radius_m,
                                                  int every = 1);

/// Our fit with five steps on patches of this radius, whatever the noise.
CurvatureOptions five_steps(float radius_m);

/// Where the paper's fit starts (eq. 7): normals of z = a x + b y + c, fitted to the points of 7 ×
/// 7 pixels by least squares of z; estimate_normals fits their distances from the plane. On the
/// host.
Image<Vec3f> plane_form_normals(ImageView<const Vec3f> points);

/// estimate_curvature from the points alone, or started from these normals, brought to the host.
PrincipalCurvatures quadric_curvature(const Context& context, ImageView<const Vec3f> points,
                                      const CurvatureOptions& options);
PrincipalCurvatures quadric_curvature(const Context& context, ImageView<const Vec3f> points,
                                      ImageView<const Vec3f> normals,
                                      const CurvatureOptions& options);

}  // namespace sextant::app
