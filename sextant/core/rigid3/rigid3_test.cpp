// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/rigid3.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <unsupported/Eigen/MatrixFunctions>

#include "sextant/core/random.h"
#include "tests/devices.h"

namespace sextant {
namespace {

constexpr double kPi = 3.14159265358979323846;

Vec3d random_unit(const Random& random, std::uint64_t draw) {
  return normalized(
      Vec3d{random.normal(3 * draw), random.normal(3 * draw + 1), random.normal(3 * draw + 2)});
}

double largest_difference(const Mat3d& a, const Mat3d& b) {
  double largest = 0;
  for (int i = 0; i < 3; ++i) {
    const Vec3d d = a.row[i] - b.row[i];
    largest = std::max({largest, std::abs(d.x), std::abs(d.y), std::abs(d.z)});
  }
  return largest;
}

/// Angles where series, quotient and the neighbourhood of π meet.
const double kAngles[] = {0,    1e-12, 1e-8, 1e-5,       1e-3,       0.00999,    0.0101,
                          0.09, 0.101, 1,    kPi - 1e-3, kPi - 1e-7, kPi - 1e-12};

TEST(Rigid3, ExpIsTheMatrixExponential) {
  const Random random{testing::seed_of_test(), 0};
  for (std::uint64_t i = 0; i < 50; ++i) {
    for (const double angle : kAngles) {
      const Vec3d w = random_unit(random, 2 * i) * angle;
      const Vec3d v = random_unit(random, 2 * i + 1) * 3.0;
      Eigen::Matrix4d twist;
      twist << 0, -w.z, w.y, v.x, w.z, 0, -w.x, v.y, -w.y, w.x, 0, v.z, 0, 0, 0, 0;
      const Eigen::Matrix4d reference = twist.exp();
      const Rigid3d m = exp(Twist3<double>{w, v});
      for (int r = 0; r < 3; ++r) {
        EXPECT_NEAR(m.rotation.row[r].x, reference(r, 0), 1e-14);
        EXPECT_NEAR(m.rotation.row[r].y, reference(r, 1), 1e-14);
        EXPECT_NEAR(m.rotation.row[r].z, reference(r, 2), 1e-14);
      }
      EXPECT_NEAR(m.translation.x, reference(0, 3), 1e-13);
      EXPECT_NEAR(m.translation.y, reference(1, 3), 1e-13);
      EXPECT_NEAR(m.translation.z, reference(2, 3), 1e-13);
    }
  }
}

TEST(Rigid3, LogInvertsExp) {
  const Random random{testing::seed_of_test(), 0};
  for (std::uint64_t i = 0; i < 200; ++i) {
    for (const double angle : kAngles) {
      const Twist3<double> twist{random_unit(random, 2 * i) * angle,
                                 random_unit(random, 2 * i + 1) * 2.0};
      const Twist3<double> back = log(exp(twist));
      // Near π the axis comes from quantities of order π - angle: still 1e-9 here.
      EXPECT_LE(norm(back.omega_rad - twist.omega_rad), 1e-9) << "angle " << angle;
      EXPECT_LE(norm(back.v_m - twist.v_m), 1e-9) << "angle " << angle;
    }
  }
}

TEST(Rigid3, LogOfHalfTurnsAboutTheAxes) {
  for (const Vec3d axis : {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}}) {
    EXPECT_NEAR(norm(log_rotation(exp_rotation(axis * kPi))), kPi, 1e-12);
    EXPECT_NEAR(rotation_angle(exp_rotation(axis * kPi)), kPi, 1e-12);
  }
}

TEST(Rigid3, FloatKeepsSixDigits) {
  const Random random{testing::seed_of_test(), 0};
  for (std::uint64_t i = 0; i < 500; ++i) {
    const double angle = 3.1 * random.uniform(1000 + i);
    const Vec3f w = cast<float>(random_unit(random, i) * angle);
    EXPECT_LE(norm(log_rotation(exp_rotation(w)) - w), 4e-6f);
  }
}

TEST(Rigid3, InverseAndComposition) {
  const Random random{testing::seed_of_test(), 0};
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Rigid3d a{exp_rotation(random_unit(random, 4 * i) * 2.0), random_unit(random, 4 * i + 1)};
    const Rigid3d b{exp_rotation(random_unit(random, 4 * i + 2) * 1.0), {1, 2, 3}};
    const Vec3d p = random_unit(random, 4 * i + 3);
    EXPECT_LE(norm((a * b) * p - a * (b * p)), 1e-14);
    EXPECT_LE(norm(inverse(a) * (a * p) - p), 1e-14);
    // Each of the nine numbers of a rotation is wrong by some 2⁻⁵³, and a product adds three.
    EXPECT_LE(largest_difference((a * inverse(a)).rotation, Mat3d::identity()), 2e-15);
  }
}

TEST(Rigid3, RenormalizedRepairsDrift) {
  Rigid3f pose{exp_rotation(Vec3f{0.1f, 0.2f, 0.3f}), {}};
  const Rigid3f step = pose;
  for (int i = 0; i < 20000; ++i) pose = pose * step;
  pose = renormalized(pose);
  const Mat3f product = pose.rotation * transpose(pose.rotation);
  EXPECT_LE(largest_difference(cast<double>(product), Mat3d::identity()), 5e-7);
  EXPECT_NEAR(determinant(pose.rotation), 1.0f, 5e-7f);
}

}  // namespace
}  // namespace sextant
