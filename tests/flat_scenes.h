// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "sextant/synth/analytic_frame.h"

namespace sextant::testing {

/// A plane whose middle is `distance_m` away, turned out of the picture's plane by the angle.
inline AnalyticFrame plane_frame(const Camera& camera, double distance_m, double tilt_rad,
                                 double direction_rad = 0) {
  Rigid3d pose;
  pose.rotation =
      exp_rotation(Vec3d{std::sin(direction_rad), std::cos(direction_rad), 0} * tilt_rad);
  pose.translation = {0, 0, distance_m};
  const AnalyticShape plane = AnalyticShape::plane(pose);
  return render_analytic(Context::cpu(), camera, {&plane, 1});
}

/// A camera for a square picture.
inline Camera square_camera(int side_px, double focal_px) {
  const double middle = (side_px - 1) / 2.0;
  return {side_px, side_px, focal_px, focal_px, middle, middle, {}};
}

}  // namespace sextant::testing
