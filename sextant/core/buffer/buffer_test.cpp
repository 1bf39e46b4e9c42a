// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>

#include "sextant/core/image.h"
#include "tests/devices.h"

namespace sextant {
namespace {

static_assert(std::is_trivially_copyable_v<View<float>>);
static_assert(std::is_trivially_copyable_v<ImageView<float>>);
static_assert(!std::is_copy_constructible_v<Buffer<float>>);

/// The words of the Error that the function throws.
template <class Function>
std::string message_of(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Buffer, CopiesThereAndBack) {
  std::vector<int> values(1000);
  std::iota(values.begin(), values.end(), -5);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Buffer<int> there = copy(context, values);
    EXPECT_EQ(there.device(), context.device());
    EXPECT_EQ(to_host(context, there), values);
    const Buffer<int> again = copy(context, there);
    EXPECT_NE(again.data(), there.data());
    EXPECT_EQ(to_host(context, again), values);
  }
}

TEST(Buffer, HostMemoryIsAlignedForSimd) {
  const Buffer<std::uint8_t> buffer(Context::cpu(), 3);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0u);
}

TEST(Buffer, EmptyIsHarmless) {
  for (const Context& context : testing::all_contexts()) {
    Buffer<float> empty(context, 0);
    EXPECT_TRUE(empty.empty());
    EXPECT_TRUE(to_host(context, copy(context, empty)).empty());
    EXPECT_EQ(context.counters().allocations, 0);
  }
  EXPECT_TRUE(Buffer<float>().host().empty());
}

TEST(Buffer, CountsWhatItDoes) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const std::vector<double> values(100, 1.0);
    const Buffer<double> there = copy(context, values);
    to_host(context, there);
    const Counters counters = context.counters();
    EXPECT_EQ(counters.allocations, 1);
    EXPECT_EQ(counters.allocated_bytes, 800);
    const int transfers = context.is_cuda() ? 1 : 0;
    EXPECT_EQ(counters.uploads, transfers);
    EXPECT_EQ(counters.uploaded_bytes, 800 * transfers);
    EXPECT_EQ(counters.downloads, transfers);
    EXPECT_EQ(counters.downloaded_bytes, 800 * transfers);
    EXPECT_EQ(counters.synchronisations, transfers);
  }
}

TEST(Buffer, AdoptsForeignMemoryAndReleasesItOnce) {
  std::vector<float> foreign{1, 2, 3};
  int released = 0;
  {
    const Context context = Context::cpu();
    Buffer<float> adopted =
        Buffer<float>::adopt(context, foreign.data(), 3, [&released]() { ++released; });
    EXPECT_EQ(adopted.data(), foreign.data());
    EXPECT_EQ(context.counters().allocations, 0);
    const Buffer<float> moved = std::move(adopted);
    EXPECT_EQ(moved.host()[1], 2.0f);
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(Buffer, MovedFromIsEmpty) {
  const Context context = Context::cpu();
  Buffer<int> from(context, 3);
  const Buffer<int> to = std::move(from);
  EXPECT_EQ(to.size(), 3);
  EXPECT_TRUE(from.empty());
  EXPECT_EQ(from.data(), nullptr);
  Image<int> image(context, 4, 2);
  const Image<int> moved = std::move(image);
  EXPECT_EQ(moved.width(), 4);
  EXPECT_EQ(image.width(), 0);
  EXPECT_TRUE(image.empty());
}

TEST(Buffer, MoveAssignmentFreesTheOld) {
  int released = 0;
  float value = 0;
  const Context context = Context::cpu();
  auto buffer = Buffer<float>::adopt(context, &value, 1, [&released]() { ++released; });
  buffer = Buffer<float>(context, 4);
  EXPECT_EQ(released, 1);
  EXPECT_EQ(buffer.size(), 4);
}

TEST(Buffer, PinnedMemoryIsHostMemory) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Buffer<int> pinned = Buffer<int>::pinned(context, 10);
    std::iota(pinned.host().begin(), pinned.host().end(), 0);
    const Buffer<int> there = copy(context, pinned);
    Buffer<int> back = Buffer<int>::pinned(context, 10);
    copy_async<int>(context, there, back);
    context.synchronize();
    EXPECT_EQ(back.host()[9], 9);
    if (!context.is_cuda()) continue;
    std::vector<int> plain(10);
    EXPECT_NE(message_of([&] { copy_async<int>(context, there, view_of(plain)); }).find("pinned"),
              std::string::npos);
  }
}

TEST(Buffer, MisuseSaysWhatToDo) {
  const Context cpu = Context::cpu();
  EXPECT_EQ(message_of([&] { Buffer<float>(cpu, -1); }), "Buffer: size -1 is negative");
  EXPECT_NE(message_of([&] { Buffer<double>(cpu, INT64_MAX); }).find("address space"),
            std::string::npos);
  EXPECT_NE(message_of([&] { Buffer<float>(cpu, std::int64_t{1} << 58); }).find("cannot allocate"),
            std::string::npos);
  Buffer<int> three(cpu, 3);
  Buffer<int> four(cpu, 4);
  EXPECT_EQ(message_of([&] { copy<int>(cpu, three, four); }), "copy: 3 elements into room for 4");
  View<int> elsewhere = three;
  elsewhere.device = {DeviceKind::kCuda, 3};
  EXPECT_EQ(message_of([&] { require_on(cpu, elsewhere, "points"); }),
            "points: lies on cuda:3 but the context runs on cpu; copy it there first with "
            "sextant::copy(context, points)");
  EXPECT_NE(message_of([&] { copy<int>(cpu, three, elsewhere); }).find("cuda:3"),
            std::string::npos);
}

TEST(Image, RowsFollowEachOther) {
  const Context context = Context::cpu();
  Image<int> image(context, 3, 2);
  std::iota(image.pixels().host().begin(), image.pixels().host().end(), 0);
  EXPECT_EQ(image(2, 1), 5);
  EXPECT_EQ(image.view()(1, 1), 4);
  EXPECT_TRUE(image.view().contains(2, 1));
  EXPECT_FALSE(image.view().contains(3, 1));
  EXPECT_FALSE(image.view().contains(0, -1));
  EXPECT_EQ(message_of([&] { Image<int>(context, -1, 2); }), "Image: size -1 x 2 is negative");
  EXPECT_EQ(message_of([&] { Image<int>(Buffer<int>(context, 5), 3, 2); }),
            "Image: 5 pixels for 3 x 2");
  EXPECT_TRUE(Image<int>(context, 0, 7).empty());
}

TEST(Arguments, MustHaveTheRightSize) {
  const Context cpu = Context::cpu(1);
  Buffer<float> three(cpu, 3);
  EXPECT_NO_THROW(require_room(cpu, three.view(), 3, "labels"));
  EXPECT_EQ(message_of([&] { require_room(cpu, three.view(), 4, "labels", "; see capacity"); }),
            "labels: has 3 elements instead of 4; see capacity");
  const Image<float> small(cpu, 3, 2), large(cpu, 3, 4);
  EXPECT_NO_THROW(require_same_size(cpu, small.view(), small.view(), "normals", "points"));
  EXPECT_EQ(
      message_of([&] { require_same_size(cpu, small.view(), large.view(), "normals", "points"); }),
      "normals: is 3 x 2 px, but points is 3 x 4");
  View<float> elsewhere = three.view();
  elsewhere.device = {DeviceKind::kCuda, 3};
  EXPECT_THROW(require_room(cpu, elsewhere, 3, "labels"), Error);
}

}  // namespace
}  // namespace sextant
