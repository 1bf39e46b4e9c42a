// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/random.h"
#include "sextant/geometry/mesh.h"

namespace sextant::testing {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

inline std::vector<Vec3i> triangles_of(const TriangleMesh& mesh) {
  const auto triangles = mesh.triangles.host();
  return {triangles.begin(), triangles.end()};
}

/// Bit by bit, so that NaN equals itself and -0 differs from 0.
template <class T>
void expect_same_bits(const Buffer<T>& a, const Buffer<T>& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(std::memcmp(a.data() + i, b.data() + i, sizeof(T)), 0) << what << " " << i;
  }
}

inline void expect_same_pose(const Rigid3d& a, const Rigid3d& b) {
  // A rotation survives the way through a quaternion with a few roundings of double.
  for (int i = 0; i < 3; ++i) {
    EXPECT_LT(norm(a.rotation.row[i] - b.rotation.row[i]), 1e-14);
  }
  EXPECT_TRUE(a.translation == b.translation);
}

inline void expect_same(const Cloud& a, const Cloud& b) {
  expect_same_bits(a.points, b.points, "point");
  expect_same_bits(a.normals, b.normals, "normal");
  expect_same_bits(a.colors, b.colors, "color");
  ASSERT_EQ(a.attributes.size(), b.attributes.size());
  for (std::size_t i = 0; i < a.attributes.size(); ++i) {
    EXPECT_EQ(a.attributes[i].name, b.attributes[i].name);
    EXPECT_EQ(a.attributes[i].components, b.attributes[i].components);
    ASSERT_STREQ(a.attributes[i].type_name(), b.attributes[i].type_name());
    std::visit(
        [&]<class T>(const Buffer<T>& numbers) {
          expect_same_bits(numbers, b.attributes[i].get<T>(), a.attributes[i].name);
        },
        a.attributes[i].values);
  }
  EXPECT_EQ(a.width, b.width);
  EXPECT_EQ(a.height, b.height);
  expect_same_pose(a.world_from_sensor, b.world_from_sensor);
  EXPECT_EQ(a.origin_m, b.origin_m);
}

inline void expect_same(const TriangleMesh& a, const TriangleMesh& b) {
  expect_same(a.vertices, b.vertices);
  expect_same_bits(a.texture_coordinates, b.texture_coordinates, "texture coordinate");
  expect_same_bits(a.texture_triangles, b.texture_triangles, "texture triangle");
  expect_same_bits(a.corner_normals, b.corner_normals, "corner normal");
  expect_same_bits(a.normal_triangles, b.normal_triangles, "normal triangle");
  expect_same_bits(a.triangles, b.triangles, "triangle");
  expect_same_bits(a.triangle_materials, b.triangle_materials, "material of triangle");
}

/// Points of every kind (huge, tiny, -0, NaN, infinite) with normals, colours and two attributes;
/// organised, seen from a turned sensor.
inline Cloud sample_cloud(int width, int height) {
  const Context cpu = Context::cpu(1);
  const std::int64_t size = std::int64_t{width} * height;
  Cloud cloud;
  cloud.points = Buffer<Vec3f>(cpu, size);
  cloud.normals = Buffer<Vec3f>(cpu, size);
  cloud.colors = Buffer<Rgb8>(cpu, size);
  cloud.attributes.push_back({"intensity", Buffer<float>(cpu, size)});
  cloud.attributes.push_back({"alpha", Buffer<std::uint8_t>(cpu, size)});
  const float special[] = {0.0f, -0.0f, NAN, INFINITY, -INFINITY, 1e-45f, 3.4e38f, -1.17e-38f};
  for (std::int64_t i = 0; i < size; ++i) {
    const Random random{7, static_cast<std::uint64_t>(i)};
    const float x = i < 8 ? special[i] : 2 * random.uniform(0) - 1;
    cloud.points.data()[i] = {x, 1e-3f * random.uniform(1), 100.0f * random.uniform(2)};
    cloud.normals.data()[i] =
        i == 2 ? Vec3f{NAN, NAN, NAN} : normalized(Vec3f{random.uniform(3), random.uniform(4), 1});
    cloud.colors.data()[i] = {static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(255 - i),
                              static_cast<std::uint8_t>(7 * i)};
    cloud.attributes[0].get<float>().data()[i] = 1e6f * random.uniform(5);
    cloud.attributes[1].get<std::uint8_t>().data()[i] = static_cast<std::uint8_t>(i % 256);
  }
  cloud.width = width;
  cloud.height = height;
  cloud.world_from_sensor.rotation = exp_rotation(Vec3d{0.3, -1.2, 2.0});
  cloud.world_from_sensor.translation = {0.1, -2.5, 1e3};
  return cloud;
}

/// The same cloud in a grid of triangles with texture coordinates and a material with an image.
inline TriangleMesh sample_mesh(int width, int height) {
  const Context cpu = Context::cpu(1);
  TriangleMesh mesh;
  mesh.vertices = sample_cloud(width, height);
  mesh.texture_coordinates = Buffer<Vec2f>(cpu, mesh.vertices.size());
  std::vector<Vec3i> triangles;
  for (int v = 0; v < height; ++v) {
    for (int u = 0; u < width; ++u) {
      const int i = v * width + u;
      mesh.texture_coordinates.data()[i] = {static_cast<float>(u) / static_cast<float>(width),
                                            static_cast<float>(v) / 3.0f};
      if (u + 1 == width || v + 1 == height) continue;
      triangles.push_back({i, i + 1, i + width});
      triangles.push_back({i + width, i + 1, i + width + 1});
    }
  }
  mesh.triangles = copy(cpu, triangles);
  Material material;
  material.name = "texture";
  material.texture = Image<Rgb8>(cpu, 4, 2);
  for (int i = 0; i < 8; ++i) {
    material.texture(i % 4, i / 4) = {static_cast<std::uint8_t>(30 * i), 200, 10};
  }
  mesh.materials.push_back(std::move(material));
  return mesh;
}

}  // namespace sextant::testing
