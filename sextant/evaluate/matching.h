// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sextant {

// Estimates beside the truth, as the BOP benchmark counts them.

/// Errors of the estimates of one object in one image: row e holds those of estimate e against each
/// truth; infinite where they are of no interest.
struct ErrorTable {
  int estimates = 0;
  int truths = 0;
  std::vector<double> errors;

  double operator()(int estimate, int truth) const {
    return errors[static_cast<std::size_t>(estimate) * static_cast<std::size_t>(truths) +
                  static_cast<std::size_t>(truth)];
  }
};

/// The truth that each estimate is matched to, -1 for none. Estimates choose in the order of their
/// scores (the first of equal ones first); each takes, of the truths that are left and allowed
/// (`is_allowed`, empty for all), the one with the least error, which must be below the threshold.
/// Only the first `most` estimates take part; 0 for all.
std::vector<int> match_estimates(const ErrorTable& table, std::span<const double> scores,
                                 double threshold, std::span<const char> is_allowed = {},
                                 int most = 0);

/// An estimate in the order of its score: whether it is right, or else false.
struct RankedEstimate {
  double score = 0;
  bool right = false;
};

/// Points of a precision and recall curve, one after each estimate.
struct PrecisionRecall {
  double score = 0;
  double precision = 0;
  double recall = 0;
};

/// The curve of estimates against a number of instances to be found; estimates of equal score are
/// one point.
std::vector<PrecisionRecall> precision_recall(std::vector<RankedEstimate> estimates,
                                              std::int64_t instances);

/// The mean over the recalls 0, 0.01, ... 1 of the best precision at that recall or beyond, as COCO
/// and BOP's 6D detection task have it. 0 without instances.
double average_precision(std::vector<RankedEstimate> estimates, std::int64_t instances);

/// The thresholds of BOP: i = 0..9 stands for 0.05, ... 0.5 of the diameter (MSSD), for 5 r, ... 50
/// r pixels with r = width / 640 (MSPD), and for a VSD of 0.05, ... 0.5.
inline constexpr int kBopThresholds = 10;
inline constexpr double bop_share(int i) { return 0.05 * (i + 1); }
inline constexpr double bop_pixels(int i, int width) { return 5.0 * (i + 1) * width / 640.0; }

}  // namespace sextant
