// SPDX-License-Identifier: Apache-2.0
#include "sextant/depth/color_points.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/depth/deproject.h"
#include "tests/devices.h"

namespace sextant {
namespace {

/// A smooth painting of space: what every camera sees at a point.
Rgb8 paint(const Vec3d& point) {
  const auto level = [](double value) {
    return static_cast<std::uint8_t>(std::lround(127.5 + 100 * std::sin(value)));
  };
  return {level(5 * point.x), level(4 * point.y), level(3 * (point.x + point.y))};
}

TEST(ColorPoints, RegisteredImageGivesEachPixelItsColour) {
  std::vector<Vec3f> points(12, Vec3f{0, 0, 1});
  points[5] = {NAN, NAN, NAN};
  std::vector<Rgb8> pixels;
  for (int i = 0; i < 12; ++i) pixels.push_back({static_cast<std::uint8_t>(i + 1), 2, 3});
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<Rgb8> image(copy(context, pixels), 4, 3);
    const std::vector<Rgb8> colors =
        to_host(context, color_points(context, copy(context, points), image));
    for (int i = 0; i < 12; ++i) EXPECT_EQ(colors[i], i == 5 ? Rgb8{} : pixels[i]) << i;
  }
}

TEST(ColorPoints, AnotherCameraSeesTheSamePainting) {
  // A painted wall at 1.5 m; the colour camera stands beside, is turned, larger and has a lens.
  const Camera depth_camera{160, 120, 140, 140, 79.5, 59.5, {}};
  ColorCamera color;
  color.camera = {320, 240, 270, 268, 161, 118, {0.1, -0.2, 0.001, 0.002, 0.05}};
  color.color_from_points.rotation = exp_rotation(Vec3d{0.02, -0.05, 0.03});
  color.color_from_points.translation = {0.025, -0.004, 0.003};
  const Rigid3d depth_from_color = inverse(color.color_from_points);
  Image<Rgb8> photograph(Context::cpu(), 320, 240);
  for (int v = 0; v < 240; ++v) {
    for (int u = 0; u < 320; ++u) {
      const Vec3d ray = unproject(color.camera, Vec2d{double(u), double(v)});
      const Vec3d direction = depth_from_color.rotation * ray;
      const Vec3d& origin = depth_from_color.translation;
      photograph(u, v) = paint(origin + direction * ((1.5 - origin.z) / direction.z));
    }
  }
  Image<float> depth(copy(Context::cpu(), std::vector<float>(160 * 120, 1.5f)), 160, 120);
  depth(10, 10) = NAN;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Cloud cloud = deproject(context, copy(context, depth), depth_camera);
    const std::vector<Vec3f> points = to_host(context, cloud.points);
    const std::vector<Rgb8> colors =
        to_host(context, color_points(context, cloud.points, copy(context, photograph), color));
    EXPECT_EQ(colors[10 * 160 + 10], Rgb8{});
    int seen = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (colors[i] == Rgb8{}) continue;
      ++seen;
      const Rgb8 expected = paint(cast<double>(points[i]));
      // Rounding to bytes twice; between pixels the painting bends by 100·(5·1.5/268)²/8 = 0.01.
      ASSERT_NEAR(colors[i].x, expected.x, 1.1) << i;
      ASSERT_NEAR(colors[i].y, expected.y, 1.1) << i;
      ASSERT_NEAR(colors[i].z, expected.z, 1.1) << i;
    }
    // The colour camera sees about 4 degrees less on one side.
    EXPECT_GT(seen, 160 * 120 * 4 / 5);
    EXPECT_LT(seen, 160 * 120);
  }
}

TEST(ColorPoints, OutsideAndBehindAreBlack) {
  const Image<Rgb8> white(copy(Context::cpu(), std::vector<Rgb8>(64, Rgb8{255, 255, 255})), 8, 8);
  ColorCamera camera;
  camera.camera = {8, 8, 8, 8, 3.5, 3.5, {}};
  const std::vector<Vec3f> points{{0, 0, 1},   {0, 0, -1},       {5, 0, 1},    {0, 0, 0},
                                  {NAN, 0, 1}, {INFINITY, 0, 1}, {0, -0.5f, 1}};
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const std::vector<Rgb8> colors = to_host(
        context, color_points(context, copy(context, points), copy(context, white), camera));
    EXPECT_EQ(colors[0], (Rgb8{255, 255, 255}));
    for (int i = 1; i < 7; ++i) {
      EXPECT_EQ(colors[i], Rgb8{}) << i;
    }
  }
}

TEST(ColorPoints, BadInput) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Buffer<Vec3f> points = copy(context, std::vector<Vec3f>(6));
    const Image<Rgb8> image(copy(context, std::vector<Rgb8>(12)), 4, 3);
    EXPECT_THROW(color_points(context, points, image), Error);
    EXPECT_TRUE(
        color_points(context, Buffer<Vec3f>(context, 0), Image<Rgb8>(context, 0, 0)).empty());
    ColorCamera camera;
    EXPECT_THROW(color_points(context, points, image, camera), Error);
    camera.camera = {5, 3, 8, 8, 2, 1, {}};
    EXPECT_THROW(color_points(context, points, image, camera), Error);
    camera.camera.width = 4;
    EXPECT_EQ(color_points(context, points, image, camera).size(), 6);
    camera.color_from_points.rotation = Mat3d::identity() * 2.0;
    EXPECT_THROW(color_points(context, points, image, camera), Error);
    camera.color_from_points.rotation = Mat3d::identity() * -1.0;
    EXPECT_THROW(color_points(context, points, image, camera), Error);
    Buffer<Rgb8> few(context, 2);
    const Image<Rgb8> fitting(context, 3, 2);
    EXPECT_THROW(color_points_into(context, points, fitting, few), Error);
  }
}

}  // namespace
}  // namespace sextant
