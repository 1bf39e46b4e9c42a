// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/mesh_points.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sextant/core/random.h"
#include "sextant/render/rasterize.h"
#include "sextant/surface/cloud_resolution.h"
#include "tests/devices.h"
#include "tests/error_message.h"

namespace sextant {
namespace {

struct Points {
  std::vector<Vec3f> points, normals;
};

/// Points drawn at random, evenly over a sphere.
Points ball(std::uint64_t seed, double radius_m, int count) {
  Points ball;
  for (int i = 0; i < count; ++i) {
    const Random random{seed, static_cast<std::uint64_t>(i)};
    const Vec3d n = normalized(Vec3d{random.normal(0), random.normal(1), random.normal(2)});
    ball.points.push_back(cast<float>(n * radius_m));
    ball.normals.push_back(cast<float>(n));
  }
  return ball;
}

TriangleMesh mesh_of(const Points& from, const Buffer<Vec3i>& triangles) {
  TriangleMesh mesh;
  mesh.vertices.points = copy(Context::cpu(), from.points);
  mesh.triangles = copy(Context::cpu(), triangles);
  return mesh;
}

TEST(MeshPoints, ADrawnSphereHasNoHolesAndTheRightDepth) {
  constexpr double kRadius_m = 0.05;
  constexpr int kPoints = 2620;
  const Points points = ball(testing::seed_of_test(), kRadius_m, kPoints);
  const Context context = Context::cpu();
  const TriangleMesh mesh =
      mesh_of(points, mesh_points(context, view_of(points.points), view_of(points.normals)));
  const double spacing_m = static_cast<double>(cloud_spacing_m(context, view_of(points.points)));
  EXPECT_NEAR(spacing_m, std::sqrt(4 * M_PI * kRadius_m * kRadius_m / kPoints), 0.1 * spacing_m);
  const Camera camera{160, 160, 525, 525, 79.5, 79.5, {}};
  Instance instance;
  instance.camera_from_object.translation = {0, 0, 0.5f};
  const Rendering drawn = render(context, RenderScene(context, mesh), camera,
                                 std::span(&instance, 1), {.cull_back_faces = true});
  // A chord of a circle of radius r in the sphere lies r² / 2R inside, and the circles are at most
  // 2.5 spacings wide. The ray meets it at up to 60° here, which doubles the depth's share.
  const double sag_m = std::pow(2.5 * spacing_m, 2) / (2 * kRadius_m);
  int pixels = 0;
  double sum = 0;
  for (int v = 0; v < 160; ++v) {
    for (int u = 0; u < 160; ++u) {
      const Vec3d ray = unproject(camera, Vec2d{double(u), double(v)});
      const double a = dot(ray, ray), b = 0.5, c = 0.25 - kRadius_m * kRadius_m;
      const double root = b * b - a * c;
      const float depth_m = drawn.depth_m.host()[static_cast<std::size_t>(160 * v + u)];
      if (root <= 0) {
        // Chords lie inside: nothing is drawn beside the sphere.
        ASSERT_TRUE(std::isnan(depth_m)) << u << ", " << v;
        continue;
      }
      const double truth_m = (b - std::sqrt(root)) / a;
      const Vec3d normal = (ray * truth_m - Vec3d{0, 0, 0.5}) * (1 / kRadius_m);
      if (-dot(normal, ray) / norm(ray) < 0.5) continue;
      ASSERT_FALSE(std::isnan(depth_m)) << "a hole at " << u << ", " << v;
      const double error_m = static_cast<double>(depth_m) - truth_m;
      ASSERT_GE(error_m, -1e-6);
      ASSERT_LE(error_m, 2 * sag_m);
      sum += error_m;
      ++pixels;
    }
  }
  ASSERT_GT(pixels, 5000);
  // On average the sag is that of a triangle of the spacing's size.
  EXPECT_LT(sum / pixels, spacing_m * spacing_m / (2 * kRadius_m));
}

TEST(MeshPoints, TheSidesOfAThinWallStayApart) {
  // Two sheets 2 mm apart with points every 4 mm, facing away from each other.
  Points wall;
  for (int y = 0; y < 20; ++y) {
    for (int x = 0; x < 20; ++x) {
      const float jitter = 1e-4f * static_cast<float>((7 * x + 13 * y) % 5);
      for (const float side : {1.0f, -1.0f}) {
        wall.points.push_back({0.004f * static_cast<float>(x) + side * jitter,
                               0.004f * static_cast<float>(y) + jitter, side * 0.001f});
        wall.normals.push_back({0, 0, side});
      }
    }
  }
  const Buffer<Vec3i> triangles =
      mesh_points(Context::cpu(), view_of(wall.points), view_of(wall.normals));
  double area_m2[2] = {0, 0};
  for (const Vec3i& t : triangles.host()) {
    const auto at = [&](std::int32_t i) { return wall.points[static_cast<std::size_t>(i)]; };
    const auto side = [&](std::int32_t i) { return wall.normals[static_cast<std::size_t>(i)].z; };
    ASSERT_EQ(side(t.x), side(t.y));
    ASSERT_EQ(side(t.x), side(t.z));
    const Vec3f twice = cross(at(t.y) - at(t.x), at(t.z) - at(t.x));
    ASSERT_GT(twice.z * side(t.x), 0) << "counter-clockwise from the side of the normals";
    area_m2[side(t.x) > 0] += 0.5 * static_cast<double>(norm(twice));
  }
  // Each sheet once: squares have two diagonals, of which neighbours may choose different ones.
  for (const double area : area_m2) {
    EXPECT_GT(area, 0.076 * 0.076 * 0.98);
    EXPECT_LT(area, 0.076 * 0.076 * 1.1);
  }
}

TEST(MeshPoints, AreTheSameForAnyNumberOfThreads) {
  const Points points = ball(testing::seed_of_test(), 0.1, 3000);
  const auto run = [&](int threads) {
    const Context context = Context::cpu(threads);
    return to_host(context, mesh_points(context, view_of(points.points), view_of(points.normals)));
  };
  const std::vector<Vec3i> one = run(1);
  EXPECT_GT(one.size(), 5500u);  // Euler: 2 n - 4 for a closed surface
  EXPECT_EQ(one, run(2));
  EXPECT_EQ(one, run(7));
}

TEST(MeshPoints, NormalsWithoutSidesMakeBothSides) {
  Points points = ball(testing::seed_of_test(), 0.1, 1000);
  const Context context = Context::cpu();
  const std::vector<Vec3i> outer =
      to_host(context, mesh_points(context, view_of(points.points), view_of(points.normals)));
  for (std::size_t i = 0; i < points.normals.size(); i += 2) {
    points.normals[i] = points.normals[i] * -1.0f;
  }
  const std::vector<Vec3i> both = to_host(
      context,
      mesh_points(context, view_of(points.points), view_of(points.normals), {.both_sides = true}));
  EXPECT_EQ(both.size(), 2 * outer.size());
  for (const Vec3i& t : outer) {
    const Vec3i behind{t.x, t.z, t.y};
    ASSERT_NE(std::find(both.begin(), both.end(), t), both.end());
    ASSERT_NE(std::find(both.begin(), both.end(), behind), both.end());
  }
}

TEST(MeshPoints, HolesEqualPointsAndFewPointsMakeNoTriangles) {
  const Context context = Context::cpu();
  const auto count = [&](std::vector<Vec3f> points) {
    const std::vector<Vec3f> normals(points.size(), Vec3f{0, 0, 1});
    return mesh_points(context, view_of(points), view_of(normals)).size();
  };
  EXPECT_EQ(count({}), 0);
  EXPECT_EQ(count({{0, 0, 0}}), 0);
  EXPECT_EQ(count(std::vector<Vec3f>(100, Vec3f{1, 2, 3})), 0);
  EXPECT_EQ(count(std::vector<Vec3f>(100, Vec3f{NAN, 2, 3})), 0);
  EXPECT_EQ(count({{0, 0, 0}, {1, 0, 0}, {NAN, 0, 0}, {0, 1, 0}}), 1);
  const std::vector<Vec3f> one{{0, 0, 0}};
  EXPECT_NE(testing::error_message([&] {
              mesh_points(context, view_of(one), {});
            }).find("1 points have 0 normals"),
            std::string::npos);
}

}  // namespace
}  // namespace sextant
