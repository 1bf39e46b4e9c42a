// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "measure/report.h"
#include "sextant/core/graph.h"

namespace sextant::measure {

/// Milliseconds of one pass of a recorded sequence, warm, without transfers. On CUDA each sample
/// launches the graph several times and waits once, so that a queue of launches hides their
/// latency. What takes seconds is run twice, once to warm up.
inline Spread time_graph(const Context& context, const std::function<void()>& work) {
  constexpr double kBudget_ms = 2000;
  const int samples = context.is_cuda() ? 60 : 15;
  const Graph graph = Graph::capture(context, work);
  const auto sample_of = [&](int launches) {
    return milliseconds([&] {
             for (int launch = 0; launch < launches; ++launch) graph.launch();
             context.synchronize();
           }) /
           launches;
  };
  double spent_ms = sample_of(1);
  const int launches = context.is_cuda() && spent_ms < kBudget_ms / 50 ? 20 : 1;
  if (spent_ms < kBudget_ms / 10) spent_ms += 2 * sample_of(2);
  std::vector<double> sample;
  while (sample.empty() || (static_cast<int>(sample.size()) < samples && spent_ms < kBudget_ms)) {
    sample.push_back(sample_of(launches));
    spent_ms += sample.back() * launches;
  }
  return spread_of(sample);
}

/// The median of the same.
inline double graph_ms(const Context& context, const std::function<void()>& work) {
  return time_graph(context, work).median;
}

}  // namespace sextant::measure
