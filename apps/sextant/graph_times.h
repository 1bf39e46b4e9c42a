// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>

#include "bench/report.h"
#include "sextant/core/graph.h"

namespace sextant::app {

/// Milliseconds of one pass of a recorded sequence: the median of many, warm, without transfers. On
/// CUDA each sample launches the graph several times and waits once; on the CPU long work gets
/// fewer samples, three at least.
inline double milliseconds(const Context& context, const std::function<void()>& work) {
  const int repeats = context.is_cuda() ? 20 : 1;
  const Graph graph = Graph::capture(context, work);
  const auto sample = [&] {
    const auto start = std::chrono::steady_clock::now();
    for (int repeat = 0; repeat < repeats; ++repeat) graph.launch();
    context.synchronize();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    return time.count() / repeats;
  };
  sample();
  const double warm_ms = sample();
  const int samples =
      context.is_cuda() ? 60 : static_cast<int>(std::clamp(600 / warm_ms, 3.0, 15.0));
  std::vector<double> times;
  for (int i = 0; i < samples; ++i) times.push_back(sample());
  return bench::spread_of(times).median;
}

}  // namespace sextant::app
