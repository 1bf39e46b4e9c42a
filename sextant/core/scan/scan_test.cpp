// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/scan.h"

#include <gtest/gtest.h>

#include "sextant/core/random.h"
#include "tests/devices.h"

namespace sextant {
namespace {

template <class T>
class ScanTest : public ::testing::Test {};
using Integers = ::testing::Types<std::int32_t, std::uint32_t, std::int64_t>;
TYPED_TEST_SUITE(ScanTest, Integers);

TYPED_TEST(ScanTest, SumsWhatLiesBefore) {
  using T = TypeParam;
  const std::uint64_t seed = testing::seed_of_test();
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const std::int64_t size : {0, 1, 2, 1000, 16383, 16384, 16385, 300001}) {
      std::vector<T> values(static_cast<std::size_t>(size));
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<T>(Random{seed, i}.below(1000, 0));
      }
      std::vector<T> expected{T(0)};
      for (const T value : values) expected.push_back(static_cast<T>(expected.back() + value));
      Buffer<T> there = copy(context, values);
      Buffer<T> with_total(context, size + 1);
      exclusive_scan<T>(context, there, with_total);
      EXPECT_EQ(to_host(context, with_total), expected);
      exclusive_scan<T>(context, there, there);
      expected.pop_back();
      EXPECT_EQ(to_host(context, there), expected);
    }
  }
}

TEST(Scan, RefusesWrongRoom) {
  const Context context = Context::cpu();
  const std::vector<std::int32_t> values(5, 1);
  for (const std::int64_t room : {4, 7}) {
    Buffer<std::int32_t> sums(context, room);
    EXPECT_THROW(exclusive_scan<std::int32_t>(context, view_of(values), sums), Error);
  }
}

}  // namespace
}  // namespace sextant
