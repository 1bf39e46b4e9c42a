// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <vector>

#include "sextant/geometry/mesh.h"

namespace sextant::testing {

inline TriangleMesh mesh_of(const std::vector<Vec3f>& points, const std::vector<Vec3i>& triangles) {
  TriangleMesh mesh;
  mesh.vertices.points = copy(Context::cpu(), points);
  mesh.triangles = copy(Context::cpu(), triangles);
  return mesh;
}

/// The parallelogram a, a + right, a + right + up, a + up in two triangles, with texture
/// coordinates from (0, 0) at a to (1, 1).
inline TriangleMesh quad(const Vec3f& a, const Vec3f& right, const Vec3f& up) {
  TriangleMesh mesh = mesh_of({a, a + right, a + right + up, a + up}, {{0, 1, 2}, {0, 2, 3}});
  mesh.texture_coordinates =
      copy(Context::cpu(), std::vector<Vec2f>{{0, 0}, {1, 0}, {1, 1}, {0, 1}});
  return mesh;
}

/// A closed sphere around the origin with outward normals; every vertex lies on it to an ulp.
inline TriangleMesh sphere(float radius_m, int rings, int sectors) {
  std::vector<Vec3f> normals{{0, 0, 1}};
  for (int i = 1; i < rings; ++i) {
    for (int j = 0; j < sectors; ++j) {
      const double polar = M_PI * i / rings;
      const double turn = 2 * M_PI * j / sectors;
      normals.push_back({static_cast<float>(std::sin(polar) * std::cos(turn)),
                         static_cast<float>(std::sin(polar) * std::sin(turn)),
                         static_cast<float>(std::cos(polar))});
    }
  }
  normals.push_back({0, 0, -1});
  const int last = static_cast<int>(normals.size()) - 1;
  const auto at = [&](int ring, int sector) {
    if (ring == 0) return 0;
    if (ring == rings) return last;
    return 1 + (ring - 1) * sectors + sector % sectors;
  };
  std::vector<Vec3i> triangles;
  for (int i = 0; i < rings; ++i) {
    for (int j = 0; j < sectors; ++j) {
      if (i + 1 < rings) triangles.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1)});
      if (i > 0) triangles.push_back({at(i, j), at(i + 1, j + 1), at(i, j + 1)});
    }
  }
  std::vector<Vec3f> points;
  for (const Vec3f& n : normals) points.push_back(n * radius_m);
  TriangleMesh mesh = mesh_of(points, triangles);
  mesh.vertices.normals = copy(Context::cpu(), normals);
  return mesh;
}

}  // namespace sextant::testing
