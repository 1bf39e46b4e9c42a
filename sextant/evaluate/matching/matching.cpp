// SPDX-License-Identifier: Apache-2.0
#include "sextant/evaluate/matching.h"

#include <algorithm>
#include <numeric>

#include "sextant/core/error.h"

namespace sextant {

std::vector<int> match_estimates(const ErrorTable& table, std::span<const double> scores,
                                 double threshold, std::span<const char> is_allowed, int most) {
  require(scores.size() == static_cast<std::size_t>(table.estimates), "scores: ", scores.size(),
          " for ", table.estimates, " estimates");
  require(is_allowed.empty() || is_allowed.size() == static_cast<std::size_t>(table.truths),
          "is_allowed: ", is_allowed.size(), " for ", table.truths, " truths");
  std::vector<int> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
  });
  if (most > 0 && order.size() > static_cast<std::size_t>(most)) {
    order.resize(static_cast<std::size_t>(most));
  }
  std::vector<int> matched(scores.size(), -1);
  std::vector<char> taken(static_cast<std::size_t>(table.truths), 0);
  for (const int estimate : order) {
    double best = threshold;
    int found = -1;
    for (int truth = 0; truth < table.truths; ++truth) {
      const auto index = static_cast<std::size_t>(truth);
      if (taken[index] != 0 || (!is_allowed.empty() && is_allowed[index] == 0)) continue;
      const double error = table(estimate, truth);
      if (error < best) {
        best = error;
        found = truth;
      }
    }
    if (found < 0) continue;
    taken[static_cast<std::size_t>(found)] = 1;
    matched[static_cast<std::size_t>(estimate)] = found;
  }
  return matched;
}

std::vector<PrecisionRecall> precision_recall(std::vector<RankedEstimate> estimates,
                                              std::int64_t instances) {
  std::stable_sort(
      estimates.begin(), estimates.end(),
      [](const RankedEstimate& a, const RankedEstimate& b) { return a.score > b.score; });
  std::vector<PrecisionRecall> curve;
  std::int64_t right = 0;
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    right += estimates[i].right ? 1 : 0;
    const bool last = i + 1 == estimates.size() || estimates[i + 1].score != estimates[i].score;
    if (!last) continue;
    const double found = static_cast<double>(right);
    curve.push_back({estimates[i].score, found / static_cast<double>(i + 1),
                     instances > 0 ? found / static_cast<double>(instances) : 0.0});
  }
  return curve;
}

double average_precision(std::vector<RankedEstimate> estimates, std::int64_t instances) {
  if (instances <= 0) return 0;
  std::stable_sort(
      estimates.begin(), estimates.end(),
      [](const RankedEstimate& a, const RankedEstimate& b) { return a.score > b.score; });
  std::vector<double> precision, recall;
  std::int64_t right = 0;
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    right += estimates[i].right ? 1 : 0;
    precision.push_back(static_cast<double>(right) / static_cast<double>(i + 1));
    recall.push_back(static_cast<double>(right) / static_cast<double>(instances));
  }
  for (std::size_t i = precision.size(); i-- > 1;) {
    precision[i - 1] = std::max(precision[i - 1], precision[i]);
  }
  constexpr int kSteps = 100;
  double sum = 0;
  for (int step = 0; step <= kSteps; ++step) {
    const auto at =
        std::lower_bound(recall.begin(), recall.end(), static_cast<double>(step) / kSteps);
    if (at != recall.end()) sum += precision[static_cast<std::size_t>(at - recall.begin())];
  }
  return sum / (kSteps + 1);
}

}  // namespace sextant
