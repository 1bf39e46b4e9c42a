// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/no_returns.h"

#include <gtest/gtest.h>

#include "sextant/core/context.h"
#include "tests/devices.h"
#include "tests/neighbour_clouds.h"

namespace sextant {
namespace {

TEST(NoReturns, ArePlacesThatVeryManyPointsShare) {
  const std::uint64_t seed = testing::seed_of_test();
  const Vec3f mark{-1.5f, 0.0f, 2.0f};  // what (0, 0, 0) became in another frame
  std::vector<Vec3f> points;
  for (int i = 0; i < 3000; ++i) {
    points.push_back(testing::uniform_point(seed, i));
    if (i % 3 == 0) points.push_back(i % 2 ? Vec3f{} : Vec3f{-0.0f, 0, 0});  // 1000 of these
    if (i < kMostCopies) points.push_back({5, 5, 5});                        // as many as may be
    if (i <= kMostCopies) points.push_back(mark);                            // one more
    if (i % 50 == 0) points.push_back({NAN, NAN, NAN});
  }
  Cloud cloud;
  cloud.points = copy(Context::cpu(), points);
  EXPECT_EQ(clear_no_returns(cloud), 1000 + kMostCopies + 1);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec3f& p = cloud.points.host()[i];
    if (!is_finite(points[i]) || points[i] == Vec3f{} || points[i] == mark) {
      ASSERT_FALSE(is_finite(p));
    } else {
      ASSERT_EQ(p, points[i]);
    }
  }
  EXPECT_EQ(clear_no_returns(cloud), 0);
}

TEST(NoReturns, OfNothingAreNone) {
  Cloud cloud;
  EXPECT_EQ(clear_no_returns(cloud), 0);
}

}  // namespace
}  // namespace sextant
