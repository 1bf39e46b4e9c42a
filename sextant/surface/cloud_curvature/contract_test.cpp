// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

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
