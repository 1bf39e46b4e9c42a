// SPDX-License-Identifier: Apache-2.0
#include "sextant/pose/open_directions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/core/error.h"

namespace sextant {
namespace {

using Covariance = std::array<double, 36>;

/// Independent deviations of the six unknowns.
Covariance of(const std::array<double, 6>& deviations) {
  Covariance c{};
  for (std::size_t i = 0; i < 6; ++i) c[7 * i] = deviations[i] * deviations[i];
  return c;
}

TEST(OpenDirections, AreThoseWithLargeDeviationsTheLargestFirst) {
  // At 5 cm, 0.4 rad are 2 cm.
  const auto open = open_directions(of({0.001, 0.4, 0.002, 0.001, 0.001, 0.03}), 0.05, 0.01);
  ASSERT_EQ(open.size(), 2u);
  const std::array<double, 6> away{0, 0, 0, 0, 0, 0.03}, turn{0, 0.4, 0, 0, 0, 0};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(open[0][i], away[i], 1e-12) << i;
    EXPECT_NEAR(open[1][i], turn[i], 1e-12) << i;
  }
}

TEST(OpenDirections, AreNoneWhereAllIsKnown) {
  EXPECT_TRUE(open_directions(of({0.01, 0.01, 0.01, 0.001, 0.001, 0.001}), 0.05, 0.01).empty());
}

/// A turn about a point beside the centre moves both, and comes back as it was put in.
TEST(OpenDirections, MayTurnAndShiftAtOnce) {
  const std::array<double, 6> motion{0.1, -0.3, 0.2, -0.02, 0.01, 0.005};
  Covariance c = of({1e-3, 1e-3, 1e-3, 1e-4, 1e-4, 1e-4});
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 6; ++j) c[6 * i + j] += motion[i] * motion[j];
  }
  const auto open = open_directions(c, 0.1, 0.01);
  ASSERT_EQ(open.size(), 1u);
  // The rest adds 1e-4 m and 1e-3 rad to a motion of 4 cm: 1e-5 of its length, of either sign.
  const double sign = open[0][0] > 0 ? 1 : -1;
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(sign * open[0][i], motion[i], 1e-4) << i;
}

TEST(OpenDirections, RefuseWhatIsNoCovariance) {
  Covariance c = of({1, 1, 1, 1, 1, 1});
  EXPECT_THROW(open_directions(c, 0, 1), Error);
  EXPECT_THROW(open_directions(c, 1, -1), Error);
  c[3] = NAN;
  EXPECT_THROW(open_directions(c, 1, 1), Error);
}

}  // namespace
}  // namespace sextant
