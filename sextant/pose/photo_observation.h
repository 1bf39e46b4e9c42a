// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/posed_camera.h"

namespace sextant {

/// A point of an object and where a camera sees it.
struct PhotoObservation {
  Vec3d point_m;            ///< in the object's frame
  Vec2d at_px;              ///< in a photograph without lens distortion
  std::int32_t camera = 0;  ///< of the list of views
};

/// A camera without distortion, placed in the world.
struct PinholeView {
  double fx_px = 1, fy_px = 1, cx_px = 0, cy_px = 0;
  Rigid3d camera_from_world;
};

SEXTANT_HD inline PinholeView pinhole_view(const PosedCamera& posed) {
  const Camera& camera = posed.camera;
  return {camera.fx_px, camera.fy_px, camera.cx_px, camera.cy_px, inverse(posed.world_from_camera)};
}

/// The direction, in the camera's frame and of any length, in which a pixel looks.
SEXTANT_HD inline Vec3d ray_of(const PinholeView& view, const Vec2d& at_px) {
  return {(at_px.x - view.cx_px) / view.fx_px, (at_px.y - view.cy_px) / view.fy_px, 1};
}

/// Points nearer to the camera's plane than this are as good as behind it: they agree with nothing.
inline constexpr double kNearestDepth_m = 1e-3;

/// The square of the distance, in pixels, between where a point would be seen and where it was;
/// infinite for a point behind the camera.
SEXTANT_HD inline double squared_error_px(const PinholeView& view,
                                          const Rigid3d& camera_from_object, const Vec3d& point_m,
                                          const Vec2d& at_px) {
  const Vec3d p = camera_from_object * point_m;
  if (!(p.z >= kNearestDepth_m)) return INFINITY;
  const double du = view.fx_px * p.x / p.z + view.cx_px - at_px.x;
  const double dv = view.fy_px * p.y / p.z + view.cy_px - at_px.y;
  return du * du + dv * dv;
}

}  // namespace sextant
