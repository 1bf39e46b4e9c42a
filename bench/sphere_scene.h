// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "sextant/core/random.h"
#include "sextant/core/vec.h"

namespace sextant::measure {

inline constexpr int kWidth = 640;
inline constexpr int kHeight = 480;
inline constexpr double kFocal_px = 525;

/// A sphere of 0.1 m radius at 1 m in front of a tilted wall at 1.5 m.
struct SphereScene {
  std::vector<Vec3f> points;
  std::vector<Vec3d> sphere_normals;  ///< NaN where the error is not measured
};

inline SphereScene make_sphere_scene(double noise_m) {
  SphereScene scene;
  const Vec3d centre{0, 0, 1};
  constexpr double kRadius_m = 0.1;
  // 4 px inside the outline, so that no window of 7 x 7 sees the wall.
  const double outline_px = kFocal_px * kRadius_m / std::sqrt(1 - kRadius_m * kRadius_m);
  for (int v = 0; v < kHeight; ++v) {
    for (int u = 0; u < kWidth; ++u) {
      const double x = u - (kWidth - 1) / 2.0;
      const double y = v - (kHeight - 1) / 2.0;
      const Vec3d ray{x / kFocal_px, y / kFocal_px, 1};
      const double a = norm_sq(ray);
      const double discriminant = 1 - a * (1 - kRadius_m * kRadius_m);
      const bool sphere = discriminant > 0;
      const double depth = sphere ? (1 - std::sqrt(discriminant)) / a : 1.5 / (1 + 0.3 * ray.x);
      const bool measured = sphere && std::hypot(x, y) < outline_px - 4 * std::sqrt(2.0);
      scene.sphere_normals.push_back(measured ? (ray * depth - centre) / kRadius_m
                                              : Vec3d{NAN, NAN, NAN});
      const Random random{5, static_cast<std::uint64_t>(v * kWidth + u)};
      scene.points.push_back(cast<float>(ray * (depth + noise_m * random.normal(0))));
    }
  }
  return scene;
}

/// The mean angle to the truth, the normal's sign aside, over the pixels that have a normal.
template <class NormalAt>
double mean_error_deg(const SphereScene& scene, const NormalAt& normal_at) {
  double sum = 0;
  int count = 0;
  for (std::size_t i = 0; i < scene.points.size(); ++i) {
    if (!is_finite(scene.sphere_normals[i])) continue;
    const Vec3d n = normal_at(i);
    if (!is_finite(n)) continue;
    const Vec3d& truth = scene.sphere_normals[i];
    sum += std::atan2(norm(cross(n, truth)), std::abs(dot(n, truth)));
    ++count;
  }
  return count > 0 ? sum / count * 180 / std::numbers::pi : NAN;
}

}  // namespace sextant::measure
