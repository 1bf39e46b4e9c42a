// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/cloud_segment.h"

#include <gtest/gtest.h>

#include <cstring>

#include "sextant/core/random.h"
#include "sextant/surface/cloud_normals.h"
#include "tests/devices.h"
#include "tests/error_message.h"

namespace sextant {
namespace {

struct Points {
  std::vector<Vec3f> points, normals;
  std::vector<int> part;

  void add(const Vec3d& point, const Vec3d& normal, int which) {
    points.push_back(cast<float>(point));
    normals.push_back(cast<float>(normal));
    part.push_back(which);
  }
};

/// The six sides of a cube of 0.2 m, 1500 points each in any order.
Points cube(std::uint64_t seed) {
  Points cloud;
  for (std::uint64_t i = 0; i < 9000; ++i) {
    const Random random{seed, i};
    const double a = 0.2 * (double{random.uniform(0)} - 0.5);
    const double b = 0.2 * (double{random.uniform(1)} - 0.5);
    const int side = static_cast<int>(i % 6);
    const double c = side % 2 == 0 ? 0.1 : -0.1;
    const double sign = side % 2 == 0 ? 1 : -1;
    if (side / 2 == 0) cloud.add({c, a, b}, {sign, 0, 0}, side);
    if (side / 2 == 1) cloud.add({a, c, b}, {0, sign, 0}, side);
    if (side / 2 == 2) cloud.add({a, b, c}, {0, 0, sign}, side);
  }
  return cloud;
}

struct Found {
  std::vector<std::int32_t> labels;
  std::vector<SurfaceRegion> regions;
};

Found segment_points(const Context& context, const Points& cloud,
                     const CloudSegmentOptions& options = {}) {
  CloudSegmentation result = segment_cloud(context, copy(context, cloud.points),
                                           copy(context, cloud.normals), {}, options);
  return {to_host(context, result.labels), std::move(result.regions)};
}

TEST(SegmentCloud, SidesOfACube) {
  const Points cloud = cube(testing::seed_of_test());
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Found found = segment_points(context, cloud);
    ASSERT_EQ(found.regions.size(), 6u);
    for (const SurfaceRegion& region : found.regions) {
      EXPECT_EQ(region.kind, SurfaceKind::kPlane);
      const auto side =
          static_cast<std::size_t>(cloud.part[static_cast<std::size_t>(region.first_index)]);
      EXPECT_NEAR(dot(region.normal, cloud.normals[side]), 1.0, 1e-5);
      EXPECT_NEAR(region.offset_m, 0.1, 1e-5);
      EXPECT_GE(region.points, 1450);
      // Discs reach around the edges, where other sides' points share them: too small there by at
      // most half of a rim one radius wide, and the grid's radius is about 13 mm.
      EXPECT_NEAR(region.area_m2, 0.04, 0.2 * 0.04);
    }
    // But for edges, the points of a region are of one side.
    std::int64_t astray = 0;
    for (std::size_t i = 0; i < cloud.points.size(); ++i) {
      ASSERT_GT(found.labels[i], 0);
      const SurfaceRegion& region = found.regions[static_cast<std::size_t>(found.labels[i] - 1)];
      astray += cloud.part[static_cast<std::size_t>(region.first_index)] != cloud.part[i];
    }
    EXPECT_LE(astray, 90);  // 1 %
  }
}

TEST(SegmentCloud, SidesOfACubeWithEstimatedNormals) {
  Points cloud = cube(testing::seed_of_test());
  const Context host = Context::cpu();
  cloud.normals = to_host(host, estimate_cloud_normals(host, copy(host, cloud.points)));
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Found found = segment_points(context, cloud);
    ASSERT_GE(found.regions.size(), 6u);
    for (std::size_t r = 0; r < 6; ++r) {
      EXPECT_EQ(found.regions[r].kind, SurfaceKind::kPlane);
      EXPECT_NEAR(std::abs(found.regions[r].offset_m), 0.1, 1e-3);
      EXPECT_GE(found.regions[r].points, 1200);
    }
  }
}

/// A closed surface: whichever way normals point, they do so without system.
TEST(SegmentCloud, WholeSphereAndCylinderWithNormalsOfEitherSign) {
  Points cloud;
  const std::uint64_t seed = testing::seed_of_test();
  for (std::uint64_t i = 0; i < 16000; ++i) {
    const Random random{seed, i};
    const double turn = 6.283185307 * double{random.uniform(0)};
    const double z = 2 * double{random.uniform(1)} - 1;
    const double sign = random.below(2, 2) == 0 ? 1 : -1;
    if (i % 2 == 0) {
      const double flat = std::sqrt(1 - z * z);
      const Vec3d n{flat * std::cos(turn), flat * std::sin(turn), z};
      cloud.add(Vec3d{1, 2, 3} + n * 0.1, n * sign, 0);
    } else {
      const Vec3d n{std::cos(turn), 0, std::sin(turn)};
      cloud.add(Vec3d{1.4, 2 + 0.15 * z, 3} + n * 0.06, n * sign, 1);
    }
  }
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Found found = segment_points(context, cloud);
    ASSERT_EQ(found.regions.size(), 2u);
    for (const SurfaceRegion& region : found.regions) {
      EXPECT_EQ(region.points, 8000);
      const bool ball = cloud.part[static_cast<std::size_t>(region.first_index)] == 0;
      EXPECT_EQ(region.kind, ball ? SurfaceKind::kSphere : SurfaceKind::kCylinder);
      EXPECT_NEAR(region.radius_m, ball ? 0.1 : 0.06, 1e-5);
      if (!ball) {
        EXPECT_NEAR(region.axis.y, 1.0, 1e-6);
      }
    }
  }
}

TEST(SegmentCloud, SaliencySaysWhereEdgesAre) {
  Points cloud;
  const std::uint64_t seed = testing::seed_of_test();
  std::vector<float> stick, plate, ball;
  for (std::uint64_t i = 0; i < 6000; ++i) {
    const Random random{seed, i};
    const double x = 0.4 * (double{random.uniform(0)} - 0.5);
    cloud.add({x, 0.2 * double{random.uniform(1)}, 1}, {0, 0, -1}, x < 0 ? 0 : 1);
    const bool edge = std::abs(x) < 0.03;
    stick.push_back(edge ? 0.2f : 0.9f);
    plate.push_back(edge ? 0.7f : 0.05f);
    ball.push_back(0.05f);
  }
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Buffer<Vec3f> points = copy(context, cloud.points);
    const Buffer<Vec3f> normals = copy(context, cloud.normals);
    const Buffer<float> s = copy(context, stick), p = copy(context, plate), b = copy(context, ball);
    const CloudSegmentOptions options{.radius_m = 0.012f, .attach_rounds = 0};
    EXPECT_EQ(segment_cloud(context, points, normals, {}, options).regions.size(), 1u);
    const CloudSegmentation cut =
        segment_cloud(context, points, normals, {s.view(), p.view(), b.view()}, options);
    ASSERT_EQ(cut.regions.size(), 2u);
    const std::vector<std::int32_t> labels = to_host(context, cut.labels);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      ASSERT_EQ(labels[i] == 0, stick[i] < 0.5f);
      if (labels[i] == 0) continue;
      const SurfaceRegion& region = cut.regions[static_cast<std::size_t>(labels[i] - 1)];
      ASSERT_EQ(cloud.part[static_cast<std::size_t>(region.first_index)], cloud.part[i]);
    }
  }
}

TEST(SegmentCloud, AFarPointAndCopiesChangeNothingAboutTheRest) {
  const Points cloud = cube(testing::seed_of_test());
  const std::size_t size = cloud.points.size();
  Points far = cloud;
  far.add({1e6, 0, 0}, {1, 0, 0}, 6);
  Points doubled = cloud;
  for (std::size_t i = 0; i < size; ++i) {
    doubled.add(cast<double>(cloud.points[i]), cast<double>(cloud.normals[i]), cloud.part[i]);
  }
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Found alone = segment_points(context, cloud);
    ASSERT_EQ(alone.regions.size(), 6u);
    const Found with_far = segment_points(context, far);
    EXPECT_EQ(with_far.regions.size(), 6u);
    EXPECT_TRUE(std::equal(alone.labels.begin(), alone.labels.end(), with_far.labels.begin()));
    EXPECT_EQ(with_far.labels.back(), 0);
    const Found twice = segment_points(context, doubled);
    ASSERT_EQ(twice.regions.size(), 6u);
    for (std::size_t r = 0; r < 6; ++r) {
      EXPECT_EQ(twice.regions[r].points, 2 * alone.regions[r].points);
      EXPECT_NEAR(twice.regions[r].area_m2, alone.regions[r].area_m2, 1e-6);
    }
    EXPECT_TRUE(std::equal(alone.labels.begin(), alone.labels.end(), twice.labels.begin()));
  }
}

TEST(SegmentCloud, SameBitsOnEveryRunAndThreadCount) {
  const Points cloud = cube(testing::seed_of_test());
  std::optional<Found> first;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Found found = segment_points(context, cloud, {.radius_m = 0.01f});
    if (!first) first = found;
    EXPECT_EQ(found.labels, first->labels);
    ASSERT_EQ(found.regions.size(), first->regions.size());
    if (!context.is_cpu()) continue;
    EXPECT_EQ(std::memcmp(found.regions.data(), first->regions.data(),
                          found.regions.size() * sizeof(SurfaceRegion)),
              0);
  }
}

TEST(SegmentCloud, BadData) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Points cloud;
    EXPECT_TRUE(segment_points(context, cloud).regions.empty());
    cloud.add({1, 2, 3}, {0, 0, 1}, 0);
    EXPECT_TRUE(segment_points(context, cloud).regions.empty());
    Points nothing;
    nothing.points.assign(200, {NAN, NAN, NAN});
    nothing.normals.assign(200, {0, 0, 1});
    EXPECT_TRUE(segment_points(context, nothing).regions.empty());
    nothing.points.assign(200, {INFINITY, 0, 0});
    EXPECT_TRUE(segment_points(context, nothing).regions.empty());
    Points same;
    same.points.assign(200, {1, 2, 3});
    same.normals.assign(200, {0, 0, 1});
    const Found spot = segment_points(context, same, {.radius_m = 0.01f});
    ASSERT_EQ(spot.regions.size(), 1u);
    EXPECT_EQ(spot.regions[0].kind, SurfaceKind::kPlane);
    EXPECT_EQ(spot.regions[0].points, 200);
    same.normals.assign(200, {NAN, NAN, NAN});
    EXPECT_TRUE(segment_points(context, same, {.radius_m = 0.01f}).regions.empty());
  }
}

TEST(SegmentCloud, RefusesWrongArguments) {
  const Context context = Context::cpu(1);
  const Buffer<Vec3f> points(context, 5), normals(context, 4);
  EXPECT_EQ(testing::error_message([&] { segment_cloud(context, points, normals); }),
            "normals: has 4 elements instead of 5");
  EXPECT_EQ(testing::error_message(
                [&] { segment_cloud(context, points, points, {}, {.link_offset = 2}); }),
            "link_offset: 2 is outside [0.001, 1]");
  const Points cloud = cube(1);
  const Buffer<Vec3f> p = copy(context, cloud.points), n = copy(context, cloud.normals);
  const Buffer<float> stick(context, 9000);
  EXPECT_TRUE(testing::mentions(testing::error_message([&] {
                                  segment_cloud(context, p, n, {stick.view(), {}, {}});
                                }),
                                "give all three saliencies or none"));
  const NeighbourGrid grid = build_neighbour_grid(context, p);
  Buffer<std::int32_t> labels(context, 9000), count(context, 1);
  Buffer<SurfaceRegion> regions(context, region_capacity(9000, 50));
  Workspace workspace;
  const auto into = [&](const NeighbourGrid& with, float radius_m) {
    segment_cloud_into(context, with, p, n, {}, {.radius_m = radius_m}, labels, regions, count,
                       workspace);
  };
  const auto message = [&](const NeighbourGrid& with, float radius_m) {
    return testing::error_message([&] { into(with, radius_m); });
  };
  EXPECT_TRUE(testing::mentions(message(grid, 0.0f), "radius_m"));
  EXPECT_TRUE(testing::mentions(message(NeighbourGrid{}, 0.1f), "grid: is empty"));
  EXPECT_TRUE(testing::mentions(message(build_neighbour_grid(context, points), 0.1f),
                                "grid: was built from 5 points, not from 9000"));
  EXPECT_NO_THROW(into(grid, 0.1f));
}

}  // namespace
}  // namespace sextant
