// SPDX-License-Identifier: Apache-2.0
#include "sextant/evaluate/calibration.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/core/error.h"

namespace sextant {
namespace {

TEST(Calibration, ByHand) {
  // 0.95 twice, once right; 0.25 once, wrong.
  const std::vector<RankedEstimate> reports{{0.95, true}, {0.95, false}, {0.25, false}};
  const Calibration made = measure_calibration(reports);
  ASSERT_EQ(made.bins.size(), 10u);
  EXPECT_EQ(made.bins[9].count, 2);
  EXPECT_DOUBLE_EQ(made.bins[9].mean_score, 0.95);
  EXPECT_DOUBLE_EQ(made.bins[9].right_share, 0.5);
  EXPECT_EQ(made.bins[2].count, 1);
  EXPECT_TRUE(std::isnan(made.bins[0].mean_score));
  EXPECT_NEAR(made.expected_error, (2 * 0.45 + 0.25) / 3, 1e-12);
  EXPECT_NEAR(made.largest_error, 0.45, 1e-12);
  EXPECT_NEAR(made.brier, (0.05 * 0.05 + 0.95 * 0.95 + 0.25 * 0.25) / 3, 1e-12);
}

TEST(Calibration, ScoresOfOneAndNothingAtAll) {
  const std::vector<RankedEstimate> sure{{1.0, true}, {0.0, false}};
  EXPECT_EQ(measure_calibration(sure).expected_error, 0);
  EXPECT_EQ(measure_calibration(sure).bins[9].count, 1);
  EXPECT_TRUE(std::isnan(measure_calibration({}).expected_error));
  EXPECT_THROW(measure_calibration(std::vector<RankedEstimate>{{1.5, true}}), Error);
  EXPECT_THROW(measure_calibration(std::vector<RankedEstimate>{{NAN, true}}), Error);
}

}  // namespace
}  // namespace sextant
