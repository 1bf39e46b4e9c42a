// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/surface/segment/fit_math.h"

// What the models that were fitted to a region say about it: its kind, whether it is a plane with
// something else that leaked into it, and whether it and a neighbour are one plane.

namespace sextant::detail::segment {

/// What a sphere or cylinder may leave of what the plane leaves. The plane is simpler, so that
/// noise alone must not beat it.
inline constexpr double kCurvedMargin = 0.6;

SEXTANT_HD inline bool is_curved_model(const RegionFit& fit, double radius_m, double rms_m) {
  return radius_m > 0 && radius_m <= kMostRadius * fit.extent_m && rms_m <= fit.most_deviation_m &&
         rms_m <= kCurvedMargin * fit.plane_rms_m;
}

SEXTANT_HD inline SurfaceKind kind_of(const RegionFit& fit) {
  const bool sphere = is_curved_model(fit, fit.best_sphere.radius_m, fit.best_sphere.rms_m);
  const bool cylinder = is_curved_model(fit, fit.best_cylinder.radius_m, fit.best_cylinder.rms_m);
  // A cylinder has one number more to fit with.
  constexpr double kCylinderMargin = 0.8;
  if (cylinder && !(sphere && fit.best_cylinder.rms_m > kCylinderMargin * fit.best_sphere.rms_m)) {
    return SurfaceKind::kCylinder;
  }
  if (sphere) return SurfaceKind::kSphere;
  return fit.plane_rms_m <= fit.most_deviation_m ? SurfaceKind::kPlane : SurfaceKind::kFreeForm;
}

/// Points farther from a plane than this many tolerances do not belong to it.
inline constexpr double kFar = 3.0;
/// The part of a ball or a pipe that faces the camera is nearly flat, but its normals are not
/// alike: those of a plane are, within 20°.
inline constexpr double kCosAlike = 0.94;

/// A plane through the points near the plane so far. The region is that plane and something else
/// when most points lie on it and the others well away: a surface that is only bent has its far
/// points just beyond the limit.
SEXTANT_HD inline void fit_to_near_side(RegionFit& fit, const PlaneSides& sides) {
  constexpr double kLeastShare = 0.7;
  constexpr double kWellAway = 6.0;
  constexpr double kLeastFar = 50;
  constexpr double kLeastPoints = 10;
  fit.parts = false;
  if (!(sides.near.count >= kLeastPoints)) return;
  const RegionFit near = fit_from_moments(sides.near, fit.origin, fit.tolerance_m, false);
  fit.mean = near.mean;
  fit.plane_normal = near.plane_normal;
  fit.parts = sides.near.count >= kLeastShare * fit.count && sides.far >= kLeastFar &&
              sides.far_sq >= kWellAway * kWellAway * sides.far;
}

/// The axis without its sign: its largest component is positive.
SEXTANT_HD inline Vec3d without_sign(const Vec3d& axis) {
  const double x = std::abs(axis.x), y = std::abs(axis.y), z = std::abs(axis.z);
  const double largest = x >= y && x >= z ? axis.x : y >= z ? axis.y : axis.z;
  return largest < 0 ? -axis : axis;
}

SEXTANT_HD inline SurfaceRegion finished_region(const RegionFit& fit, std::int32_t first_index) {
  SurfaceRegion region;
  region.kind = kind_of(fit);
  region.first_index = first_index;
  region.points = static_cast<std::int32_t>(fit.points);
  region.area_m2 = static_cast<float>(fit.area_m2);
  region.centre_m = cast<float>(fit.origin + fit.mean);
  region.normal = cast<float>(fit.mean_normal);
  region.rms_m = static_cast<float>(fit.plane_rms_m);
  if (region.kind == SurfaceKind::kPlane) {
    region.normal = cast<float>(fit.plane_normal);
    region.offset_m = static_cast<float>(dot(fit.plane_normal, fit.origin + fit.mean));
  } else if (region.kind == SurfaceKind::kSphere) {
    region.radius_m = static_cast<float>(fit.best_sphere.radius_m);
    region.model_centre_m = cast<float>(fit.origin + fit.best_sphere.centre);
    region.rms_m = static_cast<float>(fit.best_sphere.rms_m);
  } else if (region.kind == SurfaceKind::kCylinder) {
    const CylinderModel& m = fit.best_cylinder;
    const Vec3d beside = m.centre + m.axis * dot(m.axis, fit.mean - m.centre);
    region.axis = cast<float>(without_sign(m.axis));
    region.radius_m = static_cast<float>(m.radius_m);
    region.model_centre_m = cast<float>(fit.origin + beside);
    region.rms_m = static_cast<float>(m.rms_m);
  }
  return region;
}

/// Whether two planar regions are parts of one plane: the smaller lies on the larger's plane.
SEXTANT_HD inline bool is_same_plane(const RegionFit& a, const RegionFit& b, double cos_angle) {
  const bool a_larger = a.points > b.points || (a.points == b.points && !(b.count > a.count));
  const RegionFit& large = a_larger ? a : b;
  const RegionFit& small = a_larger ? b : a;
  if (!(large.plane_rms_m <= large.most_deviation_m)) return false;
  if (!(std::abs(dot(large.plane_normal, small.plane_normal)) >= cos_angle)) return false;
  const Vec3d apart = (small.origin - large.origin) + small.mean - large.mean;
  const double offset = dot(large.plane_normal, apart);
  const double deviation_sq =
      dot(large.plane_normal, small.covariance * large.plane_normal) + offset * offset;
  return deviation_sq <= small.most_deviation_m * small.most_deviation_m;
}

}  // namespace sextant::detail::segment
