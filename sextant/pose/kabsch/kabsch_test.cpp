// SPDX-License-Identifier: Apache-2.0
#include "sextant/pose/kabsch.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "sextant/core/random.h"
#include "tests/devices.h"

namespace sextant {
namespace {

Vec3d draw(const Random& random, std::uint64_t first) {
  return {random.normal(first), random.normal(first + 1), random.normal(first + 2)};
}

Rigid3d random_motion(const Random& random) {
  return {exp_rotation(draw(random, 1000000) * 2.0), draw(random, 1000003) * 10.0};
}

TEST(Kabsch, RecoversAnExactMotion) {
  for (std::uint64_t item = 0; item < 50; ++item) {
    const Random random{testing::seed_of_test(), item};
    const Rigid3d truth = random_motion(random);
    std::vector<Vec3d> p, q;
    const std::uint64_t count = 3 + item % 20;
    for (std::uint64_t i = 0; i < count; ++i) {
      p.push_back(draw(random, 3 * i));
      q.push_back(truth * p.back());
    }
    const RigidFit fit =
        fit_rigid<double>(p.data(), q.data(), nullptr, static_cast<std::int64_t>(count));
    EXPECT_EQ(fit.status, RigidFitStatus::kDetermined);
    EXPECT_LT(rotation_angle(transpose(truth.rotation) * fit.target_from_source.rotation), 1e-6);
    EXPECT_LT(norm(truth.translation - fit.target_from_source.translation), 1e-6);
    EXPECT_LT(fit.rms_m, 1e-6);
    EXPECT_NEAR(determinant(fit.target_from_source.rotation), 1, 1e-12);
  }
}

TEST(Kabsch, AgreesWithTheSingularValueForm) {
  for (std::uint64_t item = 0; item < 50; ++item) {
    const Random random{testing::seed_of_test(), item};
    const Rigid3d truth = random_motion(random);
    Eigen::Matrix3d cross = Eigen::Matrix3d::Zero();
    std::vector<Vec3d> p, q;
    std::vector<double> w;
    Vec3d mean_p, mean_q;
    double total = 0;
    for (std::uint64_t i = 0; i < 12; ++i) {
      p.push_back(draw(random, 10 * i));
      // Noise as large as the points: a reflection would often fit better.
      q.push_back(truth * p.back() + draw(random, 10 * i + 3));
      w.push_back(0.1 + random.uniform(10 * i + 7));
      total += w.back();
      mean_p += p.back() * w.back();
      mean_q += q.back() * w.back();
    }
    mean_p = mean_p / total;
    mean_q = mean_q / total;
    for (std::size_t i = 0; i < p.size(); ++i) {
      const Vec3d a = p[i] - mean_p, b = q[i] - mean_q;
      cross += w[i] * Eigen::Vector3d(a.x, a.y, a.z) * Eigen::RowVector3d(b.x, b.y, b.z);
    }
    const Eigen::JacobiSVD<Eigen::Matrix3d> svd(cross, Eigen::ComputeFullU | Eigen::ComputeFullV);
    Eigen::Matrix3d sign = Eigen::Matrix3d::Identity();
    sign(2, 2) = (svd.matrixV() * svd.matrixU().transpose()).determinant();
    const Eigen::Matrix3d r = svd.matrixV() * sign * svd.matrixU().transpose();
    const RigidFit fit = fit_rigid<double>(p.data(), q.data(), w.data(), 12);
    double squares = 0;
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(fit.target_from_source.rotation.row[i].x, r(i, 0), 1e-9);
      EXPECT_NEAR(fit.target_from_source.rotation.row[i].y, r(i, 1), 1e-9);
      EXPECT_NEAR(fit.target_from_source.rotation.row[i].z, r(i, 2), 1e-9);
    }
    for (std::size_t i = 0; i < p.size(); ++i) {
      squares += w[i] * norm_sq(q[i] - fit.target_from_source * p[i]);
    }
    EXPECT_NEAR(fit.rms_m, std::sqrt(squares / total), 1e-9);
  }
}

TEST(Kabsch, SaysWhatIsNotDetermined) {
  const std::vector<Vec3f> line{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {5, 0, 0}};
  RigidFit fit = fit_rigid<float>(line.data(), line.data(), nullptr, 4);
  EXPECT_EQ(fit.status, RigidFitStatus::kOnALine);
  EXPECT_LT(fit.rms_m, 1e-6);
  EXPECT_NEAR(determinant(fit.target_from_source.rotation), 1, 1e-9);
  fit = fit_rigid<float>(line.data(), line.data(), nullptr, 2);
  EXPECT_EQ(fit.status, RigidFitStatus::kTooFew);
  const std::vector<Vec3f> same(5, Vec3f{3, 2, 1});
  fit = fit_rigid<float>(same.data(), same.data(), nullptr, 5);
  EXPECT_EQ(fit.status, RigidFitStatus::kOnALine);
  EXPECT_LT(norm(fit.target_from_source * Vec3d{3, 2, 1} - Vec3d{3, 2, 1}), 1e-12);
  fit = fit_rigid<float>(nullptr, nullptr, nullptr, 0);
  EXPECT_EQ(fit.status, RigidFitStatus::kTooFew);
  const std::vector<Vec3f> holes{{NAN, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  fit = fit_rigid<float>(holes.data(), holes.data(), nullptr, 4);
  EXPECT_EQ(fit.status, RigidFitStatus::kDetermined);
  EXPECT_LT(rotation_angle(fit.target_from_source.rotation), 1e-7);
}

}  // namespace
}  // namespace sextant
