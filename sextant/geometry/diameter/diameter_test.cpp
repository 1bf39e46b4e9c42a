// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/diameter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "sextant/core/random.h"
#include "sextant/io/ply.h"
#include "tests/devices.h"
#include "tests/meshes.h"
#include "tests/shared_data.h"

namespace sextant {
namespace {

double by_all_pairs(const std::vector<Vec3f>& points) {
  double best_sq = -1;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = i; j < points.size(); ++j) {
      const double d = norm_sq(cast<double>(points[i]) - cast<double>(points[j]));
      if (std::isfinite(d)) best_sq = std::max(best_sq, d);
    }
  }
  return std::sqrt(best_sq);
}

/// Clouds that make a search hard: many pairs are nearly as long as the longest.
std::vector<std::vector<Vec3f>> hard_clouds(std::uint64_t seed, int count) {
  std::vector<std::vector<Vec3f>> clouds(7);
  for (int i = 0; i < count; ++i) {
    const Random random{seed, static_cast<std::uint64_t>(i)};
    const Vec3f unit =
        normalized(Vec3f{static_cast<float>(random.normal(0)), static_cast<float>(random.normal(1)),
                         static_cast<float>(random.normal(2))});
    const float u = random.uniform(3);
    const float turn = 6.2831853f * u;
    const float v = random.uniform(4);
    const float w = random.uniform(5);
    clouds[0].push_back(unit * 0.3f + Vec3f{5, -2, 1});  // a sphere far from the origin
    clouds[1].push_back({u, v, w});                      // a full cube
    clouds[2].push_back({std::cos(turn), std::sin(turn), i % 2 ? 40.0f : 0.0f});  // two rims
    clouds[3].push_back({u, 1e-4f * v, 0});                                       // nearly a line
    // A triangle of three equal sides, whose middle is farther from its corners than half a side.
    const Vec3f corner[] = {{0, 0, 0}, {1, 0, 0}, {0.5f, 0.8660254f, 0}};
    clouds[4].push_back(corner[i % 3] * (1 - 0.5f * v) + corner[(i + 1) % 3] * (0.5f * v));
    clouds[5].push_back({2, 3, 4});                             // one place
    clouds[6].push_back(unit * (i % 3 == 0 ? NAN : 0.1f * u));  // with holes
  }
  return clouds;
}

TEST(Diameter, IsThatOfAllPairs) {
  for (const int count : {1, 2, 15, 17, 300, 2000}) {
    for (auto& cloud : hard_clouds(testing::seed_of_test(), count)) {
      if (count == 1 && !is_finite(cloud[0])) continue;
      const double truth = by_all_pairs(cloud);
      const double found = diameter_m(Context::cpu(1), view_of(cloud));
      EXPECT_EQ(found, truth);
      std::reverse(cloud.begin(), cloud.end());
      EXPECT_EQ(diameter_m(Context::cpu(7), view_of(std::as_const(cloud))), found);
    }
  }
}

TEST(Diameter, OfABoxIsItsDiagonal) {
  std::vector<Vec3f> corners;
  for (int i = 0; i < 8; ++i) {
    corners.push_back({i & 1 ? 0.25f : 0, i & 2 ? 0.5f : 0, i & 4 ? 0.125f : 0});
  }
  EXPECT_DOUBLE_EQ(diameter_m(Context::cpu(), view_of(corners)), std::sqrt(0.328125));
}

TEST(Diameter, OfNothingIsNotANumber) {
  const std::vector<Vec3f> holes{{NAN, 0, 0}, {INFINITY, 0, 0}};
  EXPECT_TRUE(std::isnan(diameter_m(Context::cpu(), view_of(holes))));
  EXPECT_TRUE(std::isnan(diameter_m(Context::cpu(), {})));
  EXPECT_EQ(diameter_m(Context::cpu(), view_of(std::vector<Vec3f>{{1, 2, 3}})), 0.0);
}

/// A search that compares a share of all pairs of so many points takes minutes.
TEST(Diameter, OfManyPointsIsFoundSoon) {
  for (const auto& cloud : hard_clouds(testing::seed_of_test(), 300'000)) {
    const auto start = std::chrono::steady_clock::now();
    const double found = diameter_m(Context::cpu(), view_of(cloud));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    EXPECT_GE(found, 0);
    EXPECT_LT(seconds.count(), 10);
  }
}

TEST(Diameter, OfLinemodsApeIsThatOfItsDataSet) {
  const auto path = testing::shared_data("linemod_ape/obj_01.ply");
  if (!path) GTEST_SKIP() << "no captured data";
  const TriangleMesh ape = read_ply(*path, {.unit_m = 0.001});
  EXPECT_NEAR(diameter_m(Context::cpu(), ape.vertices.points), 0.10209865663, 1e-8);
}

}  // namespace
}  // namespace sextant
