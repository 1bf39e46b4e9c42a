// SPDX-License-Identifier: Apache-2.0
#include "sextant/evaluate/normalized_error.h"

#include <gtest/gtest.h>

#include <array>

#include "sextant/core/error.h"
#include "sextant/core/random.h"
#include "tests/devices.h"

namespace sextant {
namespace {

using Covariance = std::array<double, 36>;

TEST(NormalizedError, CountsErrorsInDeviations) {
  Covariance c{};
  for (std::size_t i = 0; i < 6; ++i) c[7 * i] = i < 3 ? 1e-4 : 1e-6;  // 0.01 rad and 1 mm
  const Twist3<double> motion{{0.02, 0, 0}, {0, 0.003, 0}};
  const NormalizedError found = normalized_error(motion, c, 0.1, 1);
  EXPECT_NEAR(found.squared, 4 + 9, 1e-9);
  EXPECT_EQ(found.told, 6);
}

TEST(NormalizedError, LeavesOpenDirectionsOut) {
  Covariance c{};
  for (std::size_t i = 0; i < 6; ++i) c[7 * i] = 1e-6;
  c[0] = 1;      // a turn about x: 1 rad, at 5 cm so 5 cm
  c[28] = 0.01;  // y: 10 cm
  const NormalizedError found = normalized_error({{0.7, 0, 0.001}, {0, 0.2, 0}}, c, 0.05, 0.02);
  EXPECT_EQ(found.told, 4);
  EXPECT_NEAR(found.squared, 1, 1e-9);
}

/// Motions drawn from a covariance with correlations have the mean square 6.
TEST(NormalizedError, OfDrawnErrorsHasTheMeanOfItsDirections) {
  const Random random{testing::seed_of_test(), 0};
  double mix[6][6];
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      mix[i][j] = 1e-3 * static_cast<double>(random.normal(6 * static_cast<std::uint64_t>(i) +
                                                           static_cast<std::uint64_t>(j)));
    }
    mix[i][i] += 3e-3;
  }
  Covariance c{};
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 6; ++j) {
      for (std::size_t k = 0; k < 6; ++k) c[6 * i + j] += mix[i][k] * mix[j][k];
    }
  }
  constexpr int kDraws = 4000;
  double sum = 0;
  for (int d = 0; d < kDraws; ++d) {
    const Random draw{testing::seed_of_test(), static_cast<std::uint64_t>(d + 1)};
    double e[6] = {};
    for (int k = 0; k < 6; ++k) {
      const double n = static_cast<double>(draw.normal(static_cast<std::uint64_t>(k)));
      for (int i = 0; i < 6; ++i) e[i] += mix[i][k] * n;
    }
    sum += normalized_error({{e[0], e[1], e[2]}, {e[3], e[4], e[5]}}, c, 0.1, 1).squared;
  }
  // A draw's square deviates by √12, the mean of 4000 by 0.055: four of these.
  EXPECT_NEAR(sum / kDraws, 6, 0.22);
}

TEST(NormalizedError, SpeaksOfMotionsAboutTheCentre) {
  const Vec3d centre{0.1, -0.2, 0.3};
  const Rigid3d truth{exp_rotation(Vec3d{0.3, 1, -0.4}), {0.1, 0.2, 0.9}};
  const Vec3d at = truth * centre;
  const Vec3d omega{0.02, -0.01, 0.03}, shift{0.001, 0.002, -0.003};
  const Mat3d turn = exp_rotation(omega);
  const Rigid3d found{turn * truth.rotation, turn * (truth.translation - at) + at + shift};
  const Twist3<double> motion = pose_motion(found, truth, centre);
  EXPECT_NEAR(norm(motion.omega_rad - omega), 0, 1e-12);
  EXPECT_NEAR(norm(motion.v_m - shift), 0, 1e-12);
}

TEST(NormalizedError, RefusesWhatIsNoCovariance) {
  Covariance c{};
  EXPECT_THROW(normalized_error({}, c, 0.1, 1), Error);
  EXPECT_THROW(normalized_error({}, std::span(c).first(35), 0.1, 1), Error);
  c.fill(NAN);
  EXPECT_THROW(normalized_error({}, c, 0.1, 1), Error);
}

}  // namespace
}  // namespace sextant
