// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/cloud_resolution.h"

#include <gtest/gtest.h>

#include <numbers>

#include "tests/devices.h"
#include "tests/neighbour_clouds.h"

namespace sextant {
namespace {

float resolution_of(const Context& context, const std::vector<Vec3f>& points) {
  return cloud_resolution_m(context, copy(context, points));
}
float spacing_of(const Context& context, const std::vector<Vec3f>& points) {
  return cloud_spacing_m(context, copy(context, points));
}

TEST(CloudResolution, OfALatticeIsItsStep) {
  std::vector<Vec3f> points;
  for (int i = 0; i < 80 * 80; ++i) {
    points.push_back(Vec3f{float(i % 80), 0.25f, float(i / 80)} * 0.5f);
    if (i % 50 == 7) points.push_back({NAN, 0, 0});
    if (i % 50 == 9) points.push_back(points.back());  // a copy is no neighbour
  }
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    EXPECT_EQ(resolution_of(context, points), 0.5f);
    EXPECT_EQ(cloud_resolution_m(context, build_neighbour_grid(context, copy(context, points))),
              0.5f);
  }
}

TEST(CloudResolution, IsTheMeanOverThePoints) {
  // The nearest neighbours lie 1, 1 and 2 m away; the three in one place have none that counts.
  const std::vector<Vec3f> points{{0, 0, 0}, {1, 0, 0}, {3, 0, 0}, {9, 0, 0}, {9, 0, 0}, {9, 0, 0}};
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    EXPECT_EQ(resolution_of(context, points), 4.0f / 3.0f);
  }
}

// As where every triangle has its own vertices, or every point was written several times.
TEST(CloudResolution, OfALatticeWithManyCopiesIsItsStep) {
  std::vector<Vec3f> points;
  for (int i = 0; i < 20 * 20 * 6; ++i) {
    points.push_back(Vec3f{float(i / 6 % 20), 0.25f, float(i / 120)} * 0.5f);
  }
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    EXPECT_EQ(resolution_of(context, points), 0.5f);
  }
}

TEST(CloudResolution, OfRandomPointsIsHalfTheirSpacing) {
  const std::uint64_t seed = testing::seed_of_test();
  constexpr int kCount = 20'000;
  std::vector<Vec3f> points;
  for (int i = 0; i < kCount; ++i) {
    const Vec3f p = testing::uniform_point(seed, i);
    points.push_back({p.x, p.y, 0});
  }
  // Of n points on a unit square, the nearest neighbour lies 1 / (2 √n) away on average, with a
  // deviation of half of that; the rim adds about a percent.
  const double expected = 0.5 / std::sqrt(double{kCount});
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    EXPECT_NEAR(resolution_of(context, points), expected, 0.04 * expected);
    EXPECT_NEAR(spacing_of(context, points), 2 * expected, 0.1 * expected);
  }
}

TEST(CloudSpacing, OfALatticeIsItsStep) {
  // Around a point of a square lattice lie 4, 4, 4 and 8 others at 1, √2, 2 and √5 steps: the 15th
  // is √5 steps away.
  const double expected = std::sqrt(5.0 * std::numbers::pi / 15);
  for (const int side : {40, 80}) {  // all points, and a sample of them
    for (const float step_m : {0.001f, 0.5f, 1000.0f}) {
      std::vector<Vec3f> points;
      for (int i = 0; i < side * side; ++i) {
        points.push_back(Vec3f{float(i % side), 0.3f, float(i / side)} * step_m);
        if (i % 50 == 7) points.push_back({NAN, 0, 0});
      }
      for (const Context& context : testing::all_contexts()) {
        SCOPED_TRACE(testing::describe(context));
        EXPECT_NEAR(spacing_of(context, points) / step_m, expected, 1e-4);
        EXPECT_NEAR(default_sigma_m(context, copy(context, points)) / step_m, 3 * expected, 1e-3);
      }
    }
  }
}

TEST(CloudSpacing, OfDegenerateClouds) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const testing::TestCloud& cloud : testing::test_clouds(testing::seed_of_test())) {
      SCOPED_TRACE(cloud.name);
      const float spacing_m = spacing_of(context, cloud.points);
      const float resolution_m = resolution_of(context, cloud.points);
      const bool none = cloud.name == "none" || cloud.name == "one point" ||
                        cloud.name == "coincident" || cloud.name == "nothing but NaN" ||
                        cloud.name == "at the ends of float";  // squared, distances are none
      EXPECT_EQ(std::isnan(spacing_m), none);
      EXPECT_TRUE(none || spacing_m > 0);
      EXPECT_EQ(std::isnan(resolution_m), none);
      EXPECT_TRUE(none || resolution_m > 0);
      EXPECT_GT(default_sigma_m(context, copy(context, cloud.points)), 0);
    }
    // Two points have one neighbour each.
    EXPECT_NEAR(spacing_of(context, {{0, 0, 0}, {2, 0, 0}}), 2 * std::sqrt(std::numbers::pi), 1e-5);
  }
}

}  // namespace
}  // namespace sextant
