// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/triangle_tree/triangle_tree.h"

#include <gtest/gtest.h>

#include "sextant/core/random.h"
#include "tests/devices.h"
#include "tests/meshes.h"

namespace sextant {
namespace {

Vec3d random_point(const Random& random, std::uint64_t draw) {
  return {random.normal(draw), random.normal(draw + 1), random.normal(draw + 2)};
}

TEST(TriangleTree, FindsTheNearestPointOfABall) {
  const TriangleMesh ball = testing::sphere(1, 60, 120);
  const detail::TriangleTree tree(Context::cpu(), ball.vertices.points.host(),
                                  ball.triangles.host());
  // Chords of 3 degrees lie at most 1 - cos(1.5°)·cos(1.5°) inside the ball.
  const double sag = 1 - std::pow(std::cos(M_PI / 120), 2);
  for (std::uint64_t i = 0; i < 500; ++i) {
    const Vec3d p = random_point({testing::seed_of_test(), i}, 0);
    const detail::NearestOnTriangles found = tree.nearest(p);
    ASSERT_GE(found.triangle, 0);
    EXPECT_NEAR(std::sqrt(found.distance_sq), std::abs(norm(p) - 1), sag + 1e-6);
    EXPECT_NEAR(norm(found.point - p), std::sqrt(found.distance_sq), 1e-12);
    EXPECT_EQ(tree.nearest(p, found.distance_sq * 0.99).triangle, -1);
  }
}

TEST(TriangleTree, AgreesWithEveryTriangleInTurn) {
  std::vector<Vec3f> points;
  std::vector<Vec3i> triangles;
  for (std::uint64_t i = 0; i < 300; ++i) {
    points.push_back(cast<float>(random_point({testing::seed_of_test(), i}, 0)));
    const auto n = static_cast<std::int32_t>(i);
    if (i % 3 == 2) triangles.push_back({n - 2, n - 1, n});
  }
  triangles.push_back({0, 0, 5});  // a segment
  triangles.push_back({7, 7, 7});  // a point
  const detail::TriangleTree tree(Context::cpu(), points, triangles);
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Vec3d p = random_point({testing::seed_of_test(), i}, 9);
    double best = INFINITY;
    for (const Vec3i& t : triangles) {
      const auto at = [&](int k) { return cast<double>(points[static_cast<std::size_t>(k)]); };
      // The distance as the least over a fine lattice on the triangle, which errs upwards.
      for (int u = 0; u <= 20; ++u) {
        for (int v = 0; v <= 20 - u; ++v) {
          const Vec3d q =
              at(t.x) * (u / 20.0) + at(t.y) * (v / 20.0) + at(t.z) * (1 - (u + v) / 20.0);
          best = std::min(best, norm(q - p));
        }
      }
    }
    const double found = std::sqrt(tree.nearest(p).distance_sq);
    EXPECT_LE(found, best + 1e-12);
    EXPECT_GE(found, best - 0.25);  // the lattice's steps are at most a twentieth of some 5
  }
}

TEST(TriangleTree, RaysLeaveABallOnlyOutwards) {
  const TriangleMesh ball = testing::sphere(1, 20, 40);
  const detail::TriangleTree tree(Context::cpu(), ball.vertices.points.host(),
                                  ball.triangles.host());
  for (std::uint64_t i = 0; i < 300; ++i) {
    const Random random{testing::seed_of_test(), i};
    const Vec3d inside = normalized(random_point(random, 0)) * 0.9;
    const Vec3d outside = normalized(inside) * 1.01;
    const Vec3d direction = normalized(random_point(random, 3));
    EXPECT_TRUE(tree.meets(inside, direction, 0, -1));
    EXPECT_FALSE(tree.meets(outside, normalized(inside), 0, -1));
    EXPECT_TRUE(tree.meets(outside, -normalized(inside), 0, -1));
    EXPECT_FALSE(tree.meets(inside, direction, 2.1, -1));  // behind the ball
  }
  EXPECT_TRUE(tree.meets({0, 0, 0.1}, {1, 0, 0}, 0, -1));  // along an axis
}

TEST(TriangleTree, FindsTheWallThatFacesTheRightWay) {
  // Two walls, at z = 0 facing down and at z = 1 facing up.
  const TriangleMesh walls = testing::mesh_of(
      {{0, 0, 0}, {9, 0, 0}, {0, 9, 0}, {0, 0, 1}, {9, 0, 1}, {0, 9, 1}}, {{0, 2, 1}, {3, 4, 5}});
  const detail::TriangleTree tree(Context::cpu(), walls.vertices.points.host(),
                                  walls.triangles.host());
  EXPECT_EQ(tree.nearest({1, 1, 0.1}).triangle, 0);
  EXPECT_EQ(tree.nearest({1, 1, 0.1}, INFINITY, {0, 0.1, 1}).triangle, 1);
  EXPECT_EQ(tree.nearest({1, 1, 0.1}, 0.5, {0, 0, 1}).triangle, -1);
  EXPECT_EQ(tree.normal(0), (Vec3d{0, 0, -1}));
}

TEST(TriangleTree, TakesPoints) {
  const std::vector<Vec3f> points{{0, 0, 0}, {1, 0, 0}, {NAN, 0, 0}};
  const std::vector<Vec3f> normals{{0, 0, 2}, {0, 0, -1}, {0, 0, 1}};
  const detail::TriangleTree tree(Context::cpu(), points, normals);
  EXPECT_EQ(tree.nearest({0.9, 0, 0}).triangle, 1);
  EXPECT_EQ(tree.nearest({0.9, 0, 0}, INFINITY, {0, 0, 1}).triangle, 0);
  EXPECT_EQ(tree.normal(0), (Vec3d{0, 0, 1}));
}

TEST(TriangleTree, OfNothingHasNothing) {
  const detail::TriangleTree tree(Context::cpu(), {}, std::span<const Vec3i>{});
  EXPECT_EQ(tree.nearest({0, 0, 0}).triangle, -1);
  EXPECT_FALSE(tree.meets({0, 0, 0}, {0, 0, 1}, 0, -1));
}

}  // namespace
}  // namespace sextant
