// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sextant/core/rigid3.h"
#include "sextant/geometry/mesh.h"

// Meshes and textures made by code, on the host, for the examples. Objects stand upright along +z.

namespace shapes {

using namespace sextant;

/// What a mesh is made of while it grows.
struct Builder {
  std::vector<Vec3f> points, normals;
  std::vector<Vec2f> texture_coordinates;
  std::vector<Vec3i> triangles;

  int add(const Vec3f& point, const Vec3f& normal, const Vec2f& texture) {
    points.push_back(point);
    normals.push_back(normalized(normal));
    texture_coordinates.push_back(texture);
    return static_cast<int>(points.size()) - 1;
  }
  void add_quad(int a, int b, int c, int d) {
    triangles.insert(triangles.end(), {{a, b, c}, {a, c, d}});
  }
  TriangleMesh mesh(Image<Rgb8> texture) const {
    const Context host = Context::cpu();
    TriangleMesh mesh;
    mesh.vertices.points = copy(host, points);
    mesh.vertices.normals = copy(host, normals);
    mesh.texture_coordinates = copy(host, texture_coordinates);
    mesh.triangles = copy(host, triangles);
    mesh.materials.emplace_back().texture = std::move(texture);
    return mesh;
  }
};

/// Evaluates color(u, v), both 0 to 1 and v upwards, at every texel.
template <class Color>
Image<Rgb8> make_texture(int width, int height, const Color& color) {
  Image<Rgb8> image(Context::cpu(), width, height);
  for (int row = 0; row < height; ++row) {
    for (int column = 0; column < width; ++column) {
      image(column, row) = color((static_cast<float>(column) + 0.5f) / static_cast<float>(width),
                                 1 - (static_cast<float>(row) + 0.5f) / static_cast<float>(height));
    }
  }
  return image;
}

inline Image<Rgb8> plain(const Rgb8& color) {
  return make_texture(1, 1, [&](float, float) { return color; });
}

/// A box that stands on z = 0; every side shows the whole texture.
inline TriangleMesh box(const Vec3f& size_m, Image<Rgb8> texture) {
  Builder builder;
  const Vec3f half = size_m * 0.5f;
  const Vec3f axes[3] = {{half.x, 0, 0}, {0, half.y, 0}, {0, 0, half.z}};
  const Vec3f middle{0, 0, half.z};
  for (int side = 0; side < 6; ++side) {
    const Vec3f n = axes[side / 2] * (side % 2 == 0 ? 1.0f : -1.0f);
    const Vec3f up = side / 2 == 2 ? axes[1] : axes[2];
    const Vec3f right = side / 2 == 0 ? axes[1] * (n.x > 0 ? 1.0f : -1.0f)
                                      : axes[0] * (n.y > 0 || n.z < 0 ? -1.0f : 1.0f);
    const int a = builder.add(middle + n - right - up, n, {0, 0});
    const int b = builder.add(middle + n + right - up, n, {1, 0});
    const int c = builder.add(middle + n + right + up, n, {1, 1});
    const int d = builder.add(middle + n - right + up, n, {0, 1});
    builder.add_quad(a, b, c, d);
  }
  return builder.mesh(std::move(texture));
}

/// The square z = 0 of the given side around the origin, with the texture repeated over it.
inline TriangleMesh ground(float side_m, float repeats, Image<Rgb8> texture) {
  Builder builder;
  const float half = 0.5f * side_m;
  const Vec3f up{0, 0, 1};
  const int a = builder.add({-half, -half, 0}, up, {0, 0});
  const int b = builder.add({half, -half, 0}, up, {repeats, 0});
  const int c = builder.add({half, half, 0}, up, {repeats, repeats});
  const int d = builder.add({-half, half, 0}, up, {0, repeats});
  builder.add_quad(a, b, c, d);
  return builder.mesh(std::move(texture));
}

/// A profile of (radius, height), from the bottom up along the outside, turned around the z axis.
/// Texture u runs once around, v along the profile. `smooth` rounds the corners of the profile.
inline TriangleMesh revolve(const std::vector<Vec2f>& profile, int sectors, bool smooth,
                            Image<Rgb8> texture) {
  Builder builder;
  const auto size = static_cast<int>(profile.size());
  const auto segment = [&](int i) {
    const int from = std::clamp(i, 0, size - 2);
    return profile[from + 1] - profile[from];
  };
  for (int i = 0; i + 1 < size; ++i) {
    for (int j = 0; j <= sectors; ++j) {
      const double turn = 2 * M_PI * j / sectors;
      const Vec2f around{static_cast<float>(std::cos(turn)), static_cast<float>(std::sin(turn))};
      for (const int k : {i, i + 1}) {
        const Vec2f along = smooth ? segment(k - 1) + segment(k) : segment(i);
        const Vec2f& p = profile[k];
        builder.add({around.x * p.x, around.y * p.x, p.y},
                    {around.x * along.y, around.y * along.y, -along.x},
                    {static_cast<float>(j) / static_cast<float>(sectors),
                     static_cast<float>(k) / static_cast<float>(size - 1)});
      }
      const int last = static_cast<int>(builder.points.size()) - 2;
      if (j > 0) builder.add_quad(last - 2, last, last + 1, last - 1);
    }
  }
  return builder.mesh(std::move(texture));
}

/// The arc around (centre.x, centre.y) from one angle to another, as a profile.
inline std::vector<Vec2f> arc(const Vec2f& centre, float radius_m, double from_rad, double to_rad,
                              int steps) {
  std::vector<Vec2f> profile;
  for (int i = 0; i <= steps; ++i) {
    const double angle = from_rad + (to_rad - from_rad) * i / steps;
    profile.push_back({std::max(0.0f, centre.x + radius_m * static_cast<float>(std::cos(angle))),
                       centre.y + radius_m * static_cast<float>(std::sin(angle))});
  }
  return profile;
}

/// A camera at `eye` that looks at `target` with world z upwards in its picture.
inline Rigid3f look_at(const Vec3f& eye, const Vec3f& target) {
  const Vec3f forward = normalized(target - eye);
  const Vec3f right = normalized(cross(forward, Vec3f{0, 0, 1}));
  const Mat3f camera_from_world{{right, cross(forward, right), forward}};
  return {camera_from_world, -(camera_from_world * eye)};
}

/// A turn around z and a place on the ground.
inline Rigid3f placed(float x_m, float y_m, float turn_rad, float z_m = 0) {
  return {exp_rotation(Vec3f{0, 0, turn_rad}), {x_m, y_m, z_m}};
}

}  // namespace shapes
