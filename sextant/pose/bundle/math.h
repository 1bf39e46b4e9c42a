// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/pose/bundle.h"
#include "sextant/pose/photo_observation.h"

namespace sextant::detail::bundle {

/// What is adjusted of a camera, in this order: the logarithm of the focal lengths, cx, cy, k1.
inline constexpr int kCameraUnknowns = 4;

/// Where a camera sees a point, and the derivatives of the two coordinates.
struct Projection {
  Vec2d at_px;
  bool in_front = false;
  Vec3d by_place[2];                     ///< by the point's place in the camera's frame
  double by_camera[2][kCameraUnknowns];  ///< by what is adjusted of the camera
};

inline Projection project_with_slopes(const Camera& camera, const Vec3d& p) {
  Projection result;
  if (!(p.z >= kNearestDepth_m)) return result;
  const Distortion<double>& d = camera.distortion;
  const double x = p.x / p.z, y = p.y / p.z, r2 = x * x + y * y;
  const double radial = 1 + r2 * (d.k1 + r2 * (d.k2 + r2 * d.k3));
  const double slope = d.k1 + r2 * (2 * d.k2 + r2 * 3 * d.k3);  // of `radial` by r²
  const Vec2d bent = distort(d, Vec2d{x, y});
  result.in_front = grows_outwards(d, r2);
  result.at_px = {camera.fx_px * bent.x + camera.cx_px, camera.fy_px * bent.y + camera.cy_px};
  const double xx = radial + 2 * x * x * slope + 2 * d.p1 * y + 6 * d.p2 * x;
  const double xy = 2 * x * y * slope + 2 * d.p1 * x + 2 * d.p2 * y;
  const double yy = radial + 2 * y * y * slope + 6 * d.p1 * y + 2 * d.p2 * x;
  const Vec3d ideal_x{1 / p.z, 0, -x / p.z}, ideal_y{0, 1 / p.z, -y / p.z};
  result.by_place[0] = (ideal_x * xx + ideal_y * xy) * camera.fx_px;
  result.by_place[1] = (ideal_x * xy + ideal_y * yy) * camera.fy_px;
  const double u[kCameraUnknowns] = {camera.fx_px * bent.x, 1, 0, camera.fx_px * x * r2};
  const double v[kCameraUnknowns] = {camera.fy_px * bent.y, 0, 1, camera.fy_px * y * r2};
  for (int i = 0; i < kCameraUnknowns; ++i) {
    result.by_camera[0][i] = u[i];
    result.by_camera[1][i] = v[i];
  }
  return result;
}

/// The camera after a step of its unknowns.
inline Camera moved(const Camera& camera, const double (&step)[kCameraUnknowns]) {
  Camera to = camera;
  to.fx_px *= std::exp(step[0]);
  to.fy_px *= std::exp(step[0]);
  to.cx_px += step[1];
  to.cy_px += step[2];
  to.distortion.k1 += step[3];
  return to;
}

/// The pose after a small turn and shift in the camera's frame.
inline Rigid3d moved(const Rigid3d& camera_from_world, const double* step) {
  const Mat3d turn = exp_rotation(Vec3d{step[0], step[1], step[2]});
  return renormalized(
      Rigid3d{turn * camera_from_world.rotation,
              turn * camera_from_world.translation + Vec3d{step[3], step[4], step[5]}});
}

/// Huber's function of a squared distance, and the weight that its square gets.
struct Loss {
  double cost, weight;
};
inline Loss huber(double squared, double outlier) {
  if (squared <= outlier * outlier) return {squared, 1};
  const double distance = std::sqrt(squared);
  return {2 * outlier * distance - outlier * outlier, outlier / distance};
}

}  // namespace sextant::detail::bundle
