// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/picture/axes_picture.h"

#include <algorithm>
#include <numbers>

#include "sextant/core/eigen3.h"
#include "sextant/render/rasterize.h"

namespace sextant::app {

namespace {

constexpr Rgb8 kSurface{205, 205, 195};
constexpr Rgb8 kEveryTurn{220, 40, 30};
constexpr Rgb8 kSomeTurns{40, 80, 210};

/// A rod about the origin in direction z of the frame, one long and a hundredth thick.
TriangleMesh rod(const Rgb8& color) {
  constexpr int kSides = 10;
  std::vector<Vec3f> points;
  std::vector<Vec3i> triangles;
  for (int i = 0; i < kSides; ++i) {
    const double turn = 2 * std::numbers::pi * i / kSides;
    for (const float z : {-0.5f, 0.5f}) {
      points.push_back({0.006f * static_cast<float>(std::cos(turn)),
                        0.006f * static_cast<float>(std::sin(turn)), z});
    }
    const int a = 2 * i, b = 2 * ((i + 1) % kSides);
    triangles.push_back({a, b, b + 1});
    triangles.push_back({a, b + 1, a + 1});
  }
  TriangleMesh mesh;
  mesh.vertices.colors = copy(Context::cpu(), std::vector<Rgb8>(points.size(), color));
  mesh.vertices.points = copy(Context::cpu(), points);
  mesh.triangles = copy(Context::cpu(), triangles);
  return mesh;
}

/// The frame with z along an axis.
Mat3d along(const Vec3d& axis) {
  const Vec3d x = detail::any_perpendicular(axis);
  return Mat3d::from_columns(x, cross(axis, x), axis);
}

/// The axes of discrete symmetries, each once.
std::vector<ContinuousSymmetry> discrete_axes(const Symmetries& symmetries, const Vec3d& middle) {
  std::vector<ContinuousSymmetry> axes;
  for (const Rigid3d& m : symmetries.discrete) {
    const Vec3d axis = normalized(log_rotation(m.rotation));
    const bool is_new = std::none_of(axes.begin(), axes.end(), [&](const ContinuousSymmetry& a) {
      return norm(cross(a.axis, axis)) < 0.02;
    });
    // The mean of a point and its images lies on the axis.
    Vec3d point = middle;
    for (int i = 0; i < 64; ++i) point = (point + m * point) / 2.0;
    if (is_new) axes.push_back({axis, point});
  }
  return axes;
}

}  // namespace

Image<Rgb8> axes_picture(const Context& context, const TriangleMesh& mesh,
                         const Symmetries& symmetries) {
  constexpr int kSize = 480;
  const Bounds box = bounds(Context::cpu(), mesh.vertices.points);
  const Vec3d middle = cast<double>(box.low + box.high) / 2.0;
  const double size = std::max(1e-9, double{box.diagonal_m()});
  // Scaled to a size of one, three and a half before the camera.
  TriangleMesh body;
  body.vertices.points = copy(Context::cpu(), mesh.vertices.points);
  for (Vec3f& p : body.vertices.points.host()) {
    p = cast<float>((cast<double>(p) - middle) / size);
  }
  body.vertices.colors = copy(
      Context::cpu(), std::vector<Rgb8>(static_cast<std::size_t>(mesh.vertices.size()), kSurface));
  body.triangles = copy(Context::cpu(), mesh.triangles);
  const TriangleMesh red = rod(kEveryTurn), blue = rod(kSomeTurns);
  const TriangleMesh* const meshes[] = {&body, &red, &blue};
  const RenderScene scene(context, meshes);
  Camera camera;
  camera.width = camera.height = kSize;
  camera.fx_px = camera.fy_px = 2.6 * kSize;
  camera.cx_px = camera.cy_px = (kSize - 1) / 2.0;
  const Vec3d forward = normalized(Vec3d{-1, 1.4, -0.9});
  const Vec3d right = normalized(cross(forward, Vec3d{0, 0, 1}));
  const Rigid3d camera_from_body{{{right, cross(forward, right), forward}}, {0, 0, 3.5}};
  std::vector<Instance> instances{{0, 0, 0, cast<float>(camera_from_body)}};
  const auto add = [&](const ContinuousSymmetry& axis, int which) {
    const Vec3d point = (axis.point_m - middle) / size;
    const Vec3d nearest = point - axis.axis * dot(axis.axis, point);
    instances.push_back(
        {which, 0, which, cast<float>(camera_from_body * Rigid3d{along(axis.axis), nearest})});
  };
  for (const ContinuousSymmetry& axis : symmetries.continuous) add(axis, 1);
  for (const ContinuousSymmetry& axis : discrete_axes(symmetries, middle)) add(axis, 2);
  RenderOptions options;
  options.colors = true;
  options.object_ids = true;
  options.ambient = 0.35f;
  options.light_up_rad = 0.6f;
  options.light_right_rad = -0.4f;
  const Rendering picture = to_host(context, render(context, scene, camera, instances, options));
  Image<Rgb8> image(Context::cpu(), kSize, kSize);
  for (std::size_t i = 0; i < image.pixels().host().size(); ++i) {
    const bool nothing = picture.object_ids.host()[i] < 0;
    image.pixels().host()[i] = nothing ? Rgb8{255, 255, 255} : picture.colors.host()[i];
  }
  return image;
}

}  // namespace sextant::app
