// SPDX-License-Identifier: Apache-2.0
#include "sextant/match/photo_matches/rule.h"

#include <gtest/gtest.h>

#include <map>

#include "sextant/core/random.h"
#include "sextant/match/photo_matches/on_device.h"
#include "tests/devices.h"

namespace sextant {
namespace {

using testing::seed_of_test;

TEST(PhotoRule, WithoutAnotherPointAmongTheNearestRows) {
  using detail::photo_matches::kUnknown;
  using detail::photo_matches::to_beat_of_object;
  const std::int32_t twins[] = {0, 0, 0, -1, 4, 4};
  const auto to_beat = [&](const std::vector<std::int32_t>& rows) {
    const float distances_sq[] = {3, 5, 8, 9};
    return to_beat_of_object(rows.data(), distances_sq, static_cast<int>(rows.size()), twins);
  };
  EXPECT_EQ(to_beat({0, 3}), 5);
  EXPECT_EQ(to_beat({3, 0}), 5);
  EXPECT_EQ(to_beat({0, 1, 2, 4}), 9);
  EXPECT_EQ(to_beat({1, 0, 2}), kUnknown);
  EXPECT_EQ(to_beat({1, 0, -1}), -1);
  EXPECT_EQ(to_beat({-1, -1}), -1);
}

TEST(PhotoRule, OfAListAsTheRuleSays) {
  // The same as match_objects_of, element by element.
  using namespace detail::photo_matches;
  for (std::uint32_t draw = 0; draw < 2000; ++draw) {
    const Random random{seed_of_test(), draw};
    const auto size = static_cast<std::int32_t>(random.below(9, 0));
    std::vector<NearPoint> list;
    for (std::int32_t i = 0; i < size; ++i) {
      list.push_back(
          {10 * (i + 1), static_cast<std::int32_t>(random.below(5, 1 + std::uint32_t(i)))});
    }
    std::map<std::int32_t, std::int32_t> expected;  // what each element has to beat
    std::vector<std::int32_t> seen(5, -1);
    const RatioTest any{1};
    match_objects_of(
        list, any, seen, [](std::int32_t object) { return object; },
        [&](const NearPoint& point, std::int32_t to_beat) { expected[point.distance] = to_beat; });
    for (std::int32_t i = 0; i < size; ++i) {
      const std::int32_t to_beat = to_beat_in_list(
          size, i, [&](std::int32_t j) { return list[std::size_t(j)].index; },
          [&](std::int32_t j) { return list[std::size_t(j)].distance; });
      const auto place = expected.find(list[std::size_t(i)].distance);
      EXPECT_EQ(to_beat, place == expected.end() ? -1 : place->second);
    }
  }
}

}  // namespace
}  // namespace sextant
