// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/pose/photo_fit/minimize.h"
#include "sextant/pose/photo_observation.h"

namespace sextant::detail::reprojection {

/// Two residuals with their derivatives by a small motion about the pivot.
struct Residuals {
  double value[2];
  double row[2][6];
};

/// The distance in pixels, u and v. A point behind the camera gives `behind` (1 - z), which pushes
/// it forward.
SEXTANT_HD inline Residuals residuals(const PinholeView& view, const Rigid3d& world_from_object,
                                      const Vec3d& pivot_m, const Vec3d& point_m,
                                      const Vec2d& at_px, double behind_px) {
  const Vec3d at_m = world_from_object * point_m;
  const Vec3d arm = at_m - pivot_m;
  const Vec3d p = view.camera_from_world * at_m;
  const Mat3d& turn = view.camera_from_world.rotation;
  Residuals r;
  if (!(p.z >= kNearestDepth_m)) {
    for (int i = 0; i < 2; ++i) {
      r.value[i] = behind_px * (1 - p.z);
      photo_fit::fill_row(r.row[i], turn.row[2] * -behind_px, arm);
    }
    return r;
  }
  const double x = p.x / p.z, y = p.y / p.z;
  r.value[0] = view.fx_px * x + view.cx_px - at_px.x;
  r.value[1] = view.fy_px * y + view.cy_px - at_px.y;
  photo_fit::fill_row(r.row[0], (turn.row[0] - turn.row[2] * x) * (view.fx_px / p.z), arm);
  photo_fit::fill_row(r.row[1], (turn.row[1] - turn.row[2] * y) * (view.fy_px / p.z), arm);
  return r;
}

/// MOPED's code minimises the fourth powers: its residuals are the squares of the distances, and
/// 10 - z for a point behind the camera.
SEXTANT_HD inline Residuals squared_residuals(const PinholeView& view,
                                              const Rigid3d& world_from_object,
                                              const Vec3d& pivot_m, const Vec3d& point_m,
                                              const Vec2d& at_px) {
  Residuals r = residuals(view, world_from_object, pivot_m, point_m, at_px, 1);
  const bool behind =
      !((view.camera_from_world * (world_from_object * point_m)).z >= kNearestDepth_m);
  for (int i = 0; i < 2; ++i) {
    if (behind) {
      r.value[i] += 9;
      continue;
    }
    for (double& slope : r.row[i]) slope *= 2 * r.value[i];
    r.value[i] *= r.value[i];
  }
  return r;
}

}  // namespace sextant::detail::reprojection
