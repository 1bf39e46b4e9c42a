// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/sample_mesh.h"

#include <gtest/gtest.h>

#include "tests/devices.h"
#include "tests/error_message.h"
#include "tests/make_image.h"
#include "tests/meshes.h"

namespace sextant {
namespace {

constexpr float kNan = NAN;

/// Triangles of very different sizes, among them some without area and with holes.
TriangleMesh mixed_triangles() {
  return testing::mesh_of({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 5}, {kNan, 0, 0}, {2, 0, 0}},
                          {{0, 1, 5}, {0, 1, 2}, {0, 4, 2}, {1, 1, 2}, {2, 0, 3}, {1, 5, 0}});
}

TEST(SampleMesh, SharesSamplesByArea) {
  const TriangleMesh mesh = mixed_triangles();
  const double area[] = {0, 0.5, 0, 0, 2.5, 0};
  constexpr int kCount = 3000;
  const MeshSamples samples = sample_mesh(Context::cpu(), mesh, kCount);
  ASSERT_EQ(samples.size(), kCount);
  EXPECT_TRUE(samples.colors.empty());
  int on[6] = {};
  for (const std::int32_t t : samples.triangles.host()) ++on[t];
  for (int t = 0; t < 6; ++t) {
    // Only the first and the last share of a triangle may lie partly on others.
    EXPECT_NEAR(on[t], kCount * area[t] / 3, 2.0) << t;
    if (area[t] == 0) {
      EXPECT_EQ(on[t], 0);
    }
  }
}

TEST(SampleMesh, LiesOnItsTriangles) {
  const TriangleMesh mesh = mixed_triangles();
  const MeshSamples samples = sample_mesh(Context::cpu(), mesh, 1000);
  Vec3d mean{};
  for (std::int64_t i = 0; i < samples.size(); ++i) {
    const Vec3f p = samples.points.host()[static_cast<std::size_t>(i)];
    const Vec3f n = samples.normals.host()[static_cast<std::size_t>(i)];
    if (samples.triangles.host()[static_cast<std::size_t>(i)] == 1) {
      EXPECT_EQ(n, (Vec3f{0, 0, 1}));
      EXPECT_TRUE(p.x >= 0 && p.y >= 0 && p.x + p.y <= 1 + 1e-6f && p.z == 0);
    } else {
      EXPECT_EQ(n, (Vec3f{-1, 0, 0}));
      EXPECT_TRUE(p.y >= 0 && p.z >= 0 && p.y + p.z / 5 <= 1 + 1e-6f && p.x == 0);
      mean += cast<double>(p) / (1000.0 * 5 / 6);
    }
  }
  // The standard deviation of y is √(1/18), of their mean √833 times less; five of these.
  EXPECT_NEAR(mean.y, 1.0 / 3, 5 * std::sqrt(1.0 / 18 / 833));
  EXPECT_NEAR(mean.z, 5.0 / 3, 25 * std::sqrt(1.0 / 18 / 833));
}

TEST(SampleMesh, HasTheNormalsThatAreAskedFor) {
  const TriangleMesh ball = testing::sphere(0.1f, 12, 24);
  const MeshSamples flat = sample_mesh(Context::cpu(), ball, 2000);
  const MeshSamples round =
      sample_mesh(Context::cpu(), ball, 2000, {.normals = SampleNormals::kMesh});
  for (std::size_t i = 0; i < 2000; ++i) {
    const Vec3f out = normalized(flat.points.host()[i]);
    EXPECT_EQ(flat.points.host()[i], round.points.host()[i]);
    EXPECT_GT(dot(flat.normals.host()[i], out), std::cos(M_PI / 12));
    EXPECT_GT(dot(round.normals.host()[i], out), 1 - 2e-3);  // interpolated between 15 degrees
    EXPECT_NEAR(norm(round.normals.host()[i]), 1, 1e-6);
  }
}

TEST(SampleMesh, HasTheColorsOfTextureVerticesAndMaterial) {
  TriangleMesh mesh = testing::quad({0, 0, 0}, {1, 0, 0}, {0, 1, 0});
  Image<Rgb8> ramp(Context::cpu(), 64, 64);
  for (int v = 0; v < 64; ++v) {
    for (int u = 0; u < 64; ++u) {
      ramp.pixels().host()[static_cast<std::size_t>(v * 64 + u)] = {
          static_cast<std::uint8_t>(4 * u), static_cast<std::uint8_t>(4 * v), 100};
    }
  }
  mesh.materials.push_back({"ramp", {1, 1, 0.5f}, "", std::move(ramp)});
  const MeshSamples painted = sample_mesh(Context::cpu(), mesh, 500);
  int inside = 0;
  for (std::size_t i = 0; i < 500; ++i) {
    const Vec3f p = painted.points.host()[i];
    const Rgb8 c = painted.colors.host()[i];
    EXPECT_EQ(c.z, 50);
    // At the border the texture repeats.
    if (std::min(p.x, p.y) < 1 / 128.0f || std::max(p.x, p.y) > 127 / 128.0f) continue;
    ++inside;
    EXPECT_NEAR(c.x, 4 * (p.x * 64 - 0.5), 0.51);
    EXPECT_NEAR(c.y, 4 * ((1 - p.y) * 64 - 0.5), 0.51);
  }
  EXPECT_GT(inside, 400);
  mesh.materials.clear();
  mesh.vertices.colors =
      copy(Context::cpu(), std::vector<Rgb8>{{0, 0, 0}, {200, 0, 0}, {200, 100, 0}, {0, 100, 0}});
  const MeshSamples tinted = sample_mesh(Context::cpu(), mesh, 500);
  for (std::size_t i = 0; i < 500; ++i) {
    EXPECT_NEAR(tinted.colors.host()[i].x, 200 * tinted.points.host()[i].x, 0.51);
    EXPECT_NEAR(tinted.colors.host()[i].y, 100 * tinted.points.host()[i].y, 0.51);
  }
}

TEST(SampleMesh, IsTheSameForAnyNumberOfThreads) {
  const TriangleMesh ball = testing::sphere(0.1f, 30, 60);
  const MeshSamples one = sample_mesh(Context::cpu(1), ball, 5000);
  const MeshSamples seven = sample_mesh(Context::cpu(7), ball, 5000);
  const MeshSamples other = sample_mesh(Context::cpu(7), ball, 5000, {.seed = 2});
  EXPECT_TRUE(std::ranges::equal(one.points.host(), seven.points.host()));
  EXPECT_TRUE(std::ranges::equal(one.normals.host(), seven.normals.host()));
  EXPECT_FALSE(std::ranges::equal(one.points.host(), other.points.host()));
  const MeshSamples a = sample_mesh_apart(Context::cpu(1), ball, 0.01f);
  const MeshSamples b = sample_mesh_apart(Context::cpu(7), ball, 0.01f);
  EXPECT_TRUE(std::ranges::equal(a.points.host(), b.points.host()));
}

float nearest_m(std::span<const Vec3f> points, const Vec3f& from) {
  float best = INFINITY;
  for (const Vec3f& p : points) {
    if (!(p == from)) best = std::min(best, norm(p - from));
  }
  return best;
}

TEST(SampleMesh, KeepsSamplesApartAndLeavesNoGaps) {
  const TriangleMesh ball = testing::sphere(0.1f, 30, 60);
  constexpr float kSpacing = 0.01f;
  const MeshSamples samples = sample_mesh_apart(Context::cpu(), ball, kSpacing);
  for (const Vec3f& p : samples.points.host()) {
    EXPECT_GE(nearest_m(samples.points.host(), p), kSpacing);
  }
  // 4 π 0.1² / 0.01² = 1257 squares. Random discs jam at 0.547 / (π / 4) = 0.70 a square; the last
  // few places take very many tries.
  EXPECT_LT(static_cast<double>(samples.size()), 0.70 * 1257);
  EXPECT_GT(static_cast<double>(samples.size()), 0.55 * 1257);
  int free = 0;
  const MeshSamples probes = sample_mesh(Context::cpu(), ball, 2000, {.seed = 9});
  for (const Vec3f& p : probes.points.host()) {
    free += nearest_m(samples.points.host(), p) > kSpacing;
  }
  EXPECT_LT(free, 60);
}

TEST(SampleMesh, SamplesBothSidesOfAThinWall) {
  TriangleMesh wall = testing::mesh_of(
      {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, -1e-3f}, {1, 0, -1e-3f}, {0, 1, -1e-3f}},
      {{0, 1, 2}, {3, 5, 4}});
  const MeshSamples samples = sample_mesh_apart(Context::cpu(), wall, 0.05f);
  std::int64_t front = 0;
  for (const Vec3f& n : samples.normals.host()) front += n.z > 0;
  EXPECT_NEAR(static_cast<double>(front) / static_cast<double>(samples.size()), 0.5, 0.05);
}

TEST(SampleMesh, OfNothingIsNothing) {
  EXPECT_EQ(sample_mesh(Context::cpu(), TriangleMesh{}, 100).size(), 0);
  const TriangleMesh flat = testing::mesh_of({{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, {{0, 1, 2}});
  EXPECT_EQ(sample_mesh(Context::cpu(), flat, 100).size(), 0);
  EXPECT_EQ(sample_mesh_apart(Context::cpu(), flat, 0.1f).size(), 0);
  EXPECT_EQ(sample_mesh(Context::cpu(), testing::sphere(1, 4, 6), 0).size(), 0);
}

TEST(SampleMesh, RefusesWhatItCannotDo) {
  const TriangleMesh ball = testing::sphere(1, 4, 6);
  EXPECT_THROW(sample_mesh(Context::cpu(), ball, -1), Error);
  EXPECT_THROW(sample_mesh_apart(Context::cpu(), ball, 0), Error);
  EXPECT_THROW(sample_mesh_apart(Context::cpu(), ball, kNan), Error);
  EXPECT_NE(testing::error_message([&] {
              sample_mesh_apart(Context::cpu(), ball, 1e-5f);
            }).find("take one above"),
            std::string::npos);
}

}  // namespace
}  // namespace sextant
