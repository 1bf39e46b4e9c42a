// SPDX-License-Identifier: Apache-2.0
#include "sextant/evaluate/calibration.h"

#include <algorithm>
#include <cmath>

#include "sextant/core/error.h"

namespace sextant {

Calibration measure_calibration(std::span<const RankedEstimate> estimates, int bins) {
  require(bins > 0, "bins: ", bins, " is not positive");
  Calibration result;
  for (int i = 0; i < bins; ++i) {
    result.bins.push_back({static_cast<double>(i) / bins, static_cast<double>(i + 1) / bins});
  }
  double squares = 0;
  for (const RankedEstimate& estimate : estimates) {
    require(estimate.score >= 0 && estimate.score <= 1, "score: ", estimate.score,
            " is outside [0, 1] and therefore no probability");
    const int index = std::min(static_cast<int>(estimate.score * bins), bins - 1);
    ReliabilityBin& bin = result.bins[static_cast<std::size_t>(index)];
    ++bin.count;
    bin.mean_score += estimate.score;
    bin.right_share += estimate.right ? 1 : 0;
    const double miss = estimate.score - (estimate.right ? 1 : 0);
    squares += miss * miss;
  }
  const auto total = static_cast<double>(estimates.size());
  for (ReliabilityBin& bin : result.bins) {
    const auto count = static_cast<double>(bin.count);
    bin.mean_score /= count;
    bin.right_share /= count;
    if (bin.count == 0) continue;
    const double error = std::abs(bin.mean_score - bin.right_share);
    result.expected_error += error * count;
    result.largest_error = std::max(result.largest_error, error);
  }
  result.expected_error /= total;
  result.brier = squares / total;
  if (estimates.empty()) result.largest_error = NAN;
  return result;
}

}  // namespace sextant
