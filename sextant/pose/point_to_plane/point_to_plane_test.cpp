// SPDX-License-Identifier: Apache-2.0
#include "sextant/pose/point_to_plane.h"

#include <gtest/gtest.h>

#include "sextant/core/random.h"
#include "tests/devices.h"

namespace sextant {
namespace {

Vec3d draw(const Random& random, std::uint64_t first) {
  return {random.normal(first), random.normal(first + 1), random.normal(first + 2)};
}

TEST(PointToPlane, JacobianIsTheCentralDifference) {
  for (std::uint64_t item = 0; item < 100; ++item) {
    const Random random{testing::seed_of_test(), item};
    const Vec3d x = draw(random, 0), q = draw(random, 3), centre = draw(random, 6);
    const Vec3d n = normalized(draw(random, 9));
    double row[6];
    point_to_plane_jacobian(x - centre, n, row);
    for (int i = 0; i < 6; ++i) {
      constexpr double kStep = 1e-5;
      double r[2];
      for (int side = 0; side < 2; ++side) {
        double unknown[6] = {};
        unknown[i] = side == 0 ? -kStep : kStep;
        const Rigid3d motion = motion_about(
            {{unknown[0], unknown[1], unknown[2]}, {unknown[3], unknown[4], unknown[5]}}, centre);
        r[side] = point_to_plane_residual(motion * x, q, n);
      }
      // Third derivatives are at most |x - c|, below 10: the difference errs by 10 h² / 6, and
      // rounding by 1e-15 / h.
      EXPECT_NEAR((r[1] - r[0]) / (2 * kStep), row[i], 1e-9);
    }
  }
}

/// Points of a box surface and their residuals after a small motion.
PoseEquations<double> box_equations(const Rigid3d& moved, const Vec3d& centre, int faces,
                                    double noise_m = 0, std::uint64_t item = 0) {
  const Random random{testing::seed_of_test(), item};
  PoseEquations<double> equations;
  for (std::uint64_t i = 0; i < 600; ++i) {
    const int face = static_cast<int>(i) % faces;
    double p[3] = {random.uniform(3 * i) - 0.5, random.uniform(3 * i + 1) - 0.5,
                   random.uniform(3 * i + 2) - 0.5};
    double normal[3] = {};
    p[face] = 0.5;
    normal[face] = 1;
    const Vec3d q{p[0], p[1], p[2]}, n{normal[0], normal[1], normal[2]};
    const Vec3d x = moved * q + n * (noise_m * random.normal(5000 + i));
    double row[6];
    point_to_plane_jacobian(x - centre, n, row);
    equations.add(row, point_to_plane_residual(x, q, n), 1.0);
  }
  return equations;
}

TEST(PointToPlane, OneStepUndoesASmallMotion) {
  const Vec3d centre{0.1, -0.2, 0.3};
  const Rigid3d moved = motion_about({{1e-4, -2e-4, 3e-4}, {2e-4, 1e-4, -1e-4}}, centre);
  const PoseEquations<double> equations = box_equations(moved, centre, 3);
  const PoseDirections along = pose_directions(equations, 0.5);
  EXPECT_GT(along.information[0], 0.01);
  const Rigid3d back = motion_about(solve_pose_step(equations, along, 1e-3), centre);
  const Twist3<double> left = log(back * moved);
  // The step is exact to second order: the square of the motion.
  EXPECT_LT(norm(left.omega_rad), 1e-6);
  EXPECT_LT(norm(left.v_m), 1e-6);
}

TEST(PointToPlane, APlaneLeavesThreeDirectionsFree) {
  const Rigid3d moved = motion_about({{0, 0, 0}, {1e-3, 0, 0}}, {});
  const PoseEquations<double> equations = box_equations(moved, {}, 1);
  const PoseDirections along = pose_directions(equations, 0.5);
  for (int k = 0; k < 3; ++k) EXPECT_LT(along.information[k], 1e-9);
  EXPECT_GT(along.information[3], 1e-3);
  const Twist3<double> step = solve_pose_step(equations, along, 1e-3);
  EXPECT_NEAR(step.v_m.x, -1e-3, 1e-9);
  EXPECT_NEAR(step.v_m.y, 0, 1e-12);
  EXPECT_NEAR(step.v_m.z, 0, 1e-12);
  const SymN<double, 6> covariance = pose_covariance(equations, along, 1e-6, 1, 1e-3, 0.5);
  EXPECT_NEAR(covariance.at(4, 4), 0.25, 1e-6);  // sliding: as uncertain as it was told
  EXPECT_LT(covariance.at(3, 3), 1e-7);
}

TEST(PointToPlane, CovarianceIsWhatNoiseDoes) {
  constexpr double kNoise = 1e-3;
  constexpr int kTrials = 400;
  SymN<double, 6> scatter;
  SymN<double, 6> claimed;
  for (int trial = 0; trial < kTrials; ++trial) {
    const PoseEquations<double> equations =
        box_equations({}, {}, 3, kNoise, static_cast<std::uint64_t>(trial));
    const PoseDirections along = pose_directions(equations, 0.5);
    const Twist3<double> step = solve_pose_step(equations, along, 1e-3);
    const double row[6] = {step.omega_rad.x, step.omega_rad.y, step.omega_rad.z,
                           step.v_m.x,       step.v_m.y,       step.v_m.z};
    scatter.add_outer(row, 1.0 / kTrials);
    claimed = pose_covariance(equations, along, kNoise * kNoise, 1, 1e-3, 1);
  }
  // A variance of 400 draws has a deviation of √(2 / 400) = 7 %; four of them.
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(scatter.at(i, i) / claimed.at(i, i), 1.0, 0.28);
}

TEST(PointToPlane, NoEquationsMoveNothing) {
  const PoseEquations<float> none;
  const PoseDirections along = pose_directions(none, 0.5);
  const Twist3<double> step = solve_pose_step(none, along, 1e-3);
  EXPECT_EQ(norm(step.omega_rad) + norm(step.v_m), 0.0);
  EXPECT_EQ(tukey_weight(0.0f), 1.0f);
  EXPECT_EQ(tukey_weight(2.0f), 0.0f);
}

}  // namespace
}  // namespace sextant
