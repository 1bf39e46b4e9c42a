// SPDX-License-Identifier: Apache-2.0
#include "sextant/depth/deproject.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/core/graph.h"
#include "sextant/core/random.h"
#include "tests/devices.h"

namespace sextant {
namespace {

Camera kinect() { return {161, 123, 131.3, 129.7, 80.4, 60.9, {}}; }

Camera kinect_with_lens() {
  Camera camera = kinect();
  camera.distortion = {0.23, -0.35, 0.0012, -0.0009, 0.1};
  return camera;
}

/// Depths from 0.4 to 8 m with every kind of hole.
Image<float> random_depth(const Camera& camera, std::uint64_t seed) {
  Image<float> depth(Context::cpu(), camera.width, camera.height);
  const float holes[] = {NAN, 0.0f, -0.5f, INFINITY, -INFINITY};
  for (int v = 0; v < camera.height; ++v) {
    for (int u = 0; u < camera.width; ++u) {
      const Random random{seed, static_cast<std::uint64_t>(v * camera.width + u)};
      depth(u, v) = 0.4f + 7.6f * random.uniform(0);
      if (random.uniform(1) < 0.1f) depth(u, v) = holes[random.below(5, 2)];
    }
  }
  return depth;
}

void expect_points(const std::vector<Vec3f>& points, const Image<float>& depth,
                   const Camera& camera, double tolerance) {
  ASSERT_EQ(points.size(), static_cast<std::size_t>(depth.pixels().size()));
  for (int v = 0; v < camera.height; ++v) {
    for (int u = 0; u < camera.width; ++u) {
      const Vec3f& point = points[static_cast<std::size_t>(v * camera.width + u)];
      const float z = depth(u, v);
      if (!(std::isfinite(z) && z > 0)) {
        ASSERT_TRUE(std::isnan(point.x) && std::isnan(point.y) && std::isnan(point.z));
        continue;
      }
      const Vec3d exact = unproject(camera, Vec2d{double(u), double(v)}) * double(z);
      ASSERT_LE(norm(cast<double>(point) - exact), tolerance * norm(exact)) << u << ' ' << v;
      // The way back: the point lies on its pixel.
      const Vec2d pixel = project(camera, cast<double>(point));
      ASSERT_NEAR(pixel.x, u, 1e-3);
      ASSERT_NEAR(pixel.y, v, 1e-3);
    }
  }
}

TEST(Deproject, PointsLieOnTheirRays) {
  for (const Camera& camera : {kinect(), kinect_with_lens()}) {
    const double tolerance = camera.distortion.is_zero() ? 4e-7 : 2e-6;
    const Image<float> depth = random_depth(camera, testing::seed_of_test());
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const Image<float> on_device = copy(context, depth);
      const Cloud cloud = deproject(context, on_device, camera);
      EXPECT_EQ(cloud.width, camera.width);
      EXPECT_EQ(cloud.height, camera.height);
      EXPECT_EQ(cloud.device(), context.device());
      check_cloud(cloud);
      expect_points(to_host(context, cloud.points), depth, camera, tolerance);
      // A table gives the same points.
      const Image<Vec2f> rays = ray_table(context, camera);
      Buffer<Vec3f> points(context, cloud.size());
      deproject_into(context, on_device, rays, points);
      expect_points(to_host(context, points), depth, camera, tolerance);
    }
  }
}

TEST(Deproject, PixelsBeyondTheLensModelAreHoles) {
  // Barrel distortion so strong that the model folds over inside the image.
  Camera camera{64, 48, 20, 20, 31.5, 23.5, {-0.5, 0, 0, 0, 0}};
  Image<float> depth(copy(Context::cpu(), std::vector<float>(64 * 48, 1.0f)), 64, 48);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const std::vector<Vec3f> points =
        to_host(context, deproject(context, copy(context, depth), camera).points);
    const Vec3f& corner = points[0];
    EXPECT_TRUE(std::isnan(corner.x) && std::isnan(corner.y) && std::isnan(corner.z));
    EXPECT_EQ(points[24 * 64 + 32].z, 1.0f);
  }
}

TEST(Deproject, IntoCanBeRecorded) {
  const Camera camera = kinect();
  const Image<float> depth = random_depth(camera, testing::seed_of_test());
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<float> on_device = copy(context, depth);
    Buffer<Vec3f> points(context, depth.pixels().size());
    const std::int64_t before = context.counters().allocations;
    const Graph graph =
        Graph::capture(context, [&] { deproject_into(context, on_device, camera, points); });
    graph.launch();
    EXPECT_EQ(context.counters().allocations, before);
    expect_points(to_host(context, points), depth, camera, 4e-7);
  }
}

TEST(Deproject, BadInput) {
  const Camera camera = kinect();
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<float> small(context, 10, 10);
    EXPECT_THROW(deproject(context, small, camera), Error);
    EXPECT_THROW(deproject(context, Image<float>(context, 0, 0), camera), Error);
    const Image<float> depth(context, camera.width, camera.height);
    Camera broken = camera;
    broken.fx_px = 0;
    EXPECT_THROW(deproject(context, depth, broken), Error);
    EXPECT_THROW(ray_table(context, broken), Error);
    Buffer<Vec3f> few(context, 5);
    EXPECT_THROW(deproject_into(context, depth, camera, few), Error);
    const Image<Vec2f> rays(context, 10, 10);
    Buffer<Vec3f> points(context, depth.pixels().size());
    EXPECT_THROW(deproject_into(context, depth, rays, points), Error);
  }
}

}  // namespace
}  // namespace sextant
