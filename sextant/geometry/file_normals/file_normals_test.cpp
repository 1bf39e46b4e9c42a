// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/file_normals.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/core/random.h"
#include "tests/devices.h"
#include "tests/meshes.h"

namespace sextant {
namespace {

Cloud ball(float length = 1) {
  Cloud cloud = std::move(testing::sphere(0.3f, 40, 80).vertices);
  for (Vec3f& n : cloud.normals.host()) n = n * length;
  return cloud;
}

TEST(FileNormals, OfAnyLengthBecomeUnitVectors) {
  for (const float length : {0.01f, 1.0f, 127.0f}) {
    Cloud cloud = ball(length);
    const UnitNormals made = make_unit_normals(cloud);
    EXPECT_EQ(made.scaled, length == 1 ? 0 : cloud.size());
    EXPECT_FALSE(made.dropped);
    for (std::int64_t i = 0; i < cloud.size(); ++i) {
      EXPECT_NEAR(norm(cloud.normals.data()[i]), 1, 1e-3);
      EXPECT_GT(dot(cloud.normals.data()[i], normalized(cloud.points.data()[i])), 0.999f);
    }
  }
}

TEST(FileNormals, ZerosAreMissingAndManyOfThemMeanNone) {
  Cloud few = ball();
  few.normals.data()[7] = {};
  few.points.data()[9] = {NAN, NAN, NAN};
  few.normals.data()[9] = {};
  EXPECT_EQ(make_unit_normals(few).zero, 1);
  EXPECT_TRUE(std::isnan(few.normals.data()[7].x));
  Cloud many = ball();
  for (std::int64_t i = 0; i < many.size(); i += 5) many.normals.data()[i] = {};
  EXPECT_TRUE(make_unit_normals(many).dropped);
  EXPECT_TRUE(many.normals.empty());
  Cloud none = ball(0);
  EXPECT_TRUE(make_unit_normals(none).dropped);
  Cloud without = ball();
  without.normals = {};
  EXPECT_FALSE(make_unit_normals(without).dropped);
}

TEST(FileNormals, RandomSignsAreSeen) {
  const Random random{testing::seed_of_test(), 0};
  Cloud cloud = ball();
  EXPECT_EQ(share_of_opposite_normals(cloud), 0);
  for (std::int64_t i = 0; i < cloud.size(); ++i) {
    if (random.uniform(static_cast<std::uint64_t>(i)) < 0.5f) {
      cloud.normals.data()[i] = cloud.normals.data()[i] * -1.0f;
    }
  }
  EXPECT_NEAR(share_of_opposite_normals(cloud), 0.5, 0.15);  // 256 points: 4.8 deviations
  cloud.normals = {};
  EXPECT_EQ(share_of_opposite_normals(cloud), 0);
  EXPECT_EQ(share_of_opposite_normals(Cloud{}), 0);
}

}  // namespace
}  // namespace sextant
