// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/gather.h"

#include <gtest/gtest.h>

#include "tests/devices.h"

namespace sextant {
namespace {

TEST(Gather, TakesWhatIsThereAndMarksWhatIsNot) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Buffer<Vec3f> points = copy(context, std::vector<Vec3f>{{1, 2, 3}, {4, 5, 6}});
    const Buffer<Rgb8> colors = copy(context, std::vector<Rgb8>{{1, 2, 3}, {4, 5, 6}});
    const Buffer<std::int32_t> indices = copy(context, std::vector<std::int32_t>{1, 0, -1, 2});
    const std::vector<Vec3f> p = to_host(context, gather<Vec3f>(context, points, indices));
    const std::vector<Rgb8> c = to_host(context, gather<Rgb8>(context, colors, indices));
    EXPECT_EQ(p[0], (Vec3f{4, 5, 6}));
    EXPECT_EQ(p[1], (Vec3f{1, 2, 3}));
    EXPECT_TRUE(std::isnan(p[2].x) && std::isnan(p[3].z));
    EXPECT_EQ(c[0].z, 6);
    EXPECT_EQ(c[3].x, 0);
  }
}

TEST(FinitePoints, AreFoundInOrder) {
  std::vector<Vec3f> points;
  std::vector<std::int32_t> expected;
  for (std::int32_t i = 0; i < 50'000; ++i) {
    const bool hole = i % 3 == 1 || i > 49'990;
    points.push_back({1, hole ? (i % 2 ? NAN : INFINITY) : 2, 3});
    if (!hole) expected.push_back(i);
  }
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    EXPECT_EQ(to_host(context, finite_points(context, copy(context, points))), expected);
    EXPECT_TRUE(finite_points(context, View<const Vec3f>{nullptr, 0, context.device()}).empty());
  }
}

}  // namespace
}  // namespace sextant
