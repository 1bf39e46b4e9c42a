// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/parcel.h"

#include <gtest/gtest.h>

#include "tests/devices.h"

namespace sextant {
namespace {

TEST(Parcel, CrossesDevicesInOneCopy) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Parcel parcel;
    const auto bytes = parcel.add<std::uint8_t>(3);
    const auto nothing = parcel.add<double>(0);
    const auto numbers = parcel.add<double>(5);
    parcel.allocate(context);
    copy(context, view_of(std::vector<std::uint8_t>{1, 2, 3}), parcel[bytes]);
    copy(context, view_of(std::vector<double>{4, 5, 6, 7, 8}), parcel[numbers]);
    const std::int64_t before = context.counters().downloads;
    const Parcel on_host = to_host(context, parcel);
    EXPECT_EQ(context.counters().downloads - before, context.is_cuda() ? 1 : 0);
    EXPECT_EQ(on_host[bytes][2], 3);
    EXPECT_EQ(on_host[numbers][0], 4);
    EXPECT_EQ(on_host[numbers][4], 8);
    EXPECT_TRUE(on_host[nothing].empty());
  }
}

TEST(Parcel, NeedsMemoryBeforeItIsLookedInto) {
  Parcel parcel;
  const auto part = parcel.add<float>(1);
  EXPECT_THROW(parcel[part], Error);
}

}  // namespace
}  // namespace sextant
