// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "sextant/core/graph.h"

namespace sextant::testing {

/// Runs the frame, records it and launches the recording, which must neither wait nor download.
/// Returns how many allocations the launch made.
template <class Frame>
std::int64_t launch_recorded(const Context& context, const Frame& frame) {
  frame();
  const Graph graph = Graph::capture(context, frame);
  context.synchronize();
  const Counters before = context.counters();
  graph.launch();
  const Counters after = context.counters();
  EXPECT_EQ(after.synchronisations, before.synchronisations);
  EXPECT_EQ(after.downloads, before.downloads);
  context.synchronize();
  return static_cast<std::int64_t>(after.allocations - before.allocations);
}

}  // namespace sextant::testing
