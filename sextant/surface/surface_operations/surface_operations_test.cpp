// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/surface_operations.h"

#include <gtest/gtest.h>

#include "sextant/depth/surface_from_depth.h"
#include "sextant/surface/cloud_resolution.h"
#include "sextant/synth/catalogue.h"
#include "tests/devices.h"
#include "tests/error_message.h"
#include "tests/organised_scene.h"

namespace sextant {
namespace {

using testing::all_contexts;

constexpr int kWidth = 96;
constexpr int kHeight = 64;
const Camera kCamera{kWidth, kHeight, 525, 525, 47.5, 31.5, {}};

/// A wall at one metre: neighbouring pixels lie 1 / 525 m apart.
Surface wall(const Context& context) {
  const std::vector<float> depth_m(kWidth * kHeight, 1.0f);
  const Image<float> image(copy(context, depth_m), kWidth, kHeight);
  return surface_from_depth(context, image, kCamera);
}

void expect_normals(const Context& context, const Surface& surface, const Vec3f& expected) {
  for (const Vec3f& n : to_host(context, surface.normals)) {
    ASSERT_NEAR(dot(n, expected), 1.0f, 1e-5f);
  }
}

TEST(SurfaceOperations, ADepthMapGetsNormalsResolutionAndTriangles) {
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Surface surface = wall(context);
    EXPECT_TRUE(has_camera_rows(context, surface));
    estimate_normals(context, surface);
    expect_normals(context, surface, {0, 0, -1});
    estimate_resolution(context, surface);
    EXPECT_NEAR(surface.resolution_m, 1.0f / 525, 1e-6f);
    triangulate(context, surface);
    EXPECT_EQ(triangles_of(context, surface).size(), 2 * (kWidth - 1) * (kHeight - 1));
    check_surface(surface);
  }
}

/// A ball before a wall, as a camera sees it that stands at the pose.
Surface ball_before_wall(const Context& context, const Rigid3d& points_from_camera) {
  const testing::OrganisedScene scene = testing::look_at(
      testing::BallBeforeWall{{{0.02, 0.01, 0.8}, 0.07}, 1.0}, {.noise_m = 0.0003, .seed = 7});
  std::vector<Vec3f> points;
  for (const Vec3f& p : scene.points) {
    points.push_back(cast<float>(points_from_camera * cast<double>(p)));
  }
  Surface surface;
  surface.points = copy(context, points);
  surface.width = scene.width;
  surface.height = scene.height;
  return surface;
}

const Rigid3d kBackwards{{{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}}, {}};
const Rigid3d kTable{exp_rotation(Vec3d{2.0, 0.5, -0.4}), {0.3, -0.2, 1.2}};
const Rigid3d kOnItsSide{exp_rotation(Vec3d{0, 0, 1.5}), {}};

/// How many of the vectors differ from the expected ones, turned, by more than the tolerance.
std::int64_t count_different(const std::vector<Vec3f>& found, const std::vector<Vec3f>& expected,
                             const Rigid3d& pose, float most) {
  std::int64_t different = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Vec3f turned = cast<float>(pose.rotation * cast<double>(expected[i]));
    const bool same = is_finite(found[i]) ? norm(found[i] - turned) < most : !is_finite(turned);
    different += same ? 0 : 1;
  }
  return different;
}

/// Points move by their rounding, 1e-7, and the pose by as little: a window that is nearly
/// undetermined may come out differently, and the others agree.
TEST(SurfaceOperations, GiveTheSameWhereverTheCloudWasMoved) {
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Surface here = ball_before_wall(context, {});
    estimate_normals(context, here);
    triangulate(context, here);
    const std::vector<Vec3f> normals = to_host(context, here.normals);
    const CloudCurvature curvature = estimate_curvature(context, here);
    const CloudSegmentation regions = segment(context, here);
    ASSERT_GE(regions.regions.size(), 2u);  // wall and ball, and perhaps slivers at its rim
    const auto few = static_cast<std::int64_t>(0.002 * static_cast<double>(here.size()));
    for (const Rigid3d& pose : {kBackwards, kTable, kOnItsSide}) {
      Surface there = ball_before_wall(context, pose);
      EXPECT_TRUE(has_camera_rows(context, there));
      estimate_normals(context, there);
      EXPECT_LE(count_different(to_host(context, there.normals), normals, pose, 0.01f), few);
      triangulate(context, there);
      EXPECT_NEAR(there.resolution_m, here.resolution_m, 1e-6f);
      EXPECT_NEAR(static_cast<double>(triangles_of(context, there).size()),
                  static_cast<double>(triangles_of(context, here).size()),
                  static_cast<double>(2 * few));
      const CloudCurvature moved = estimate_curvature(context, there);
      EXPECT_LE(count_different(to_host(context, moved.normals),
                                to_host(context, curvature.normals), pose, 0.02f),
                few);
      const CloudSegmentation found = segment(context, there);
      ASSERT_GE(found.regions.size(), 2u);
      for (std::size_t i = 0; i < 2; ++i) {
        const SurfaceRegion &a = regions.regions[i], &b = found.regions[i];
        EXPECT_EQ(b.kind, a.kind);
        EXPECT_NEAR(b.points, a.points, 0.02 * a.points);
        EXPECT_LT(norm(b.centre_m - cast<float>(pose * cast<double>(a.centre_m))), 1e-3f);
        EXPECT_LT(norm(b.normal - cast<float>(pose.rotation * cast<double>(a.normal))), 1e-2f);
        if (a.kind == SurfaceKind::kPlane) {
          EXPECT_NEAR(b.offset_m, dot(b.normal, b.centre_m), 1e-3f);
        } else {
          EXPECT_NEAR(b.radius_m, a.radius_m, 1e-3f);
          EXPECT_LT(norm(b.model_centre_m - cast<float>(pose * cast<double>(a.model_centre_m))),
                    2e-3f);
        }
      }
    }
  }
}

TEST(SurfaceOperations, TakeRowsThatAreNoCamerasAsPointsInAnyOrder) {
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Surface surface = ball_before_wall(context, kTable);
    std::vector<Vec3f> points = to_host(context, surface.points);
    std::reverse(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(points.size() / 2));
    surface.points = copy(context, points);
    surface.world_from_sensor = kTable;
    EXPECT_FALSE(has_camera_rows(context, surface));
    estimate_normals(context, surface);
    std::int64_t towards = 0;
    const std::vector<Vec3f> normals = to_host(context, surface.normals);
    for (std::size_t i = 0; i < points.size(); ++i) {
      towards += dot(normals[i], cast<float>(kTable.translation) - points[i]) > 0 ? 1 : 0;
    }
    EXPECT_EQ(towards, surface.size());
    EXPECT_GE(segment(context, surface).regions.size(), 2u);
    estimate_resolution(context, surface);
    EXPECT_EQ(surface.resolution_m, cloud_resolution_m(context, surface.points));
    EXPECT_NE(testing::error_message([&] { triangulate(context, surface); }).find("of a camera"),
              std::string::npos);
  }
}

TEST(SurfaceOperations, AMeshHasTheNormalsOfItsTriangles) {
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Surface surface = copy(context, Surface(make_object("apple")));
    estimate_normals(context, surface);
    const std::vector<Vec3f> points = to_host(context, surface.points);
    const std::vector<Vec3f> normals = to_host(context, surface.normals);
    Vec3f centre{};
    for (const Vec3f& p : points) centre = centre + p / static_cast<float>(points.size());
    std::size_t outward = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      outward += dot(normals[i], normalized(points[i] - centre)) > 0.5f;
    }
    EXPECT_GT(static_cast<double>(outward),
              0.9 * static_cast<double>(points.size()));  // an apple has a dent
    estimate_resolution(context, surface);
    EXPECT_GT(surface.resolution_m, 1e-4f);
  }
}

TEST(SurfaceOperations, PointsInAnyOrderHaveTheDistanceOfTheirNearest) {
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Surface surface = wall(context);
    surface.width = surface.height = 0;
    EXPECT_FALSE(has_camera_rows(context, surface));
    estimate_normals(context, surface);
    expect_normals(context, surface, {0, 0, -1});
    estimate_resolution(context, surface);
    EXPECT_EQ(surface.resolution_m, cloud_resolution_m(context, surface.points));
    EXPECT_NEAR(surface.resolution_m, 1.0f / 525, 1e-6f);
  }
}

TEST(SurfaceOperations, NothingToMeasureIsNoResolution) {
  const Context context = Context::cpu();
  Surface surface;
  surface.points = copy(context, std::vector<Vec3f>{{1, 2, 3}});
  estimate_resolution(context, surface);
  EXPECT_TRUE(std::isnan(surface.resolution_m));
}

}  // namespace
}  // namespace sextant
