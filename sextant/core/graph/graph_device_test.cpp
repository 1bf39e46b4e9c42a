// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/graph.h"

#include <gtest/gtest.h>

#include <numeric>

#include "sextant/core/for_each.h"
#include "sextant/core/reduce.h"
#include "sextant/core/scan.h"
#include "sextant/core/sort.h"
#include "tests/devices.h"

namespace sextant {
namespace {

struct Square {
  View<const std::int32_t> from;
  View<std::int32_t> to;
  SEXTANT_HD void operator()(std::int64_t i) const { to[i] = from[i] * from[i]; }
};

TEST(Graph, ReplaysASequenceWithoutAllocating) {
  constexpr std::int64_t kCount = 10000;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Buffer<std::int32_t> input(context, kCount);
    Buffer<std::int32_t> squares(context, kCount);
    Buffer<std::int32_t> offsets(context, kCount + 1);
    Buffer<std::int32_t> largest(context, 1);
    // Three operations with temporaries of their own.
    const Graph graph = Graph::capture(context, [&] {
      for_each(context, kCount, Square{input, squares});
      exclusive_scan<std::int32_t>(context, squares, offsets);
      reduce_max<std::int32_t>(context, squares, largest);
    });
    for (const std::int32_t factor : {1, 2, 3}) {
      std::vector<std::int32_t> values(kCount);
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = factor * static_cast<std::int32_t>(i % 100);
      }
      copy<std::int32_t>(context, view_of(values), input);
      const std::int64_t before = context.counters().allocations;
      graph.launch();
      if (context.is_cuda()) {
        EXPECT_EQ(context.counters().allocations, before);
      }
      EXPECT_EQ(to_host(context, largest)[0], factor * factor * 99 * 99);
      EXPECT_EQ(to_host(context, offsets).back(), factor * factor * 328350 * 100);
    }
  }
}

TEST(Graph, BuffersMadeInsideStayUsable) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Buffer<std::int32_t> input = copy(context, std::vector<std::int32_t>{1, 2, 3, 4});
    Buffer<std::int32_t> made;
    {
      const Graph graph = Graph::capture(context, [&] {
        made = Buffer<std::int32_t>(context, 4);
        for_each(context, 4, Square{input, made});
      });
      graph.launch();
      graph.launch();
      context.synchronize();
    }
    EXPECT_EQ(to_host(context, made), (std::vector<std::int32_t>{1, 4, 9, 16}));
  }
}

TEST(Graph, AFailedCaptureLeavesTheContextUsable) {
  for (const Context& context : testing::all_contexts()) {
    if (context.is_cpu()) continue;  // there the work runs at launch, and throws there
    SCOPED_TRACE(testing::describe(context));
    EXPECT_THROW(Graph::capture(context, [] { fail("no"); }), Error);
    // Waiting for the device inside a capture is refused by CUDA itself.
    EXPECT_THROW(Graph::capture(context, [&] { context.synchronize(); }), Error);
    const std::vector<std::int32_t> values{5, 6};
    EXPECT_THROW(Graph::capture(context, [&] { copy(context, values); }), Error);
    EXPECT_EQ(to_host(context, copy(context, values)), values);
  }
  const Graph failing = Graph::capture(Context::cpu(), [] { fail("later"); });
  EXPECT_THROW(failing.launch(), Error);
}

TEST(Graph, KeepsAdoptedMemoryThatDiesWhileItIsRecorded) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Buffer<std::int32_t> owner = copy(context, std::vector<std::int32_t>{2, 3});
    int released = 0;
    {
      const Graph graph = Graph::capture(context, [&] {
        auto adopted =
            Buffer<std::int32_t>::adopt(context, owner.data(), 2, [&released]() { ++released; });
        for_each(context, 2, Square{adopted, adopted});
      });
      EXPECT_EQ(released, 0);
      graph.launch();
      context.synchronize();
      if (context.is_cuda()) {
        EXPECT_EQ(released, 0);  // on the CPU each launch adopts afresh
      }
    }
    EXPECT_EQ(released, 1);
    EXPECT_EQ(to_host(context, owner), (std::vector<std::int32_t>{4, 9}));
  }
}

struct AddOne {
  View<std::int32_t> values;
  SEXTANT_HD void operator()(std::int64_t i) const { ++values[i]; }
};

TEST(Graph, ReleasesAdoptedMemoryOnlyWhenItsWorkIsDone) {
  constexpr std::int64_t kSize = 1 << 20;
  constexpr int kSteps = 64;
  for (const Context& context : testing::all_contexts()) {
    if (!context.is_cuda()) continue;  // the CPU's graphs have ended when launch returns
    SCOPED_TRACE(testing::describe(context));
    Buffer<std::int32_t> owner =
        copy(context, std::vector<std::int32_t>(static_cast<std::size_t>(kSize), 0));
    context.synchronize();
    std::int32_t seen = -1;
    const auto look = [&] {
      const Context other = Context::cuda(context.device().ordinal);
      seen = to_host(other, owner.view().subview(kSize - 1, 1))[0];
    };
    {
      const Graph graph = Graph::capture(context, [&] {
        auto adopted = Buffer<std::int32_t>::adopt(context, owner.data(), kSize, look);
        for (int step = 0; step < kSteps; ++step) for_each(context, kSize, AddOne{adopted});
      });
      graph.launch();
    }
    EXPECT_EQ(seen, kSteps);
  }
}

TEST(Buffer, AdoptsDeviceMemory) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Buffer<std::int32_t> owner = copy(context, std::vector<std::int32_t>{4, 5, 6});
    int released = 0;
    {
      auto adopted =
          Buffer<std::int32_t>::adopt(context, owner.data() + 1, 2, [&released]() { ++released; });
      for_each(context, 2, Square{adopted, adopted});
    }
    EXPECT_EQ(released, 1);
    EXPECT_EQ(to_host(context, owner), (std::vector<std::int32_t>{4, 25, 36}));
  }
}

}  // namespace
}  // namespace sextant
