// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/view_tensors.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/core/random.h"
#include "tests/devices.h"
#include "tests/error_message.h"

namespace sextant {
namespace {

using testing::all_contexts;
using testing::describe;

/// A ridge of two planes of 45° that meet in a vertical edge at (0, y, 0.8), alone in the view.
Image<float> ridge(const Camera& camera) {
  Image<float> depth_m(Context::cpu(), camera.width, camera.height);
  for (int v = 0; v < camera.height; ++v) {
    for (int u = 0; u < camera.width; ++u) {
      const double x = (u - camera.cx_px) / camera.fx_px;
      // z = 0.8 + |x| z, seen along the ray x z.
      const double z = 0.8 / (1.0 - std::abs(x));
      depth_m(u, v) = z < 0.87 ? static_cast<float>(z) : NAN;
    }
  }
  return depth_m;
}

Camera camera_of(int scale) {
  return {160 * scale, 120 * scale, 525.0 * scale, 525.0 * scale, 80.0 * scale, 60.0 * scale, {}};
}

TEST(ViewTensors, OfARidgeHaveItsAngle) {
  const Camera camera = camera_of(1);
  const Image<float> depth_m = ridge(camera);
  // Of 90°, but windows of normals that the edge crosses smooth it.
  const ViewTensorOptions options{.tensors = 60, .least_angle_rad = 1.4f};
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    const TensorSet tensors =
        to_host(context, view_tensors(context, copy(context, depth_m), camera, options));
    ASSERT_EQ(tensors.count.host()[0], 60);
    for (const TensorFrame& frame : tensors.frames.host()) {
      EXPECT_GT(frame.angle_rad, 1.4f);
      EXPECT_LT(frame.angle_rad, 1.5708f + 0.01f);
      EXPECT_NEAR(frame.bin_m, 0.016f, 1e-6f);
      EXPECT_GT(std::abs(frame.axes.row[0].y), 0.99f);  // the edge
    }
  }
}

TEST(ViewTensors, AreTheSameForFinerPixels) {
  // Twice as many pixels show the same surface: every second of them is kept.
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    const auto surface = [&](int scale) {
      const Camera camera = camera_of(scale);
      return view_surface(context, copy(context, ridge(camera)), camera);
    };
    const Surface coarse = surface(1);
    const Surface fine = surface(2);
    EXPECT_EQ(fine.camera->width, coarse.camera->width);
    EXPECT_EQ(fine.camera->height, coarse.camera->height);
    EXPECT_NEAR(fine.camera->fx_px, 525.0, 1e-9);
    EXPECT_NEAR(fine.resolution_m, coarse.resolution_m, 0.02f * coarse.resolution_m);
  }
}

TEST(ViewTensors, FewerTrianglesHaveNearlyTheSameAreas) {
  const Camera camera = camera_of(1);
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    const auto mean_area = [&](float mesh_resolutions) {
      const ViewTensorOptions options{.tensors = 200, .mesh_resolutions = mesh_resolutions};
      const Image<float> depth_m = copy(context, ridge(camera));
      const Surface surface = view_surface(context, depth_m, camera, options);
      EXPECT_EQ(surface.width, mesh_resolutions > 1 ? (160 + 2) / 3 : 160);
      EXPECT_EQ(surface.normals.size(), surface.points.size());
      const TensorSet tensors = to_host(context, view_tensors(context, surface, options));
      double sum = 0;
      for (const float area : tensors.values.host()) sum += static_cast<double>(area);
      return sum / tensors.count.host()[0];
    };
    // The cube cuts 160 mm of an edge whose sides are 99 mm wide: what falls away at the ends of
    // the rows is less than a coarse pixel of 4.6 mm at each of 4 rims.
    const double all = mean_area(1);
    EXPECT_NEAR(mean_area(3), all, 0.1 * all);
  }
}

TEST(ViewTensors, OfNothingAreNone) {
  const Camera camera = camera_of(1);
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    for (const float value : {NAN, 0.0f, 0.8f}) {
      Image<float> depth_m(Context::cpu(), camera.width, camera.height);
      for (float& depth : depth_m.pixels().host()) depth = value;
      const TensorSet tensors = view_tensors(context, copy(context, depth_m), camera);
      EXPECT_EQ(to_host(context, tensors.count)[0], 0);  // planes have no pairs
      EXPECT_EQ(tensors.bins, 10);
    }
  }
}

TEST(ViewTensors, OtherSizesAreRefused) {
  const Context context = Context::cpu();
  const Image<float> depth_m = ridge(camera_of(1));
  EXPECT_NE(testing::error_message([&] {
              view_tensors(context, depth_m, camera_of(2));
            }).find("160 x 120"),
            std::string::npos);
  EXPECT_NE(testing::error_message([&] {
              view_tensors(context, depth_m, camera_of(1), {.resolution_m = 0});
            }).find("resolution_m"),
            std::string::npos);
}

}  // namespace
}  // namespace sextant
