// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "sextant/core/workspace.h"
#include "tests/devices.h"
#include "tests/recorded_frame.h"

// What every _into form promises: a second call with the same sizes neither allocates nor waits, so
// that a graph can hold it.

namespace sextant::testing {

/// A call of an operation with inputs and room that a bench has.
template <class Bench>
struct SteadyOperation {
  const char* name;
  std::function<void(Bench&, Workspace&)> run;
};

/// Fails unless the function runs without an allocation, a copy from or to the host, and without
/// waiting for the device.
inline void expect_steady(const Context& context, const std::function<void()>& function) {
  const Counters before = context.counters();
  function();
  const Counters after = context.counters();
  EXPECT_EQ(after.allocations, before.allocations);
  EXPECT_EQ(after.synchronisations, before.synchronisations);
  EXPECT_EQ(after.uploads, before.uploads);
  EXPECT_EQ(after.downloads, before.downloads);
}

/// Calls each operation twice with a workspace of its own, and from a graph.
template <class Bench>
void expect_steady_calls(Bench& bench, const std::vector<SteadyOperation<Bench>>& operations) {
  for (const SteadyOperation<Bench>& operation : operations) {
    SCOPED_TRACE(operation.name);
    Workspace workspace;
    const auto run = [&] { operation.run(bench, workspace); };
    run();
    expect_steady(bench.context, run);
    EXPECT_EQ(launch_recorded(bench.context, run), 0);
  }
}

/// Calls all operations twice with one workspace.
template <class Bench>
void expect_steady_sequence(Bench& bench, const std::vector<SteadyOperation<Bench>>& operations) {
  Workspace workspace;
  const auto run = [&] {
    for (const SteadyOperation<Bench>& operation : operations) operation.run(bench, workspace);
  };
  run();
  expect_steady(bench.context, run);
  EXPECT_NO_THROW(bench.context.synchronize());
}

}  // namespace sextant::testing
