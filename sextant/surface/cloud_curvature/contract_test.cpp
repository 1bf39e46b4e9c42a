// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

#include "sextant/surface/cloud_curvature.h"
#include "tests/devices.h"

namespace sextant {
namespace {

TEST(CloudCurvatureContract, ProposesARadiusFromTheDensity) {
  std::vector<Vec3f> grid;
  constexpr float kPitch_m = 0.01f;
  for (int i = 0; i < 100 * 100; ++i) {
    grid.push_back(
        {kPitch_m * static_cast<float>(i % 100), kPitch_m * static_cast<float>(i / 100), 1.0f});
  }
  grid.push_back({NAN, 0, 0});
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    // 60 points of a square grid lie within √(60/π) pitches, give or take half a pitch.
    const float radius_m = curvature_radius_m(context, copy(context, grid));
    EXPECT_NEAR(radius_m, std::sqrt(60 / std::numbers::pi_v<float>) * kPitch_m, 0.5f * kPitch_m);
    for (const std::size_t count : {0u, 59u, 90u}) {
      const std::vector<Vec3f> spot(count, Vec3f{});
      EXPECT_TRUE(std::isnan(curvature_radius_m(context, copy(context, spot)))) << count;
    }
  }
}

TEST(CloudCurvatureContract, NeedsPointsThatDetermineAQuadric) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    // Collinear, coincident, too few, and on two lines that cross: none determines a quadric.
    std::vector<Vec3f> line, same(50, Vec3f{1, 2, 3}), cross_of_lines;
    for (int i = 0; i < 50; ++i) {
      line.push_back(Vec3f{1, 2, -4} * (static_cast<float>(i) / 64));
      const float along = static_cast<float>(i - 25) / 256;
      cross_of_lines.push_back(i % 2 ? Vec3f{along, 0, 1} : Vec3f{0, along, 1});
    }
    std::vector<Vec3f> few{{0, 0, 1}, {0.1f, 0, 1}, {0, 0.1f, 1}, {0.1f, 0.1f, 1}};
    for (const auto* points : {&line, &same, &few, &cross_of_lines}) {
      for (const std::uint8_t valid :
           to_host(context,
                   estimate_cloud_curvature(context, copy(context, *points), {}, {.radius_m = 0.5f})
                       .valid)) {
        EXPECT_EQ(valid, 0);
      }
    }
  }
}

/// A floor as a depth camera sees it from above, from 0.6 m to 4 m away: its points thin out.
std::vector<Vec3f> floor_points() {
  std::vector<Vec3f> points;
  for (int i = 0; i < 120 * 90; ++i) {
    const double x = (i % 120 - 59.5) / 130, y = (i / 120 - 44.5) / 130;
    const double z = 1 / (0.95 + 2 * y);  // from 0.6 to 4 m
    if (z > 0 && z < 4) points.push_back(cast<float>(Vec3d{x, y, 1} * z));
  }
  return points;
}

TEST(CloudCurvatureContract, LooksFartherWherePointsAreFew) {
  const std::vector<Vec3f> points = floor_points();
  const auto size = static_cast<double>(points.size());
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Buffer<Vec3f> on_device = copy(context, points);
    const float radius_m = curvature_radius_m(context, on_device);
    const auto valid_of = [&](const CloudCurvatureOptions& options) {
      const CloudCurvature found = estimate_cloud_curvature(context, on_device, {}, options);
      const std::vector<std::uint8_t> valid = to_host(context, found.valid);
      const std::vector<float> k1 = to_host(context, found.k1_per_m);
      for (std::size_t i = 0; i < valid.size(); ++i) {
        EXPECT_NEAR(valid[i] ? k1[i] : 0.0f, 0.0f, 1e-3f / radius_m);
      }
      return static_cast<double>(std::count(valid.begin(), valid.end(), 1)) / size;
    };
    EXPECT_LT(valid_of({.radius_m = radius_m}), 0.95);
    EXPECT_GT(valid_of({}), 0.995);
    EXPECT_GT(valid_of({.radius_m = radius_m, .widen_below = 30}), 0.995);
    // Without the points nearby, eight times the radius is not enough.
    std::vector<Vec3f> lonely = points;
    lonely.push_back({0, -30, 0});
    EXPECT_EQ(
        to_host(context, estimate_cloud_curvature(context, copy(context, lonely)).valid).back(), 0);
  }
}

TEST(CloudCurvatureContract, RefusesMisuse) {
  const Context context = Context::cpu(1);
  const std::vector<Vec3f> points{{0, 0, 1}, {1, 0, 1}, {0, 1, 1}};
  const NeighbourGrid grid = build_neighbour_grid(context, view_of(points));
  std::vector<float> k1(2);
  const auto into = [&](const CloudCurvatureOptions& options, const std::vector<Vec3f>& normals) {
    CloudCurvatureViews out;
    out.k1_per_m = view_of(k1);
    estimate_cloud_curvature_into(context, grid, view_of(normals), options, out);
  };
  EXPECT_THROW(into({.radius_m = 1}, {}), Error);  // room for two
  k1.resize(3);
  EXPECT_NO_THROW(into({.radius_m = 1}, {}));
  EXPECT_THROW(into({.radius_m = 1}, {{0, 0, 1}}), Error);
  EXPECT_THROW(into({}, {}), Error);
  EXPECT_THROW(into({.radius_m = -1}, {}), Error);
  EXPECT_THROW(into({.radius_m = NAN}, {}), Error);
  EXPECT_THROW(into({.radius_m = 1, .iterations = 0}, {}), Error);
  EXPECT_THROW(into({.radius_m = 1, .viewpoint_m = {NAN, 0, 0}}, {}), Error);
  EXPECT_THROW(estimate_cloud_curvature_into(context, NeighbourGrid{}, {}, {.radius_m = 1}, {}),
               Error);
}

}  // namespace
}  // namespace sextant
