// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "sextant/core/for_each.h"

// How well descriptors find each other again: nearest neighbours, and recall against 1 - precision.

namespace sextant::measure {

/// The nearest descriptor of the model, and how much nearer it is than the second.
struct Match {
  std::size_t nearest = 0;
  float ratio = INFINITY;  ///< of the two distances; infinite without a descriptor
};

/// `length` is a multiple of 8.
inline float distance_sq(const float* a, const float* b, std::size_t length) {
  constexpr std::size_t kSums = 8;  // independent, so that they overlap
  float sum[kSums] = {};
  for (std::size_t i = 0; i < length; i += kSums) {
    for (std::size_t j = 0; j < kSums; ++j) {
      const float difference = a[i + j] - b[i + j];
      sum[j] += difference * difference;
    }
  }
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

/// The match of every descriptor of the scene among those of the model, each of `length` numbers.
inline std::vector<Match> match_nearest(const std::vector<float>& model,
                                        const std::vector<float>& scene, std::size_t length) {
  std::vector<Match> matches(scene.size() / length);
  const std::size_t candidates = model.size() / length;
  const auto match_one = [&](std::size_t i) {
    float first = INFINITY, second = INFINITY;
    for (std::size_t j = 0; j < candidates; ++j) {
      // A comparison with NaN, the mark of no descriptor, is false.
      const float d = distance_sq(scene.data() + i * length, model.data() + j * length, length);
      if (d < first) {
        second = first;
        first = d;
        matches[i].nearest = j;
      } else if (d < second) {
        second = d;
      }
    }
    if (second < INFINITY) matches[i].ratio = std::sqrt(first / second);
  };
  for_each_chunk(Context::cpu(), static_cast<std::int64_t>(matches.size()), 16,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     match_one(static_cast<std::size_t>(i));
                   }
                 });
  return matches;
}

/// Recall against 1 - precision over all thresholds of the ratio.
struct RecallCurve {
  double area = 0;    ///< in per cent
  double recall = 0;  ///< of all nearest neighbours, in per cent
};

/// R(f) is the largest recall that has 1 - precision ≤ f; the area is that under R from 0 to 1.
/// `is_right(i, nearest)` says whether the match of descriptor i is a true one.
inline RecallCurve recall_curve(const std::vector<Match>& matches,
                                const std::function<bool(std::size_t, std::size_t)>& is_right) {
  std::vector<std::size_t> order(matches.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return matches[a].ratio < matches[b].ratio;
  });
  std::vector<std::pair<double, double>> points;  // 1 - precision, recall
  double right = 0, taken = 0;
  for (const std::size_t i : order) {
    if (!std::isfinite(matches[i].ratio)) break;
    taken += 1;
    if (is_right(i, matches[i].nearest)) right += 1;
    points.emplace_back(1 - right / taken, right / static_cast<double>(matches.size()));
  }
  std::sort(points.begin(), points.end());
  RecallCurve curve;
  double best = 0, last = 0;
  for (const auto& [wrong, recall] : points) {
    curve.area += 100 * best * (wrong - last);
    last = wrong;
    best = std::max(best, recall);
  }
  curve.area += 100 * best * (1 - last);
  curve.recall = 100 * right / static_cast<double>(matches.size());
  return curve;
}

}  // namespace sextant::measure
