// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "sextant/core/random.h"
#include "sextant/core/rigid3.h"
#include "tests/meshes.h"

namespace sextant::testing {

/// Closed solids with known symmetries, as lists that later steps work on.
struct Solid {
  std::vector<Vec3d> points;
  std::vector<Vec3i> triangles;  ///< counter-clockwise seen from outside

  TriangleMesh mesh() const {
    std::vector<Vec3f> rounded;
    for (const Vec3d& p : points) rounded.push_back(cast<float>(p));
    return mesh_of(rounded, triangles);
  }
  void add(const Solid& other) {
    const auto first = static_cast<std::int32_t>(points.size());
    points.insert(points.end(), other.points.begin(), other.points.end());
    for (const Vec3i& t : other.triangles) {
      triangles.push_back({t.x + first, t.y + first, t.z + first});
    }
  }
};

/// A polygon, counter-clockwise in the plane z = 0, raised to a height. Its first corner sees all
/// others.
inline Solid prism(const std::vector<Vec2d>& polygon, double height_m) {
  Solid solid;
  const auto n = static_cast<std::int32_t>(polygon.size());
  for (const double z : {0.0, height_m}) {
    for (const Vec2d& p : polygon) solid.points.push_back({p.x, p.y, z});
  }
  for (std::int32_t i = 0; i < n; ++i) {
    const std::int32_t j = (i + 1) % n;
    solid.triangles.push_back({i, j, n + j});
    solid.triangles.push_back({i, n + j, n + i});
    if (i == 0 || j == 0) continue;
    solid.triangles.push_back({0, j, i});
    solid.triangles.push_back({n, n + i, n + j});
  }
  return solid;
}

inline std::vector<Vec2d> regular_polygon(int corners, double radius_m) {
  std::vector<Vec2d> polygon;
  for (int i = 0; i < corners; ++i) {
    const double turn = 2 * M_PI * i / corners;
    polygon.push_back({radius_m * std::cos(turn), radius_m * std::sin(turn)});
  }
  return polygon;
}

inline Solid box(double x_m, double y_m, double z_m) {
  return prism({{0, 0}, {x_m, 0}, {x_m, y_m}, {0, y_m}}, z_m);
}

inline Solid tetrahedron(double size_m) {
  Solid solid;
  for (const Vec3d& p : {Vec3d{1, 1, 1}, Vec3d{1, -1, -1}, Vec3d{-1, 1, -1}, Vec3d{-1, -1, 1}}) {
    solid.points.push_back(p * size_m);
  }
  solid.triangles = {{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}};
  return solid;
}

inline Solid icosahedron(double size_m) {
  const double g = (1 + std::sqrt(5.0)) / 2;
  Solid solid;
  for (const double a : {-1.0, 1.0}) {
    for (const double b : {-g, g}) {
      for (const Vec3d& p : {Vec3d{0, a, b}, Vec3d{a, b, 0}, Vec3d{b, 0, a}}) {
        solid.points.push_back(p * size_m);
      }
    }
  }
  // A face is every triple of corners that are all an edge apart.
  const auto near = [&](std::int32_t i, std::int32_t j) {
    return std::abs(norm(solid.points[static_cast<std::size_t>(i)] -
                         solid.points[static_cast<std::size_t>(j)]) -
                    2 * size_m) < 1e-6 * size_m;
  };
  for (std::int32_t i = 0; i < 12; ++i) {
    for (std::int32_t j = i + 1; j < 12; ++j) {
      for (std::int32_t k = j + 1; k < 12; ++k) {
        if (!near(i, j) || !near(j, k) || !near(k, i)) continue;
        const auto at = [&](std::int32_t n) { return solid.points[static_cast<std::size_t>(n)]; };
        const bool outwards = dot(cross(at(j) - at(i), at(k) - at(i)), at(i)) > 0;
        solid.triangles.push_back(outwards ? Vec3i{i, j, k} : Vec3i{i, k, j});
      }
    }
  }
  return solid;
}

/// A profile (distance from the axis z, height), from below to above along the outside, turned
/// about the axis. Its ends lie on the axis.
inline Solid revolved(const std::vector<Vec2d>& profile, int sectors) {
  Solid solid;
  const auto rings = static_cast<std::int32_t>(profile.size());
  for (const Vec2d& p : profile) {
    for (int j = 0; j < sectors; ++j) {
      const double turn = 2 * M_PI * j / sectors;
      solid.points.push_back({p.x * std::cos(turn), p.x * std::sin(turn), p.y});
    }
  }
  for (std::int32_t i = 0; i + 1 < rings; ++i) {
    for (std::int32_t j = 0; j < sectors; ++j) {
      const std::int32_t a = i * sectors + j, b = i * sectors + (j + 1) % sectors;
      const bool below_is_pole = profile[static_cast<std::size_t>(i)].x == 0;
      const bool above_is_pole = profile[static_cast<std::size_t>(i + 1)].x == 0;
      if (!below_is_pole) solid.triangles.push_back({a, b, b + sectors});
      if (!above_is_pole) solid.triangles.push_back({a, b + sectors, a + sectors});
      if (below_is_pole && !above_is_pole) solid.triangles.back() = {a, b + sectors, a + sectors};
    }
  }
  return solid;
}

/// A cup with a wall; a handle makes it a mug.
inline Solid cup(double radius_m, double height_m, bool with_handle) {
  const double wall = 0.08 * radius_m;
  Solid solid = revolved({{0, 0},
                          {radius_m, 0},
                          {radius_m, height_m},
                          {radius_m - wall, height_m},
                          {radius_m - wall, wall},
                          {0, wall}},
                         48);
  if (!with_handle) return solid;
  Solid handle;
  constexpr int kAlong = 24, kAround = 12;
  const double bow = 0.3 * height_m, thick = 0.12 * radius_m;
  for (int i = 0; i <= kAlong; ++i) {
    const double turn = M_PI * (static_cast<double>(i) / kAlong - 0.5);
    const Vec3d out{std::cos(turn), 0, std::sin(turn)};
    const Vec3d middle = Vec3d{radius_m - wall / 2, 0, height_m / 2} + out * bow;
    for (int j = 0; j < kAround; ++j) {
      const double round = 2 * M_PI * j / kAround;
      handle.points.push_back(middle + out * (thick * std::cos(round)) +
                              Vec3d{0, thick * std::sin(round), 0});
    }
  }
  for (int i = 0; i < kAlong; ++i) {
    for (int j = 0; j < kAround; ++j) {
      const int a = i * kAround + j, b = i * kAround + (j + 1) % kAround;
      handle.triangles.push_back({a, b + kAround, b});
      handle.triangles.push_back({a, a + kAround, b + kAround});
    }
  }
  solid.add(handle);
  return solid;
}

/// Every triangle in four, again and again.
inline Solid divided(Solid solid, int times) {
  for (int round = 0; round < times; ++round) {
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> middles;
    std::vector<Vec3i> finer;
    const auto middle = [&](std::int32_t a, std::int32_t b) {
      const auto found =
          middles.try_emplace(std::minmax(a, b), static_cast<std::int32_t>(solid.points.size()));
      if (found.second) {
        const Vec3d sum =
            solid.points[static_cast<std::size_t>(a)] + solid.points[static_cast<std::size_t>(b)];
        solid.points.push_back(sum * 0.5);
      }
      return found.first->second;
    };
    for (const Vec3i& t : solid.triangles) {
      const std::int32_t xy = middle(t.x, t.y), yz = middle(t.y, t.z), zx = middle(t.z, t.x);
      finer.insert(finer.end(), {{t.x, xy, zx}, {t.y, yz, xy}, {t.z, zx, yz}, {xy, yz, zx}});
    }
    solid.triangles = finer;
  }
  return solid;
}

inline Solid moved(Solid solid, const Rigid3d& motion) {
  for (Vec3d& p : solid.points) p = motion * p;
  return solid;
}

/// Adds normal noise of this deviation to each coordinate of each point.
inline Solid with_noise(Solid solid, double sigma_m, std::uint64_t seed) {
  for (std::size_t i = 0; i < solid.points.size(); ++i) {
    const Random random{seed, i};
    solid.points[i] += Vec3d{random.normal(0), random.normal(1), random.normal(2)} * sigma_m;
  }
  return solid;
}

}  // namespace sextant::testing
