// SPDX-License-Identifier: Apache-2.0
#include "sextant/pose/p3p.h"

#include <gtest/gtest.h>

#include "tests/devices.h"
#include "tests/photo_observations.h"

namespace sextant {
namespace {

using testing::Draws;
using testing::seed_of_test;

double nearest(const P3pSolutions& solutions, const Rigid3d& truth) {
  double least = INFINITY;
  for (int i = 0; i < solutions.count; ++i) {
    const Rigid3d rest = inverse(truth) * solutions.camera_from_object[i];
    least = std::min(least, rotation_angle(rest.rotation) + norm(rest.translation));
  }
  return least;
}

TEST(P3p, FindsThePoseAmongAtMostFour) {
  int missed = 0, counts[5] = {};
  for (std::uint64_t trial = 0; trial < 100000; ++trial) {
    Draws draws(seed_of_test(), trial);
    const Rigid3d truth{
        draws.rotation(),
        {draws.uniform(-0.5, 0.5), draws.uniform(-0.5, 0.5), draws.uniform(0.4, 3)}};
    Vec3d points[3], rays[3];
    for (int i = 0; i < 3; ++i) {
      points[i] = draws.in_box(0.1);
      rays[i] = truth * points[i] * draws.uniform(0.1, 10);
    }
    const P3pSolutions solutions = solve_p3p(points, rays);
    ASSERT_LE(solutions.count, 4);
    ++counts[solutions.count];
    for (int i = 0; i < solutions.count; ++i) {
      const Rigid3d& pose = solutions.camera_from_object[i];
      ASSERT_NEAR(determinant(pose.rotation), 1, 1e-9);
      for (int k = 0; k < 3; ++k) {
        const Vec3d p = pose * points[k];
        ASSERT_GT(dot(p, rays[k]), 0);
        ASSERT_LT(norm(cross(p, normalized(rays[k]))), 1e-6) << trial;
      }
    }
    const double error = nearest(solutions, truth);
    if (error > 1e-5) ++missed;
  }
  // A small triangle far away is nearly orthographic: there pairs of solutions nearly meet, and
  // rounding may take both.
  EXPECT_LE(missed, 100);
  EXPECT_EQ(counts[0], 0);
  EXPECT_GT(counts[2], 10000);
  EXPECT_GT(counts[4], 100);  // four are rare where the triangle is small
}

TEST(P3p, PointsOnALineCoincidingOnesAndNoNumbersGiveNone) {
  const Vec3d rays[3] = {{0, 0, 1}, {0.1, 0, 1}, {0, 0.1, 1}};
  const Vec3d on_a_line[3] = {{0, 0, 0}, {0.1, 0.1, 0}, {0.3, 0.3, 0}};
  EXPECT_EQ(solve_p3p(on_a_line, rays).count, 0);
  const Vec3d twice[3] = {{0, 0, 0}, {0, 0, 0}, {0.3, 0.3, 0}};
  EXPECT_EQ(solve_p3p(twice, rays).count, 0);
  const Vec3d nan[3] = {{0, 0, 0}, {NAN, 0, 0}, {0.3, 0.3, 0}};
  EXPECT_EQ(solve_p3p(nan, rays).count, 0);
  const Vec3d good[3] = {{0, 0, 0}, {0.1, 0, 0}, {0, 0.1, 0}};
  EXPECT_GT(solve_p3p(good, rays).count, 0);
  const Vec3d same_ray[3] = {{0, 0, 1}, {0, 0, 2}, {0, 0.1, 1}};
  EXPECT_EQ(solve_p3p(good, same_ray).count, 0);
  const Vec3d no_ray[3] = {{0, 0, 0}, {0.1, 0, 1}, {0, 0.1, 1}};
  EXPECT_EQ(solve_p3p(good, no_ray).count, 0);
  const Vec3d nan_ray[3] = {{0, 0, 1}, {0.1, NAN, 1}, {0, 0.1, 1}};
  EXPECT_EQ(solve_p3p(good, nan_ray).count, 0);
  const Vec3d huge[3] = {{0, 0, 0}, {INFINITY, 0, 0}, {0, 0.1, 0}};
  EXPECT_EQ(solve_p3p(huge, rays).count, 0);
}

TEST(P3p, UnitsOfLengthDoNotMatter) {
  for (const double unit : {1e-6, 1.0, 1e6}) {
    Draws draws(seed_of_test(), 0);
    const Rigid3d truth{draws.rotation(), Vec3d{0.1, -0.2, 1.5} * unit};
    Vec3d points[3], rays[3];
    for (int i = 0; i < 3; ++i) {
      points[i] = draws.in_box(0.1) * unit;
      rays[i] = truth * points[i];
    }
    const P3pSolutions solutions = solve_p3p(points, rays);
    double least = INFINITY;
    for (int i = 0; i < solutions.count; ++i) {
      const Rigid3d rest = inverse(truth) * solutions.camera_from_object[i];
      least = std::min(least, rotation_angle(rest.rotation) + norm(rest.translation) / unit);
    }
    EXPECT_LT(least, 1e-9) << unit;
  }
}

TEST(P3p, AnEquilateralTriangleStraightAhead) {
  // As symmetric as can be: all distances are equal in one solution and D's members degenerate.
  Vec3d points[3], rays[3];
  for (int i = 0; i < 3; ++i) {
    points[i] = {std::cos(i * 2.0943951023931953), std::sin(i * 2.0943951023931953), 0};
    rays[i] = points[i] + Vec3d{0, 0, 3};
  }
  const P3pSolutions solutions = solve_p3p(points, rays);
  EXPECT_GE(solutions.count, 1);
  EXPECT_LT(nearest(solutions, {Mat3d::identity(), {0, 0, 3}}), 1e-6);
}

}  // namespace
}  // namespace sextant
