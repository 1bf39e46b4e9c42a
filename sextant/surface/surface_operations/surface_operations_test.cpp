// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/surface_operations.h"

#include <gtest/gtest.h>

#include "sextant/depth/surface_from_depth.h"
#include "sextant/surface/cloud_resolution.h"
#include "sextant/synth/catalogue.h"
#include "tests/devices.h"
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

TEST(SurfaceOperations, RowsThatAreNoCamerasUsePlanesInSpace) {
  const Context context = Context::cpu();
  Surface surface = wall(context);
  surface.camera.reset();
  surface.camera_rows.reset();
  // The wall as seen in a frame whose z axis points back: no ray meets its points.
  for (Vec3f& p : surface.points.host()) p = {p.x, -p.y, -p.z};
  EXPECT_FALSE(has_camera_rows(context, surface));
  estimate_normals(context, surface);
  for (const Vec3f& n : surface.normals.host()) ASSERT_NEAR(std::abs(n.z), 1.0f, 1e-5f);
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
