// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/symmetries.h"

#include <gtest/gtest.h>

#include <numbers>

#include "sextant/core/error.h"
#include "sextant/core/random.h"
#include "tests/devices.h"

namespace sextant {
namespace {

constexpr double kPi = std::numbers::pi;

Rigid3d random_pose(std::uint64_t seed, std::uint64_t item) {
  const Random random{seed, item};
  const Vec3d axis{random.normal(0), random.normal(1), random.normal(2)};
  return {exp_rotation(axis), {random.normal(3), random.normal(4), random.normal(5)}};
}

double distance(const Rigid3d& a, const Rigid3d& b) {
  return rotation_angle(transpose(a.rotation) * b.rotation) + norm(a.translation - b.translation);
}

/// A can whose middle lies off the origin: an axis and a flip.
Symmetries can() {
  const Vec3d middle{0.1, -0.2, 0.3};
  Symmetries s;
  s.continuous.push_back({normalized(Vec3d{1, 2, 2}), middle});
  s.discrete.push_back(turn_about({normalized(Vec3d{2, -1, 0}), middle}, kPi));
  return s;
}

TEST(Symmetries, MotionsFollowBopsRule) {
  EXPECT_EQ(symmetry_motions({}).size(), 1u);
  const Symmetries s = can();
  const std::vector<Rigid3d> motions = symmetry_motions(s);
  ASSERT_EQ(motions.size(), 2u * 315u);  // ⌈π / 0.01⌉
  EXPECT_EQ(distance(motions[0], Rigid3d{}), 0);
  // A point beside the axis stays at its distance from it and moves by a 315th of a turn.
  const Vec3d p = s.continuous[0].point_m + normalized(Vec3d{2, -1, 0}) * 0.5;
  EXPECT_NEAR(norm(motions[1] * p - p), 2 * 0.5 * std::sin(kPi / 315), 1e-12);
  for (const Rigid3d& m : motions) {
    EXPECT_NEAR(norm(m * s.continuous[0].point_m - s.continuous[0].point_m), 0, 1e-12);
    EXPECT_NEAR(determinant(m.rotation), 1, 1e-12);
  }
  EXPECT_EQ(symmetry_motions(s, 0.1).size(), 2u * 32u);
  EXPECT_THROW(symmetry_motions(s, 0), Error);
  EXPECT_THROW(symmetry_motions(s, NAN), Error);
}

TEST(Symmetries, NearestEquivalentIsTheBestOfAllMotions) {
  const Symmetries s = can();
  const std::vector<Rigid3d> motions = symmetry_motions(s, 0.001);
  for (std::uint64_t i = 0; i < 50; ++i) {
    const Rigid3d pose = random_pose(testing::seed_of_test(), 2 * i);
    const Rigid3d reference = random_pose(testing::seed_of_test(), 2 * i + 1);
    const Rigid3d nearest = nearest_equivalent(s, pose, reference);
    double least = INFINITY;
    double same = INFINITY;
    for (const Rigid3d& m : motions) {
      least = std::min(least, rotation_angle(transpose((pose * m).rotation) * reference.rotation));
      same = std::min(same, distance(pose * m, nearest));
    }
    const double found = rotation_angle(transpose(nearest.rotation) * reference.rotation);
    EXPECT_LE(found, least + 1e-12);
    EXPECT_GE(found, least - 1e-3);  // half a step of the motions
    EXPECT_LT(same, 2e-3);           // and it is one of them
  }
}

TEST(Symmetries, DifferenceForgetsEquivalentPoses) {
  const Symmetries s = can();
  const std::vector<Rigid3d> motions = symmetry_motions(s, 0.05);
  const Rigid3d reference = random_pose(testing::seed_of_test(), 0);
  const Rigid3d error{exp_rotation(Vec3d{0.01, 0.02, -0.01}), {0.001, 0, 0}};
  for (const Rigid3d& m : motions) {
    const PoseDifference none = difference_modulo(s, reference * m, reference);
    EXPECT_NEAR(none.rotation_rad, 0, 1e-7);
    EXPECT_NEAR(none.translation_m, 0, 1e-7);
    const PoseDifference some = difference_modulo(s, error * reference * m, reference);
    EXPECT_LE(some.rotation_rad, norm(Vec3d{0.01, 0.02, -0.01}) + 1e-9);
    EXPECT_GT(some.rotation_rad, 0.001);
  }
  const PoseDifference plain = difference_modulo({}, error * reference, reference);
  EXPECT_NEAR(plain.rotation_rad, norm(Vec3d{0.01, 0.02, -0.01}), 1e-9);
}

TEST(Symmetries, ABallHasNoRotation) {
  const Vec3d middle{0.3, 0.2, -0.1};
  Symmetries ball;
  for (const Vec3d& axis : {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}}) {
    ball.continuous.push_back({axis, middle});
  }
  const Rigid3d pose = random_pose(testing::seed_of_test(), 0);
  Rigid3d reference = random_pose(testing::seed_of_test(), 1);
  reference.translation = pose * middle - reference.rotation * middle;  // the same middle
  const PoseDifference d = difference_modulo(ball, pose, reference);
  EXPECT_NEAR(d.rotation_rad, 0, 1e-7);
  EXPECT_NEAR(d.translation_m, 0, 1e-12);
}

TEST(Symmetries, OfEquallyNearPosesTheNearerPlaceWins) {
  // A flip about an axis beside the origin moves the origin.
  Symmetries s;
  s.discrete.push_back(turn_about({{0, 0, 1}, {1, 0, 0}}, kPi));
  const Rigid3d reference{exp_rotation(Vec3d{0, 0, kPi / 2}), {2, 0, 0}};
  const Rigid3d found = nearest_equivalent(s, Rigid3d{}, reference);
  EXPECT_NEAR(found.translation.x, 2, 1e-12);
}

}  // namespace
}  // namespace sextant
