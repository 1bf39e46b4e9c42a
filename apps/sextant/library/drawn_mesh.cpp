// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/library/drawn_mesh.h"

#include <cmath>
#include <numbers>

namespace sextant::app {

namespace {

constexpr Rgb8 kClay{205, 185, 160};
constexpr int kSides = 16;  ///< of a rod
constexpr int kTurns = 72;  ///< pieces of a ring

/// Two vectors of unit length at right angles to an axis and to each other.
struct Across {
  Vec3d u, v;
};
Across across(const Vec3d& axis) {
  const Vec3d other = std::abs(axis.z) < 0.8 ? Vec3d{0, 0, 1} : Vec3d{1, 0, 0};
  const Vec3d u = normalized(cross(axis, other));
  return {u, cross(axis, u)};
}

TriangleMesh make_mesh(const std::vector<Vec3f>& points, const std::vector<Vec3f>& normals,
                       const std::vector<Vec3i>& triangles, const Rgb8& color) {
  const Context cpu = Context::cpu();
  TriangleMesh mesh;
  mesh.vertices.points = copy(cpu, points);
  mesh.vertices.normals = copy(cpu, normals);
  mesh.vertices.colors = copy(cpu, std::vector<Rgb8>(points.size(), color));
  mesh.triangles = copy(cpu, triangles);
  return mesh;
}

/// A tube through circles of kSides points each, closed where the last is the first again.
void connect(int circles, std::vector<Vec3i>& triangles) {
  for (int i = 0; i + 1 < circles; ++i) {
    for (int j = 0; j < kSides; ++j) {
      const int a = i * kSides + j, b = i * kSides + (j + 1) % kSides;
      triangles.push_back({a, b, a + kSides});
      triangles.push_back({b, b + kSides, a + kSides});
    }
  }
}

double turn(int i, int of) { return 2 * std::numbers::pi * i / of; }

/// A square at each point, across its normal.
TriangleMesh squares(const TriangleMesh& mesh, double half_m) {
  std::vector<Vec3f> points, normals;
  std::vector<Rgb8> colors;
  std::vector<Vec3i> triangles;
  const auto centres = mesh.vertices.points.host();
  for (std::size_t i = 0; i < centres.size(); ++i) {
    const Vec3d centre = cast<double>(centres[i]);
    if (!is_finite(centre)) continue;
    Vec3d normal{0, 0, 1};
    if (!mesh.vertices.normals.empty()) normal = cast<double>(mesh.vertices.normals.host()[i]);
    if (!(norm(normal) > 0.5)) normal = {0, 0, 1};
    const Across a = across(normal);
    const int first = static_cast<int>(points.size());
    for (const Vec3d& corner : {-a.u - a.v, a.u - a.v, a.u + a.v, a.v - a.u}) {
      points.push_back(cast<float>(centre + corner * half_m));
      normals.push_back(cast<float>(normal));
      colors.push_back(mesh.vertices.colors.empty() ? kClay : mesh.vertices.colors.host()[i]);
    }
    triangles.push_back({first, first + 1, first + 2});
    triangles.push_back({first, first + 2, first + 3});
  }
  TriangleMesh made = make_mesh(points, normals, triangles, kClay);
  made.vertices.colors = copy(Context::cpu(), colors);
  return made;
}

/// A small octahedron at each point: what has no normals is seen from all sides.
TriangleMesh grains(const TriangleMesh& mesh, double half_m) {
  constexpr int kFaces[][3] = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                               {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
  const Vec3d corners[] = {{half_m, 0, 0},  {-half_m, 0, 0}, {0, half_m, 0},
                           {0, -half_m, 0}, {0, 0, half_m},  {0, 0, -half_m}};
  std::vector<Vec3f> points, normals;
  std::vector<Rgb8> colors;
  std::vector<Vec3i> triangles;
  const auto centres = mesh.vertices.points.host();
  for (std::size_t i = 0; i < centres.size(); ++i) {
    const Vec3d centre = cast<double>(centres[i]);
    if (!is_finite(centre)) continue;
    const int first = static_cast<int>(points.size());
    for (const Vec3d& corner : corners) {
      points.push_back(cast<float>(centre + corner));
      normals.push_back(cast<float>(normalized(corner)));
      colors.push_back(mesh.vertices.colors.empty() ? kClay : mesh.vertices.colors.host()[i]);
    }
    for (const auto& f : kFaces) triangles.push_back({first + f[0], first + f[1], first + f[2]});
  }
  TriangleMesh made = make_mesh(points, normals, triangles, kClay);
  made.vertices.colors = copy(Context::cpu(), colors);
  return made;
}

}  // namespace

TriangleMesh drawable(const TriangleMesh& mesh, double diameter_m) {
  if (mesh.triangles.empty()) {
    // As large as the points lie apart, were they spread over a ball.
    const double count = std::max<double>(1, static_cast<double>(mesh.vertices.size()));
    const double half_m = diameter_m * std::sqrt(std::numbers::pi / count) * 0.6;
    return mesh.vertices.normals.empty() ? grains(mesh, half_m / 2) : squares(mesh, half_m);
  }
  TriangleMesh drawn = copy(Context::cpu(), mesh);
  const bool textured =
      std::any_of(mesh.materials.begin(), mesh.materials.end(), [](const Material& m) {
        return !m.texture.empty() || !(m.diffuse == Vec3f{1, 1, 1});
      });
  if (mesh.vertices.colors.empty() && !textured) {
    drawn.vertices.colors = copy(
        Context::cpu(), std::vector<Rgb8>(static_cast<std::size_t>(mesh.vertices.size()), kClay));
  }
  return drawn;
}

TriangleMesh rod(const Vec3d& from_m, const Vec3d& to_m, double radius_m, const Rgb8& color) {
  const Across a = across(normalized(to_m - from_m));
  std::vector<Vec3f> points, normals;
  for (const Vec3d& end : {from_m, to_m}) {
    for (int j = 0; j < kSides; ++j) {
      const Vec3d n = a.u * std::cos(turn(j, kSides)) + a.v * std::sin(turn(j, kSides));
      points.push_back(cast<float>(end + n * radius_m));
      normals.push_back(cast<float>(n));
    }
  }
  std::vector<Vec3i> triangles;
  connect(2, triangles);
  return make_mesh(points, normals, triangles, color);
}

TriangleMesh ring(const Vec3d& centre_m, const Vec3d& axis, double ring_m, double radius_m,
                  const Rgb8& color) {
  const Across a = across(axis);
  std::vector<Vec3f> points, normals;
  for (int i = 0; i <= kTurns; ++i) {
    const Vec3d out = a.u * std::cos(turn(i, kTurns)) + a.v * std::sin(turn(i, kTurns));
    for (int j = 0; j < kSides; ++j) {
      const Vec3d n = out * std::cos(turn(j, kSides)) + axis * std::sin(turn(j, kSides));
      points.push_back(cast<float>(centre_m + out * ring_m + n * radius_m));
      normals.push_back(cast<float>(n));
    }
  }
  std::vector<Vec3i> triangles;
  connect(kTurns + 1, triangles);
  return make_mesh(points, normals, triangles, color);
}

TriangleMesh camera_sign(const Rigid3d& object_from_camera, const Camera& camera, double length_m,
                         const Rgb8& color) {
  const double x = 0.5 * camera.width / camera.fx_px * length_m;
  const double y = 0.5 * camera.height / camera.fy_px * length_m;
  const Vec3d corners[] = {
      {0, 0, 0}, {-x, -y, length_m}, {x, -y, length_m}, {x, y, length_m}, {-x, y, length_m}};
  constexpr int kFaces[][3] = {{0, 2, 1}, {0, 3, 2}, {0, 4, 3}, {0, 1, 4}, {1, 2, 3}, {1, 3, 4}};
  std::vector<Vec3f> points, normals;
  std::vector<Vec3i> triangles;
  for (const auto& face : kFaces) {
    Vec3d p[3];
    for (int i = 0; i < 3; ++i) p[i] = object_from_camera * corners[face[i]];
    const Vec3d normal = normalized(cross(p[1] - p[0], p[2] - p[0]));
    const int first = static_cast<int>(points.size());
    for (const Vec3d& point : p) {
      points.push_back(cast<float>(point));
      normals.push_back(cast<float>(normal));
    }
    triangles.push_back({first, first + 1, first + 2});
  }
  return make_mesh(points, normals, triangles, color);
}

}  // namespace sextant::app
