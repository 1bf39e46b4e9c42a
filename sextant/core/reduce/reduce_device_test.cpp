// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/reduce.h"

#include <gtest/gtest.h>

#include <cstring>

#include "sextant/core/random.h"
#include "tests/devices.h"

namespace sextant {
namespace {

/// Sizes around the lanes, the tile, and one and two levels of the tree.
const std::int64_t kSizes[] = {0, 1, 2, 255, 256, 257, 4095, 4096, 4097, 70001, 4096 * 4096 + 5};

std::vector<float> noise(std::int64_t count, std::uint64_t seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = Random{seed, i}.uniform(0) - 0.25f;
  }
  return values;
}

/// One of reduce_sum, reduce_min and reduce_max.
template <class T>
using Reduce = void (*)(const Context&, View<const T>, View<T>);

template <class T>
T reduced(const Context& context, const std::vector<T>& values, Reduce<T> reduce) {
  const Buffer<T> there = copy(context, values);
  Buffer<T> result(context, 1);
  reduce(context, there.view(), result.view());
  return to_host(context, result)[0];
}

TEST(Reduce, SumHasTheSameBitsEverywhere) {
  const std::uint64_t seed = testing::seed_of_test();
  for (const std::int64_t size : kSizes) {
    const std::vector<float> values = noise(size, seed);
    double exact = 0;
    for (const float value : values) exact += value;
    const float first = reduced(Context::cpu(1), values, reduce_sum<float>);
    // The tree is about log2(size) + 16 additions deep; each rounds relative to a partial sum.
    EXPECT_NEAR(first, exact, 40 * 6e-8 * static_cast<double>(size) * 0.3 + 1e-30);
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      for (int run = 0; run < 2; ++run) {
        const float again = reduced(context, values, reduce_sum<float>);
        EXPECT_EQ(std::memcmp(&again, &first, sizeof(float)), 0) << again << " " << first;
      }
    }
  }
}

TEST(Reduce, IntegersAreExact) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    std::vector<std::int64_t> values(123457);
    std::int64_t expected = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<std::int64_t>(i * i) - 1000;
      expected += values[i];
    }
    EXPECT_EQ(reduced(context, values, reduce_sum<std::int64_t>), expected);
    EXPECT_EQ(reduced(context, values, reduce_min<std::int64_t>), -1000);
    EXPECT_EQ(reduced(context, values, reduce_max<std::int64_t>), values.back());
  }
}

TEST(Reduce, EmptyAndNan) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    EXPECT_EQ(reduced(context, std::vector<float>{}, reduce_sum<float>), 0.0f);
    EXPECT_EQ(reduced(context, std::vector<float>{}, reduce_min<float>), INFINITY);
    EXPECT_EQ(reduced(context, std::vector<std::int32_t>{}, reduce_max<std::int32_t>), INT32_MIN);
    const std::vector<float> holes{NAN, 3, NAN, -2, NAN};
    EXPECT_TRUE(std::isnan(reduced(context, holes, reduce_sum<float>)));
    EXPECT_EQ(reduced(context, holes, reduce_min<float>), -2.0f);
    EXPECT_EQ(reduced(context, holes, reduce_max<float>), 3.0f);
  }
}

/// Length of a polyline: map and operation given by the caller.
struct SegmentLength {
  View<const Vec3f> points;
  SEXTANT_HD double operator()(std::int64_t i) const {
    return norm(cast<double>(points[i + 1]) - cast<double>(points[i]));
  }
};

TEST(Reduce, TransformsOnTheWay) {
  std::vector<Vec3f> points;
  for (int i = 0; i <= 10000; ++i) points.push_back({0.5f * static_cast<float>(i), 0, 1});
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Buffer<Vec3f> there = copy(context, points);
    Buffer<double> length(context, 1);
    transform_reduce(context, there.size() - 1, SegmentLength{there}, detail::Add{}, 0.0,
                     length.view());
    EXPECT_EQ(to_host(context, length)[0], 5000.0);
  }
}

TEST(Reduce, RefusesResultsWithoutRoom) {
  const Context context = Context::cpu();
  const std::vector<float> values(10, 1.0f);
  Buffer<float> two(context, 2);
  EXPECT_THROW(reduce_sum<float>(context, view_of(values), two), Error);
}

}  // namespace
}  // namespace sextant
