// SPDX-License-Identifier: Apache-2.0
#include "sextant/pose/mean_pose.h"

#include <gtest/gtest.h>

#include "tests/devices.h"
#include "tests/error_message.h"
#include "tests/photo_observations.h"

namespace sextant {
namespace {

using testing::Draws;
using testing::seed_of_test;

TEST(MeanPose, OfOneIsItself) {
  Draws draws(seed_of_test(), 0);
  const Rigid3d pose{draws.rotation(), {1, 2, 3}};
  const Rigid3d mean = mean_pose(std::span(&pose, 1));
  EXPECT_LT(rotation_angle(transpose(pose.rotation) * mean.rotation), 1e-12);
  EXPECT_EQ(mean.translation, pose.translation);
}

TEST(MeanPose, LiesHalfwayBetweenTwoAndNearerToTheHeavier) {
  Draws draws(seed_of_test(), 0);
  for (int trial = 0; trial < 100; ++trial) {
    const Mat3d middle = draws.rotation();
    const Vec3d axis = draws.in_box(0.5);
    const Mat3d two[] = {middle * exp_rotation(axis), middle * exp_rotation(-axis)};
    EXPECT_LT(rotation_angle(transpose(middle) * mean_rotation(two)), 1e-7);
    const double weights[] = {3, 1};
    const Mat3d mean = mean_rotation(two, weights);
    EXPECT_LT(rotation_angle(transpose(mean) * two[0]), rotation_angle(transpose(mean) * two[1]));
    const double alone[] = {0, 2};
    EXPECT_LT(rotation_angle(transpose(mean_rotation(two, alone)) * two[1]), 1e-7);
  }
  const Rigid3d poses[] = {{Mat3d::identity(), {0, 0, 0}}, {Mat3d::identity(), {4, 0, 8}}};
  const double weights[] = {3, 1};
  EXPECT_EQ(mean_pose(poses, weights).translation, (Vec3d{1, 0, 2}));
}

TEST(MeanPose, RefusesWhatHasNoMean) {
  const Rigid3d poses[2] = {};
  const double none[] = {0, 0}, negative[] = {1, -1}, one[] = {1}, nan[] = {1, NAN};
  using testing::error_message;
  using testing::mentions;
  EXPECT_TRUE(mentions(error_message([&] { mean_pose({}); }), "nothing"));
  EXPECT_TRUE(mentions(error_message([&] { mean_pose(poses, none); }), "zero"));
  EXPECT_TRUE(mentions(error_message([&] { mean_pose(poses, negative); }), "-1"));
  EXPECT_TRUE(mentions(error_message([&] { mean_pose(poses, one); }), "1 for 2"));
  EXPECT_TRUE(mentions(error_message([&] { mean_pose(poses, nan); }), "not a weight"));
}

}  // namespace
}  // namespace sextant
