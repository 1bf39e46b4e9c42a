// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include "sextant/core/image.h"
#include "sextant/core/random.h"
#include "sextant/core/vec.h"
#include "tests/devices.h"

namespace sextant::testing {

/// Where a ray meets a surface.
struct Hit {
  double depth_m;  ///< z of the point
  Vec3d normal;    ///< unit, towards the origin
};

/// An analytic surface seen by a pinhole camera at the origin: points with their true normals, row
/// by row. NaN where the ray meets nothing.
struct OrganisedScene {
  int width = 0;
  int height = 0;
  std::vector<Vec3f> points;
  std::vector<Vec3d> normals;

  Image<Vec3f> on(const Context& context) const {
    return Image<Vec3f>(copy(context, points), width, height);
  }
  Vec3f& point(int u, int v) { return points[static_cast<std::size_t>(v * width + u)]; }
};

inline std::vector<Vec3f> normals_of(const OrganisedScene& scene) {
  std::vector<Vec3f> normals;
  for (const Vec3d& n : scene.normals) normals.push_back(cast<float>(n));
  return normals;
}

struct SceneView {
  int width = 160;
  int height = 120;
  double focal_px = 525;
  double noise_m = 0;  ///< deviation of the depth
  std::uint64_t seed = seed_of_test();
};

/// `surface` takes the ray (X/Z, Y/Z, 1) and returns std::optional<Hit>.
template <class Surface>
OrganisedScene look_at(const Surface& surface, const SceneView& view = {}) {
  OrganisedScene scene{view.width, view.height, {}, {}};
  const double cx = (view.width - 1) / 2.0;
  const double cy = (view.height - 1) / 2.0;
  for (int v = 0; v < view.height; ++v) {
    for (int u = 0; u < view.width; ++u) {
      const Vec3d ray{(u - cx) / view.focal_px, (v - cy) / view.focal_px, 1.0};
      const std::optional<Hit> hit = surface(ray);
      if (!hit) {
        scene.points.push_back({NAN, NAN, NAN});
        scene.normals.push_back({NAN, NAN, NAN});
        continue;
      }
      const Random random{view.seed, static_cast<std::uint64_t>(v * view.width + u)};
      const double noise = view.noise_m > 0 ? view.noise_m * random.normal(0) : 0.0;
      scene.points.push_back(cast<float>(ray * (hit->depth_m + noise)));
      scene.normals.push_back(hit->normal);
    }
  }
  return scene;
}

/// The plane through (0, 0, distance) with this normal direction.
struct PlaneSurface {
  double distance_m = 1.0;
  Vec3d normal{0, 0, -1};

  std::optional<Hit> operator()(const Vec3d& ray) const {
    const Vec3d n = normalized(normal);
    const double depth = n.z * distance_m / dot(n, ray);
    if (!(depth > 0)) return {};
    return Hit{depth, n.z < 0 ? n : -n};
  }
};

struct SphereSurface {
  Vec3d centre{0, 0, 1};
  double radius_m = 0.1;

  std::optional<Hit> operator()(const Vec3d& ray) const {
    const double a = norm_sq(ray);
    const double b = dot(ray, centre);
    const double discriminant = b * b - a * (norm_sq(centre) - radius_m * radius_m);
    if (discriminant <= 0) return {};
    const double depth = (b - std::sqrt(discriminant)) / a;
    return Hit{depth, (ray * depth - centre) / radius_m};
  }
};

/// A ball, and a wall at z = wall_m where the ray misses it.
struct BallBeforeWall {
  SphereSurface ball;
  double wall_m = 1;

  std::optional<Hit> operator()(const Vec3d& ray) const {
    const std::optional<Hit> hit = ball(ray);
    return hit ? hit : PlaneSurface{wall_m}(ray);
  }
};

/// Its axis is parallel to y.
struct CylinderSurface {
  Vec3d centre{0, 0, 1};
  double radius_m = 0.1;

  std::optional<Hit> operator()(const Vec3d& ray) const {
    const Vec3d flat_ray{ray.x, 0, ray.z};
    const Vec3d flat_centre{centre.x, 0, centre.z};
    const double a = norm_sq(flat_ray);
    const double b = dot(flat_ray, flat_centre);
    const double discriminant = b * b - a * (norm_sq(flat_centre) - radius_m * radius_m);
    if (discriminant <= 0) return {};
    const double depth = (b - std::sqrt(discriminant)) / a;
    return Hit{depth, (flat_ray * depth - flat_centre) / radius_m};
  }
};

inline double angle_rad(const Vec3d& a, const Vec3d& b) {
  return std::atan2(norm(cross(a, b)), dot(a, b));
}
inline double degrees(double rad) { return rad * 180 / std::numbers::pi; }

}  // namespace sextant::testing
