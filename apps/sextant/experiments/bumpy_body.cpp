// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/experiments/bumpy_body.h"

#include <cmath>
#include <numbers>

namespace sextant::app {

namespace {

constexpr double kRadius_m = 0.1;

struct Wave {
  Vec3d turns;  ///< radians along each axis of the unit sphere
  double height;
  double phase;
};
constexpr Wave kWaves[] = {{{3.1, 0.7, -1.9}, 0.10, 0.3},   {{-2.3, 4.4, 1.2}, 0.07, 1.1},
                           {{5.0, -3.7, 6.1}, 0.04, 2.0},   {{-7.9, 6.3, -4.8}, 0.03, 0.8},
                           {{10.3, 12.1, 7.7}, 0.015, 2.7}, {{-15.2, 9.4, 17.8}, 0.008, 1.6}};

struct BodyPoint {
  Vec3d point;
  Vec3d scaled_normal;  ///< its length times r² is the area for a unit of solid angle
};

/// The body is |x| = r(x / |x|) with r = R (1 + Σ h cos(k·u + φ)); its normal is u - ∇r / r, where
/// ∇ is the gradient along the sphere.
BodyPoint body_point(const Vec3d& u) {
  double share = 1;
  Vec3d slope{};
  for (const Wave& wave : kWaves) {
    const double angle = dot(wave.turns, u) + wave.phase;
    share += wave.height * std::cos(angle);
    slope += wave.turns * (-wave.height * std::sin(angle));
  }
  const Vec3d along = slope - u * dot(slope, u);
  return {u * (kRadius_m * share), u - along / share};
}

Vec3d lattice_direction(std::int64_t i, std::int64_t points) {
  const double z = 1 - (2 * static_cast<double>(i) + 1) / static_cast<double>(points);
  const double turn = static_cast<double>(i) * std::numbers::pi * (3 - std::sqrt(5.0));
  const double radius = std::sqrt(1 - z * z);
  return {radius * std::cos(turn), radius * std::sin(turn), z};
}

}  // namespace

Cloud bumpy_body(std::int64_t points) {
  Cloud cloud;
  cloud.points = Buffer<Vec3f>(Context::cpu(), points);
  cloud.normals = Buffer<Vec3f>(Context::cpu(), points);
  for (std::int64_t i = 0; i < points; ++i) {
    const BodyPoint p = body_point(lattice_direction(i, points));
    cloud.points.data()[i] = cast<float>(p.point);
    cloud.normals.data()[i] = cast<float>(normalized(p.scaled_normal));
  }
  return cloud;
}

double bumpy_body_area_sq_m() {
  constexpr std::int64_t kDirections = 20000;
  double sum = 0;
  for (std::int64_t i = 0; i < kDirections; ++i) {
    const BodyPoint p = body_point(lattice_direction(i, kDirections));
    sum += norm_sq(p.point) * norm(p.scaled_normal);
  }
  return 4 * std::numbers::pi * sum / static_cast<double>(kDirections);
}

}  // namespace sextant::app
