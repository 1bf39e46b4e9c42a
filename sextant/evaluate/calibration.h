// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sextant/evaluate/matching.h"

namespace sextant {

/// Reports whose scores lie in one interval.
struct ReliabilityBin {
  double low = 0, high = 0;  ///< scores from low up to, and for the last bin including, high
  std::int64_t count = 0;
  double mean_score = 0;   ///< NaN without reports
  double right_share = 0;  ///< NaN without reports
};

/// Whether a score of 0.8 is right 8 times in 10.
struct Calibration {
  std::vector<ReliabilityBin> bins;
  double expected_error = 0;  ///< mean over reports of |mean score - right share| of their bin
  double largest_error = 0;   ///< of a bin
  double brier = 0;           ///< mean of (score - right)²
};

/// Sorts scores into bins of equal width. Error for a score outside [0, 1], which is no
/// probability. Without reports all errors are NaN.
Calibration measure_calibration(std::span<const RankedEstimate> estimates, int bins = 10);

}  // namespace sextant
