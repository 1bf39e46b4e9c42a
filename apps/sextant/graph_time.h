// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>

#include "bench/report.h"
#include "sextant/core/graph.h"

namespace sextant::app {

/// Milliseconds of one pass of a recorded sequence: the median of many, warm, without transfers. On
/// CUDA each sample launches the graph several times and waits once. What takes seconds is run
/// twice, once to warm up.
inline double milliseconds(const Context& context, const std::function<void()>& work) {
  constexpr double kBudget_ms = 2000;
  const int samples = context.is_cuda() ? 60 : 15;
  const Graph graph = Graph::capture(context, work);
  const auto sample_of = [&](int repeats) {
    const auto start = std::chrono::steady_clock::now();
    for (int repeat = 0; repeat < repeats; ++repeat) graph.launch();
    context.synchronize();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    return time.count() / repeats;
  };
  double spent_ms = sample_of(1);
  const int repeats = context.is_cuda() && spent_ms < kBudget_ms / 50 ? 20 : 1;
  if (spent_ms < kBudget_ms / 10) spent_ms += 2 * sample_of(2);
  std::vector<double> sample;
  while (sample.empty() || (static_cast<int>(sample.size()) < samples && spent_ms < kBudget_ms)) {
    sample.push_back(sample_of(repeats));
    spent_ms += sample.back() * repeats;
  }
  return bench::spread_of(sample).median;
}

}  // namespace sextant::app
