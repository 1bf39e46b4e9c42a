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

TEST(CloudResolution, OfALatticeIsItsStep) {
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
        EXPECT_NEAR(resolution_of(context, points) / step_m, expected, 1e-4);
        EXPECT_NEAR(default_sigma_m(context, copy(context, points)) / step_m, 3 * expected, 1e-3);
      }
    }
  }
}

TEST(CloudResolution, OfDegenerateClouds) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const testing::TestCloud& cloud : testing::test_clouds(testing::seed_of_test())) {
      SCOPED_TRACE(cloud.name);
      const float resolution_m = resolution_of(context, cloud.points);
      const bool none = cloud.name == "none" || cloud.name == "one point" ||
                        cloud.name == "coincident" || cloud.name == "nothing but NaN" ||
                        cloud.name == "at the ends of float";  // squared, distances are none
      EXPECT_EQ(resolution_m == 0, none);
      EXPECT_TRUE(resolution_m >= 0);
      EXPECT_GT(default_sigma_m(context, copy(context, cloud.points)), 0);
    }
    // Two points have one neighbour each.
    EXPECT_NEAR(resolution_of(context, {{0, 0, 0}, {2, 0, 0}}), 2 * std::sqrt(std::numbers::pi),
                1e-5);
  }
}

}  // namespace
}  // namespace sextant
