// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/learn_mesh/view_sphere.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sextant::detail::learn {

double working_distance_m(const Camera& camera, double radius_m, double max_depth_m) {
  constexpr double kUsual_m = 0.8, kFilled = 0.8;
  const double half =
      kFilled * 0.5 * std::min(camera.width / camera.fx_px, camera.height / camera.fy_px);
  // The ball's outline lies at the angle asin(radius / distance) from the axis.
  const double fits_m = radius_m / std::sin(std::atan(half));
  return std::max(std::min(std::max(kUsual_m, fits_m), max_depth_m - radius_m), 1.2 * radius_m);
}

Vec3d direction_of(int number, int count) {
  const double z = 1.0 - (2.0 * number + 1.0) / count;
  const double angle = number * std::numbers::pi * (3.0 - std::sqrt(5.0));
  const double radius = std::sqrt(1.0 - z * z);
  return {radius * std::cos(angle), radius * std::sin(angle), z};
}

Rigid3d look_at(const Vec3d& centre_m, const Vec3d& direction, double distance_m) {
  const Vec3d forward = normalized(direction) * -1.0;
  const Vec3d other = std::abs(forward.z) < 0.9 ? Vec3d{0, 0, 1} : Vec3d{1, 0, 0};
  Rigid3d pose;
  pose.rotation.row[0] = normalized(cross(forward, other));
  pose.rotation.row[1] = cross(forward, pose.rotation.row[0]);
  pose.rotation.row[2] = forward;
  pose.translation = Vec3d{0, 0, distance_m} - pose.rotation * centre_m;
  return pose;
}

namespace {

/// Whether a symmetry carries one direction to within an angle of the other.
bool repeats(const Vec3d& a, const Vec3d& b, const Symmetries& symmetries, double angle_rad) {
  const double least = std::cos(angle_rad);
  for (const Rigid3d& motion : symmetries.discrete) {
    if (dot(motion.rotation * a, b) > least) return true;
  }
  for (const ContinuousSymmetry& turning : symmetries.continuous) {
    const auto angle = [&](const Vec3d& v) {
      return std::acos(std::clamp(dot(v, turning.axis), -1.0, 1.0));
    };
    if (std::abs(angle(a) - angle(b)) < angle_rad) return true;
    // Symmetries that turn the axis over, such as those of a cylinder, stand in both lists.
    for (const Rigid3d& motion : symmetries.discrete) {
      if (std::abs(angle(motion.rotation * a) - angle(b)) < angle_rad) return true;
    }
  }
  return false;
}

}  // namespace

std::vector<Vec3d> different_directions(int count, const Symmetries& symmetries) {
  // Each direction has 4 pi / count of the sphere to itself.
  const double half_spacing_rad = 0.5 * std::sqrt(4.0 * std::numbers::pi / count);
  std::vector<Vec3d> kept;
  for (int number = 0; number < count; ++number) {
    const Vec3d direction = direction_of(number, count);
    const bool known = std::any_of(kept.begin(), kept.end(), [&](const Vec3d& other) {
      return repeats(direction, other, symmetries, half_spacing_rad);
    });
    if (!known) kept.push_back(direction);
  }
  return kept;
}

Camera cropped(const Camera& camera, const Rigid3d& camera_from_object, const Bounds& box) {
  constexpr double kMargin_px = 16;  // what filters look at beyond the outline
  double low_u = camera.width, low_v = camera.height, high_u = -1, high_v = -1;
  for (int corner = 0; corner < 8; ++corner) {
    const Vec3d point{static_cast<double>(corner & 1 ? box.high.x : box.low.x),
                      static_cast<double>(corner & 2 ? box.high.y : box.low.y),
                      static_cast<double>(corner & 4 ? box.high.z : box.low.z)};
    const Vec3d seen = camera_from_object * point;
    if (!(seen.z > 0)) return camera;  // so near that the box has no outline
    const double u = camera.fx_px * seen.x / seen.z + camera.cx_px;
    const double v = camera.fy_px * seen.y / seen.z + camera.cy_px;
    low_u = std::min(low_u, u), high_u = std::max(high_u, u);
    low_v = std::min(low_v, v), high_v = std::max(high_v, v);
  }
  const int left = static_cast<int>(std::clamp(low_u - kMargin_px, 0.0, camera.width - 1.0));
  const int top = static_cast<int>(std::clamp(low_v - kMargin_px, 0.0, camera.height - 1.0));
  const int right = static_cast<int>(std::clamp(high_u + kMargin_px, 0.0, camera.width - 1.0));
  const int bottom = static_cast<int>(std::clamp(high_v + kMargin_px, 0.0, camera.height - 1.0));
  Camera part = camera;
  part.width = right - left + 1;
  part.height = bottom - top + 1;
  part.cx_px -= left;
  part.cy_px -= top;
  return part;
}

}  // namespace sextant::detail::learn
