// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/survey_clouds.h"

#include <gtest/gtest.h>

#include "sextant/core/error.h"
#include "tests/devices.h"

namespace sextant {
namespace {

TEST(SurveyClouds, LieOnTheirSurfaces) {
  const std::uint64_t seed = testing::seed_of_test();
  for (const Vec3f& p : paraboloid_survey(500, 0, seed).points) {
    EXPECT_NEAR(p.z, 1 - 0.02f * (p.x * p.x + p.y * p.y), 1e-6f);
    EXPECT_LE(std::abs(p.x), 5);
  }
  // Every face of stairs and rooms looks along an axis, and the points lie in it.
  for (const SurveyCloud& cloud : {stairs_survey(800, 0, seed), apartment_survey(800, 0, seed)}) {
    ASSERT_EQ(cloud.points.size(), 800u);
    for (const Vec3f& n : cloud.normals) {
      EXPECT_EQ(std::abs(n.x) + std::abs(n.y) + std::abs(n.z), 1);
    }
  }
  for (const Vec3f& p : apartment_survey(800, 0, seed).points) {
    EXPECT_TRUE(p.x >= 0 && p.x <= 8 && p.y >= 0 && p.y <= 8 && p.z >= 0 && p.z <= 2.5f);
  }
  // The slope of the ground, by central differences of its formula.
  const SurveyCloud plain = plain_survey(300, 0, seed);
  const auto height = [](double x, double y) {
    return 0.5 * std::sin(0.4 * x) * std::cos(0.3 * y);
  };
  for (std::size_t i = 0; i < plain.points.size(); ++i) {
    const Vec3d p = cast<double>(plain.points[i]), n = cast<double>(plain.normals[i]);
    EXPECT_NEAR(p.z, height(p.x, p.y), 1e-6);
    EXPECT_NEAR(-n.x / n.z, (height(p.x + 1e-4, p.y) - height(p.x - 1e-4, p.y)) / 2e-4, 1e-5);
    EXPECT_NEAR(-n.y / n.z, (height(p.x, p.y + 1e-4) - height(p.x, p.y - 1e-4)) / 2e-4, 1e-5);
  }
}

TEST(SurveyClouds, AreScaledToAMeanNumberOfNeighbours) {
  const Context context = Context::cpu(2);
  constexpr float kRadius_m = 0.5f;
  for (SurveyCloud cloud : {apartment_survey(3000, 0.01, 1), plain_survey(3000, 0.01, 1)}) {
    scale_to_neighbours(context, kRadius_m, 40, cloud.points);
    double pairs = 0;
    for (const Vec3f& p : cloud.points) {
      for (const Vec3f& q : cloud.points) pairs += norm(p - q) <= kRadius_m;
    }
    EXPECT_NEAR(pairs / 3000 - 1, 40, 0.21);
  }
  std::vector<Vec3f> few(10);
  EXPECT_THROW(scale_to_neighbours(context, 1, 10, few), Error);
}

}  // namespace
}  // namespace sextant
