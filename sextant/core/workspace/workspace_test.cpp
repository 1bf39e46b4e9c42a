// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/workspace.h"

#include <gtest/gtest.h>

#include "sextant/core/reduce.h"
#include "sextant/core/scan.h"
#include "sextant/core/sort.h"
#include "tests/devices.h"

namespace sextant {
namespace {

using testing::all_contexts;

TEST(Workspace, TheSecondCallAllocatesNothing) {
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Workspace workspace;
    const auto call = [&] {
      const Workspace::Scope scope(workspace);
      workspace.take<float>(context, 1000);
      workspace.take<double>(context, 10);
    };
    call();
    const std::int64_t before = context.counters().allocations;
    call();
    EXPECT_EQ(context.counters().allocations, before);
    EXPECT_EQ(workspace.bytes(), 1000 * 4 + 10 * 8);
  }
}

TEST(Workspace, WhatIsTakenInOneScopeDoesNotOverlap) {
  Workspace workspace;
  const Context context = Context::cpu();
  const Workspace::Scope outer(workspace);
  const View<int> first = workspace.take<int>(context, 100);
  std::fill(first.begin(), first.end(), 1);
  for (int round = 0; round < 3; ++round) {
    const Workspace::Scope inner(workspace);
    for (int i = 0; i < 10; ++i) {
      const View<int> other = workspace.take<int>(context, 100 + round);
      std::fill(other.begin(), other.end(), 2);
    }
  }
  for (const int value : first) EXPECT_EQ(value, 1);
}

TEST(Workspace, SmallerCallsReuseTheRoomOfLargerOnes) {
  Workspace workspace;
  const Context context = Context::cpu();
  for (const std::int64_t size : {100, 1000, 10}) {
    const Workspace::Scope scope(workspace);
    EXPECT_EQ(workspace.take<std::uint8_t>(context, size).size, size);
  }
  EXPECT_EQ(workspace.bytes(), 1000);
}

TEST(Workspace, SortScanAndReduceAllocateNothingInTheSteadyState) {
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    constexpr std::int64_t kSize = 100'000;
    Workspace workspace;
    Buffer<std::uint64_t> keys(context, kSize);
    Buffer<std::uint32_t> values(context, kSize);
    Buffer<std::int32_t> sums(context, kSize + 1);
    Buffer<float> result(context, 1);
    copy(context, view_of(std::vector<std::uint64_t>(kSize, 7)), keys.view());
    copy(context, view_of(std::vector<std::uint32_t>(kSize, 1)), values.view());
    const Buffer<std::int32_t> ones = copy(context, std::vector<std::int32_t>(kSize, 1));
    const Buffer<float> halves = copy(context, std::vector<float>(kSize, 0.5f));
    const auto frame = [&] {
      sort_pairs<std::uint64_t>(context, keys, values, {}, workspace);
      sort_keys<std::uint64_t>(context, keys, {0, 16}, workspace);
      exclusive_scan<std::int32_t>(context, ones, sums, workspace);
      reduce_sum<float>(context, halves, result, workspace);
    };
    frame();
    const std::int64_t before = context.counters().allocations;
    frame();
    EXPECT_EQ(context.counters().allocations, before);
    EXPECT_EQ(to_host(context, sums).back(), kSize);
    EXPECT_EQ(to_host(context, result)[0], 0.5f * kSize);
  }
}

}  // namespace
}  // namespace sextant
