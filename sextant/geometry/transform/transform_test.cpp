// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/transform.h"

#include <gtest/gtest.h>

#include <numbers>

#include "tests/devices.h"

namespace sextant {
namespace {

TEST(Transform, CarriesPointsAndTurnsDirections) {
  // A quarter turn about z, then a step.
  const Rigid3d motion{exp_rotation(Vec3d{0, 0, std::numbers::pi / 2}), {10, 20, 30}};
  const std::vector<Vec3f> from{{1, 2, 3}, {NAN, 0, 0}, {0, 0, -1}};
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Buffer<Vec3f> points = copy(context, from);
    const std::vector<Vec3f> moved = to_host(context, transform_points(context, motion, points));
    EXPECT_LT(norm(moved[0] - Vec3f{8, 21, 33}), 1e-5f);
    EXPECT_FALSE(is_finite(moved[1]));
    const std::vector<Vec3f> turned =
        to_host(context, turn_directions(context, motion.rotation, points));
    EXPECT_LT(norm(turned[0] - Vec3f{-2, 1, 3}), 1e-6f);
    transform_points_into(context, motion, points, points);
    EXPECT_EQ(to_host(context, points)[0], moved[0]);
    transform_points_into(context, inverse(motion), points, points);
    EXPECT_LT(norm(to_host(context, points)[2] - from[2]), 1e-5f);
  }
}

}  // namespace
}  // namespace sextant
