// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/input/cloud_frame.h"

#include <algorithm>
#include <cmath>

#include "sextant/core/line_sums.h"
#include "sextant/geometry/row_camera.h"
#include "sextant/render/rasterize.h"
#include "sextant/surface/cloud_resolution.h"

namespace sextant::app {

namespace {

/// Pixels without a depth between at least five that agree get their mean.
void fill_pores(Image<float>& depth_m, float agree_m) {
  const Image<float> before = copy(Context::cpu(), depth_m);
  for (int v = 1; v + 1 < depth_m.height(); ++v) {
    for (int u = 1; u + 1 < depth_m.width(); ++u) {
      if (before(u, v) > 0) continue;
      float low = INFINITY, high = 0, sum = 0;
      int count = 0;
      for (int dv = -1; dv <= 1; ++dv) {
        for (int du = -1; du <= 1; ++du) {
          const float z = before(u + du, v + dv);
          if (!(z > 0)) continue;
          low = std::min(low, z);
          high = std::max(high, z);
          sum += z;
          ++count;
        }
      }
      if (count >= 5 && high - low < agree_m) depth_m(u, v) = sum / static_cast<float>(count);
    }
  }
}

/// Points beside the camera would make a picture of any width.
bool is_in_reach(const Vec3f& p) {
  constexpr float kMostSlope = 2;
  return std::abs(p.x) <= kMostSlope * p.z && std::abs(p.y) <= kMostSlope * p.z;
}

}  // namespace

CloudFrame frame_of_cloud(const Cloud& cloud, const std::string& name) {
  const std::optional<Rigid3d> points_from_camera = find_row_camera(cloud);
  require(points_from_camera.has_value(), name, ": is no organised cloud of a camera");
  CloudFrame result{{}, inverse(*points_from_camera)};
  DepthFrame& frame = result.frame;
  frame.depth_m = Image<float>(Context::cpu(), cloud.width, cloud.height);
  if (cloud.colors.size() == cloud.size()) {
    frame.color = Image<Rgb8>(copy(Context::cpu(), cloud.colors), cloud.width, cloud.height);
  }
  const auto point_at = [&](int u, int v) {
    return result.camera_from_points *
           cast<double>(cloud.points.data()[std::int64_t{v} * cloud.width + u]);
  };
  LineSums columns, rows;  // pixels over slopes of rays
  for (int v = 0; v < cloud.height; ++v) {
    for (int u = 0; u < cloud.width; ++u) {
      const Vec3d p = point_at(u, v);
      const bool seen = is_finite(p) && p.z > 0;
      frame.depth_m(u, v) = seen ? static_cast<float>(p.z) : NAN;
      if (!seen) continue;
      columns.add(p.x / p.z, u);
      rows.add(p.y / p.z, v);
    }
  }
  require(columns.count > 100, name, ": has ", columns.count, " points before its camera");
  frame.camera = {cloud.width,
                  cloud.height,
                  columns.slope(),
                  rows.slope(),
                  columns.intercept(),
                  rows.intercept(),
                  {}};
  double worst_px = 0;
  for (int v = 0; v < cloud.height; ++v) {
    for (int u = 0; u < cloud.width; ++u) {
      if (!(frame.depth_m(u, v) > 0)) continue;
      const Vec2d pixel = project(frame.camera, point_at(u, v));
      worst_px = std::max({worst_px, std::abs(pixel.x - u), std::abs(pixel.y - v)});
    }
  }
  require(worst_px < 1, name, ": its rows are not those of a pinhole camera; a point lies ",
          worst_px, " px from its pixel");
  return result;
}

DepthFrame frame_of_scene(const TriangleMesh& scene) {
  const Context host = Context::cpu();
  const std::span<const Vec3f> points = scene.vertices.points.host();
  double left = INFINITY, top = INFINITY, right = -INFINITY, bottom = -INFINITY;
  std::vector<float> depths;
  for (const Vec3f& p : points) {
    if (!is_finite(p) || !(p.z > 0) || !is_in_reach(p)) continue;
    left = std::min(left, double{p.x / p.z});
    right = std::max(right, double{p.x / p.z});
    top = std::min(top, double{p.y / p.z});
    bottom = std::max(bottom, double{p.y / p.z});
    depths.push_back(p.z);
  }
  require(depths.size() > 100, "the scene has ", depths.size(), " points before the camera");
  std::nth_element(depths.begin(), depths.begin() + static_cast<std::ptrdiff_t>(depths.size() / 2),
                   depths.end());
  const double median_m = depths[depths.size() / 2];
  const bool drawn = scene.triangles.size() > 0;
  // A drawn surface has a depth everywhere; points must be at least as dense as pixels.
  const double pitch_m = cloud_spacing_m(host, scene.vertices.points) * (drawn ? 1.0 : 1.3);
  const double focal_px = std::min(median_m / pitch_m, 1200 / std::max(right - left, bottom - top));
  DepthFrame frame;
  frame.camera = {static_cast<int>(std::ceil((right - left) * focal_px)) + 3,
                  static_cast<int>(std::ceil((bottom - top) * focal_px)) + 3,
                  focal_px,
                  focal_px,
                  1 - left * focal_px,
                  1 - top * focal_px,
                  {}};
  if (drawn) {
    const RenderScene meshes(host, scene);
    const Instance instance{};
    Rendering seen = render(host, meshes, frame.camera, {&instance, 1});
    frame.depth_m = Image<float>(std::move(seen.depth_m), seen.width, seen.height);
    return frame;
  }
  frame.depth_m = Image<float>(host, frame.camera.width, frame.camera.height);
  std::fill(frame.depth_m.pixels().host().begin(), frame.depth_m.pixels().host().end(), NAN);
  for (const Vec3f& p : points) {
    const Vec2d pixel = project(frame.camera, cast<double>(p));
    if (!std::isfinite(pixel.x) || !is_in_reach(p)) continue;
    float& z = frame.depth_m(static_cast<int>(std::lround(pixel.x)),
                             static_cast<int>(std::lround(pixel.y)));
    if (!(z <= p.z)) z = p.z;
  }
  fill_pores(frame.depth_m, static_cast<float>(4 * pitch_m));
  return frame;
}

}  // namespace sextant::app
