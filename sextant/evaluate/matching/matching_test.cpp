// SPDX-License-Identifier: Apache-2.0
#include "sextant/evaluate/matching.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/core/error.h"

namespace sextant {
namespace {

TEST(Matching, BetterScoresChooseFirst) {
  // Two estimates for one truth, and one that only fits the second truth.
  const ErrorTable table{3, 2, {0.3, 5, 0.1, 5, 5, 0.9}};
  const std::vector<double> scores{0.9, 0.5, 0.7};
  EXPECT_EQ(match_estimates(table, scores, 1.0), (std::vector<int>{0, -1, 1}));
  // The threshold itself is too much.
  EXPECT_EQ(match_estimates(table, scores, 0.9), (std::vector<int>{0, -1, -1}));
  // With the best only, or a truth that is not to be found.
  EXPECT_EQ(match_estimates(table, scores, 1.0, {}, 1), (std::vector<int>{0, -1, -1}));
  EXPECT_EQ(match_estimates(table, scores, 1.0, std::vector<char>{0, 1}),
            (std::vector<int>{-1, -1, 1}));
  // Of equal scores the first; of several truths the nearest.
  const ErrorTable same{2, 2, {0.5, 0.2, 0.1, 0.2}};
  EXPECT_EQ(match_estimates(same, std::vector<double>{1, 1}, 1.0), (std::vector<int>{1, 0}));
  EXPECT_TRUE(match_estimates({0, 3, {}}, {}, 1).empty());
  EXPECT_THROW(match_estimates(table, std::vector<double>{1}, 1), Error);
}

TEST(Matching, PrecisionAndRecallByHand) {
  const auto curve =
      precision_recall({{0.2, false}, {0.9, true}, {0.5, false}, {0.4, true}, {0.4, true}}, 4);
  ASSERT_EQ(curve.size(), 4u);
  EXPECT_DOUBLE_EQ(curve[0].precision, 1);
  EXPECT_DOUBLE_EQ(curve[0].recall, 0.25);
  EXPECT_DOUBLE_EQ(curve[1].precision, 0.5);
  EXPECT_DOUBLE_EQ(curve[2].score, 0.4);
  EXPECT_DOUBLE_EQ(curve[2].precision, 0.75);
  EXPECT_DOUBLE_EQ(curve[2].recall, 0.75);
  EXPECT_DOUBLE_EQ(curve[3].precision, 0.6);
}

TEST(Matching, AveragePrecisionByHand) {
  EXPECT_DOUBLE_EQ(average_precision({{0.9, true}, {0.8, true}}, 2), 1);
  EXPECT_DOUBLE_EQ(average_precision({{0.9, false}}, 2), 0);
  EXPECT_DOUBLE_EQ(average_precision({}, 2), 0);
  EXPECT_DOUBLE_EQ(average_precision({{0.9, true}}, 0), 0);
  // One of two found: recalls 0 to 0.50 have precision 1, the other 50 none.
  EXPECT_DOUBLE_EQ(average_precision({{0.9, true}}, 2), 51.0 / 101);
  // Right, false, right of two: 1 up to a recall of one half, then 2/3.
  EXPECT_NEAR(average_precision({{0.9, true}, {0.8, false}, {0.7, true}}, 2),
              (51 + 50 * 2.0 / 3) / 101, 1e-12);
}

}  // namespace
}  // namespace sextant
