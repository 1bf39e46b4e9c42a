// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>

#include "bench/report.h"
#include "sextant/core/graph.h"

namespace sextant::bench {

/// Milliseconds of one pass of a recorded sequence, warm, without transfers. On CUDA each sample
/// launches the graph several times and waits once, so that a queue of launches hides their
/// latency.
inline Spread time_graph(const Context& context, const std::function<void()>& work) {
  const int launches = context.is_cuda() ? 20 : 1;
  const int samples = context.is_cuda() ? 60 : 11;
  const Graph graph = Graph::capture(context, work);
  for (int i = 0; i < 3; ++i) graph.launch();
  context.synchronize();
  std::vector<double> sample;
  for (int i = 0; i < samples; ++i) {
    const auto start = std::chrono::steady_clock::now();
    for (int launch = 0; launch < launches; ++launch) graph.launch();
    context.synchronize();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    sample.push_back(time.count() / launches);
  }
  return spread_of(sample);
}

}  // namespace sextant::bench
