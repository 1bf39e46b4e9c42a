// SPDX-License-Identifier: Apache-2.0
#include "sextant/pose/locate_point.h"

#include <gtest/gtest.h>

#include "tests/error_message.h"

namespace sextant {
namespace {

/// Views in a row, 5 cm apart, that look along z.
std::vector<PinholeView> row_of_views(int count) {
  std::vector<PinholeView> views;
  for (int i = 0; i < count; ++i) {
    views.push_back({500, 500, 320, 240, {{}, {-0.05 * i, 0, 0}}});
  }
  for (PinholeView& view : views) view.camera_from_world.rotation = Mat3d::identity();
  return views;
}

std::vector<PointSighting> sightings_of(const std::vector<PinholeView>& views, const Vec3d& at_m) {
  std::vector<PointSighting> sightings;
  for (std::size_t v = 0; v < views.size(); ++v) {
    const Vec3d p = views[v].camera_from_world * at_m;
    sightings.push_back(
        {static_cast<std::int32_t>(v), {500 * p.x / p.z + 320, 500 * p.y / p.z + 240}});
  }
  return sightings;
}

constexpr Vec3d kPlace{0.08, -0.03, 0.7};

TEST(LocatePoint, FindsThePlaceAndLeavesOutliersOut) {
  const auto views = row_of_views(6);
  auto sightings = sightings_of(views, kPlace);
  const LocatedPoint exact = locate_point(views, sightings);
  ASSERT_TRUE(exact.found);
  EXPECT_LT(norm(exact.at_m - kPlace), 1e-9);
  EXPECT_EQ(exact.sightings.size(), 6u);
  // Seen from -0.08 and from 0.17 m beside it, 0.7 m away and 3 cm lower.
  EXPECT_NEAR(exact.angle_rad, 0.35, 0.01);
  sightings[1].at_px.x += 30;
  sightings[4].at_px.y -= 12;
  const LocatedPoint robust = locate_point(views, sightings);
  ASSERT_TRUE(robust.found);
  EXPECT_LT(norm(robust.at_m - kPlace), 1e-9);
  EXPECT_EQ(robust.sightings, (std::vector<std::int32_t>{0, 2, 3, 5}));
}

TEST(LocatePoint, OneSightingOfEachView) {
  const auto views = row_of_views(4);
  auto sightings = sightings_of(views, kPlace);
  sightings.push_back({2, {sightings[2].at_px.x + 1, sightings[2].at_px.y}});
  const LocatedPoint point = locate_point(views, sightings);
  ASSERT_TRUE(point.found);
  EXPECT_EQ(point.sightings, (std::vector<std::int32_t>{0, 1, 2, 3}));
}

TEST(LocatePoint, RefusesWhatIsNotDetermined) {
  const auto views = row_of_views(4);
  const auto found = [&](const std::vector<PointSighting>& sightings,
                         const LocatePointOptions& options = {}) {
    return locate_point(views, sightings, options).found;
  };
  EXPECT_FALSE(found({}));
  EXPECT_FALSE(found({{0, {320, 240}}}));
  // Too few, too far, behind the cameras.
  auto two = sightings_of(views, kPlace);
  two.resize(2);
  EXPECT_FALSE(found(two));
  EXPECT_TRUE(found(two, {.least_views = 2}));
  EXPECT_FALSE(found(sightings_of(views, {0, 0, 100})));
  EXPECT_FALSE(found(sightings_of(views, {0.05, 0.02, -0.7})));
  // Rays that do not meet.
  EXPECT_FALSE(found({{0, {320, 240}}, {1, {300, 400}}, {2, {330, 20}}, {3, {200, 300}}}));
  EXPECT_TRUE(testing::mentions(testing::error_message([&] {
                                  locate_point(views, std::vector<PointSighting>{{7, {}}});
                                }),
                                "of view 7"));
}

}  // namespace
}  // namespace sextant
