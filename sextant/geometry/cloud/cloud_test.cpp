// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/cloud.h"

#include <gtest/gtest.h>

#include "tests/devices.h"

namespace sextant {
namespace {

TEST(Cloud, BoundsLeaveHolesOut) {
  std::vector<Vec3f> points(10000, Vec3f{NAN, NAN, NAN});
  points[17] = {-1, 2, 3};
  points[9000] = {4, -5, 6};
  points[42] = {0, INFINITY, 0};
  points[43] = {100, NAN, 0};
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Bounds box = bounds(context, copy(context, points));
    EXPECT_EQ(box.low, (Vec3f{-1, -5, 3}));
    EXPECT_EQ(box.high, (Vec3f{4, 2, 6}));
    EXPECT_FLOAT_EQ(box.diagonal_m(), std::sqrt(25.0f + 49.0f + 9.0f));
    EXPECT_TRUE(bounds(context, Buffer<Vec3f>(context, 0)).empty());
    EXPECT_EQ(bounds(context, copy(context, std::vector<Vec3f>{{NAN, 0, 0}})).diagonal_m(), 0.0f);
  }
}

}  // namespace
}  // namespace sextant
