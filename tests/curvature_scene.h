// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>

#include "sextant/surface/curvature.h"
#include "sextant/surface/normals.h"
#include "sextant/synth/analytic_shape.h"
#include "tests/devices.h"
#include "tests/organised_scene.h"

namespace sextant::testing {

/// The CPU and every CUDA device, for bodies that are too long for every number of threads.
inline std::vector<Context> each_device() {
  std::vector<Context> contexts;
  for (const Context& context : all_contexts()) {
    if (context.is_cuda() || context.threads() == 2) contexts.push_back(context);
  }
  return contexts;
}

/// A curvature image in host memory, row by row.
struct HostCurvature {
  std::vector<float> k1;
  std::vector<float> k2;
  std::vector<Vec3f> direction1;
  std::vector<Vec3f> normals;
  std::vector<Vec3f> points;
  std::vector<std::uint8_t> valid;

  /// For normals of another method: everything else is zero and valid.
  void fill_rest(const std::vector<Vec3f>& measured) {
    k1.assign(normals.size(), 0.0f);
    k2.assign(normals.size(), 0.0f);
    points = measured;
    valid.assign(normals.size(), 1);
  }
};

inline HostCurvature to_host_curvature(const Context& context, const Curvature& of) {
  return {to_host(context, of.k1_per_m.pixels()),   to_host(context, of.k2_per_m.pixels()),
          to_host(context, of.direction1.pixels()), to_host(context, of.normals.pixels()),
          to_host(context, of.points.pixels()),     to_host(context, of.valid.pixels())};
}

/// Five steps on patches of this radius, whatever the noise.
inline CurvatureOptions metric_curvature(float radius_m) {
  CurvatureOptions options = pixel_curvature();
  options.stride_px = 0;
  options.radius_m = radius_m;
  return options;
}

/// Starting from estimate_normals, or from the normals given.
inline HostCurvature curvature_of(const Context& context, const OrganisedScene& scene,
                                  const CurvatureOptions& options = {},
                                  const std::vector<Vec3f>* normals = nullptr) {
  const Image<Vec3f> points = scene.on(context);
  const Image<Vec3f> start = normals != nullptr
                                 ? Image<Vec3f>(copy(context, *normals), scene.width, scene.height)
                                 : estimate_normals(context, points);
  return to_host_curvature(context, estimate_curvature(context, points, start, options));
}

struct CurvatureErrors {
  double rms_k1 = 0;
  double rms_k2 = 0;
  double mean_k1 = 0;
  double mean_k2 = 0;
  double largest = 0;     ///< of k1 and k2
  double nearly_all = 0;  ///< 99.5 % of the pixels have errors below this
  double mean_normal_deg = 0;
  double largest_normal_deg = 0;
  double largest_offset_m = 0;  ///< from the measured point along the true normal
  int pixels = 0;
  int missing = 0;  ///< points without a curvature
};

/// Against one pair of curvatures, over the points of the pixels that `where` chooses.
template <class Where>
CurvatureErrors curvature_errors(const OrganisedScene& scene, const HostCurvature& of, double k1,
                                 double k2, const Where& where) {
  CurvatureErrors errors;
  std::vector<double> each;
  for (int v = 0; v < scene.height; ++v) {
    for (int u = 0; u < scene.width; ++u) {
      const auto i = static_cast<std::size_t>(v * scene.width + u);
      if (!where(u, v) || !is_finite(scene.points[i])) continue;
      if (of.valid[i] == 0 || !std::isfinite(of.k1[i]) || !std::isfinite(of.k2[i])) {
        ++errors.missing;
        continue;
      }
      const double e1 = of.k1[i] - k1;
      const double e2 = of.k2[i] - k2;
      errors.rms_k1 += e1 * e1;
      errors.rms_k2 += e2 * e2;
      errors.mean_k1 += of.k1[i];
      errors.mean_k2 += of.k2[i];
      each.push_back(std::max(std::abs(e1), std::abs(e2)));
      errors.largest = std::max(errors.largest, each.back());
      const double angle = degrees(angle_rad(cast<double>(of.normals[i]), scene.normals[i]));
      errors.mean_normal_deg += angle;
      errors.largest_normal_deg = std::max(errors.largest_normal_deg, angle);
      const Vec3d offset = cast<double>(of.points[i]) - cast<double>(scene.points[i]);
      errors.largest_offset_m =
          std::max(errors.largest_offset_m, std::abs(dot(offset, scene.normals[i])));
      ++errors.pixels;
    }
  }
  if (!each.empty()) {
    std::sort(each.begin(), each.end());
    errors.nearly_all = each[(each.size() - 1) * 995 / 1000];
  }
  const double count = std::max(errors.pixels, 1);
  errors.rms_k1 = std::sqrt(errors.rms_k1 / count);
  errors.rms_k2 = std::sqrt(errors.rms_k2 / count);
  errors.mean_k1 /= count;
  errors.mean_k2 /= count;
  errors.mean_normal_deg /= count;
  return errors;
}

/// Moves a share of the points along their rays: by 60 mm, or by at most that.
inline OrganisedScene with_outliers(OrganisedScene scene, double share, bool always,
                                    std::uint64_t seed) {
  for (std::size_t i = 0; i < scene.points.size(); ++i) {
    const Random random{seed + 1, i};
    if (random.uniform(0) >= share) continue;
    const float side = 2 * random.uniform(1) - 1;
    const float by = always ? (side < 0 ? -0.06f : 0.06f) : 0.06f * side;
    scene.points[i] = scene.points[i] * (1.0f + by / scene.points[i].z);
  }
  return scene;
}

/// A shape that has curvatures of its own at every pixel.
struct ShapeScene {
  OrganisedScene scene;
  std::vector<double> k1;
  std::vector<double> k2;
};

inline ShapeScene shape_scene(const AnalyticShape& shape, const SceneView& view) {
  ShapeScene result;
  const auto surface = [&](const Vec3d& ray) -> std::optional<Hit> {
    const ShapeHit hit = intersect(shape, ray);
    result.k1.push_back(hit.k1_per_m);
    result.k2.push_back(hit.k2_per_m);
    if (!(hit.depth_m < std::numeric_limits<double>::infinity())) return {};
    return Hit{hit.depth_m, hit.normal};
  };
  result.scene = look_at(surface, view);
  return result;
}

/// A torus that faces the camera.
inline ShapeScene torus_scene(double ring_m, double tube_m, double distance_m, int size_px,
                              double focal_px) {
  Rigid3d pose;
  pose.translation = {0, 0, distance_m};
  return shape_scene(AnalyticShape::torus(ring_m, tube_m, pose),
                     {.width = size_px, .height = size_px, .focal_px = focal_px});
}

/// A cylinder of this radius whose axis passes through (0, 0, 1), across the line of sight.
inline OrganisedScene turned_cylinder(const Vec3d& axis, double radius_m, const SceneView& view) {
  const auto surface = [&](const Vec3d& ray) -> std::optional<Hit> {
    const Vec3d flat_ray = ray - axis * dot(axis, ray);
    const Vec3d centre{0, 0, 1};
    const double a = norm_sq(flat_ray);
    const double b = dot(flat_ray, centre);
    const double discriminant = b * b - a * (1 - radius_m * radius_m);
    if (discriminant <= 0) return {};
    const double depth = (b - std::sqrt(discriminant)) / a;
    return Hit{depth, (flat_ray * depth - centre) / radius_m};
  };
  return look_at(surface, view);
}

}  // namespace sextant::testing
