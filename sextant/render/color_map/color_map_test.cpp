// SPDX-License-Identifier: Apache-2.0
#include "sextant/render/color_map.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant {
namespace {

/// Relative luminance of an sRGB colour (IEC 61966-2-1).
double luminance(const Rgb8& color) {
  const auto linear = [](std::uint8_t byte) {
    const double c = byte / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(color.x) + 0.7152 * linear(color.y) + 0.0722 * linear(color.z);
}

TEST(ColorMap, GrowsLighterInEvenSteps) {
  // CIE lightness, another model of the eye than the one the map is made with.
  const auto lightness = [](double share) {
    return 116 * std::cbrt(luminance(map_color(share))) - 16;
  };
  for (int i = 0; i < 20; ++i) {
    const double step = lightness((i + 1) / 20.0) - lightness(i / 20.0);
    EXPECT_GT(step, 1.5) << i;
    EXPECT_LT(step, 6.5) << i;
  }
  EXPECT_NE(map_color(0), Rgb8{});
  EXPECT_EQ(map_color(-1), map_color(0));
  EXPECT_EQ(map_color(2), map_color(1));
}

TEST(ColorMap, PaintsValuesAndHoles) {
  Image<float> values(Context::cpu(), 4, 1);
  values(0, 0) = 1.0f;
  values(1, 0) = 3.0f;
  values(2, 0) = NAN;
  values(3, 0) = INFINITY;
  const Image<Rgb8> picture = color_map(values, 3.0f, 1.0f);
  EXPECT_EQ(picture(0, 0), map_color(1));
  EXPECT_EQ(picture(1, 0), map_color(0));
  EXPECT_EQ(picture(2, 0), Rgb8{});
  EXPECT_EQ(picture(3, 0), map_color(0));
  // A range of no width shows what there is and the holes.
  EXPECT_EQ(color_map(values, 1.0f, 1.0f)(0, 0), map_color(0));
  EXPECT_EQ(color_map(values, 1.0f, 1.0f)(2, 0), Rgb8{});
  EXPECT_TRUE(color_map(Image<float>(), 0.0f, 1.0f).empty());
  EXPECT_THROW(color_map(values, NAN, 1.0f), Error);
}

TEST(ColorMap, RangeLeavesOutliersOut) {
  Image<float> values(Context::cpu(), 101, 1);
  for (int u = 0; u < 101; ++u) values(u, 0) = static_cast<float>(u);
  values(0, 0) = -1e6f;
  values(100, 0) = 1e6f;
  const ValueRange range = value_range(values, 0.01, 0.99);
  EXPECT_EQ(range.low, 1.0f);
  EXPECT_EQ(range.high, 99.0f);
  for (float& value : values.pixels().host()) value = NAN;
  EXPECT_EQ(value_range(values).high, 0.0f);
  EXPECT_THROW(value_range(values, 0.9, 0.1), Error);
}

double distance(const Rgb8& a, const Rgb8& b) {
  return std::hypot(a.x - b.x, a.y - b.y, a.z - b.z);
}

TEST(ColorMap, CurvaturesHaveAColourForEachShape) {
  const Rgb8 plane = curvature_color(0, 0);
  const Rgb8 ball = curvature_color(1, 1);
  const Rgb8 rod = curvature_color(1, 0);
  const Rgb8 saddle = curvature_color(1, -1);
  const Rgb8 gutter = curvature_color(0, -1);
  const Rgb8 bowl = curvature_color(-1, -1);
  EXPECT_TRUE(plane.x == plane.y && plane.y == plane.z && plane.x > 220);
  EXPECT_TRUE(ball.x > ball.y && ball.x > ball.z);
  EXPECT_TRUE(rod.x > rod.z && rod.y > rod.z);
  EXPECT_TRUE(saddle.y > saddle.x && saddle.y > saddle.z);
  EXPECT_TRUE(gutter.z > gutter.x && gutter.z > gutter.y);
  EXPECT_TRUE(bowl.z > bowl.y && bowl.x > bowl.y);
  const Rgb8 all[] = {plane, ball, rod, saddle, gutter, bowl};
  for (const Rgb8& a : all) {
    for (const Rgb8& b : all) EXPECT_TRUE(&a == &b || distance(a, b) > 60);
  }
  EXPECT_EQ(curvature_color(0.2, 0.7), curvature_color(0.7, 0.2));
  EXPECT_EQ(curvature_color(5, 1), curvature_color(1, 1));
}

/// A small change of the curvatures is a small change of the colour, also through flat and at the
/// border of what is told apart: no edge in the picture that is not in the surface. (Dark channels
/// are steep in sRGB; a seam of the hues would be a step of 100 and more.)
TEST(ColorMap, CurvatureColoursHaveNoJumps) {
  constexpr double kStep = 0.01;
  for (double k1 = -1.2; k1 <= 1.2; k1 += kStep) {
    for (double k2 = -1.2; k2 <= k1; k2 += kStep) {
      const Rgb8 here = curvature_color(k1, k2);
      ASSERT_LT(distance(here, curvature_color(k1 + kStep, k2)), 24) << k1 << ' ' << k2;
      ASSERT_LT(distance(here, curvature_color(k1, k2 - kStep)), 24) << k1 << ' ' << k2;
    }
  }
}

TEST(ColorMap, PaintsCurvaturesAndHoles) {
  Image<float> k1(Context::cpu(), 4, 1);
  Image<float> k2(Context::cpu(), 4, 1);
  const float pairs[4][2] = {{10, 10}, {20, 0}, {NAN, 0}, {INFINITY, -5}};
  for (int u = 0; u < 4; ++u) {
    k1(u, 0) = pairs[u][0];
    k2(u, 0) = pairs[u][1];
  }
  const Image<Rgb8> picture = curvature_map(k1, k2, 20);
  EXPECT_EQ(picture(0, 0), curvature_color(0.5, 0.5));
  EXPECT_EQ(picture(1, 0), curvature_color(1, 0));
  EXPECT_EQ(picture(2, 0), Rgb8{});
  EXPECT_EQ(picture(3, 0), curvature_color(1, -0.25));
  EXPECT_TRUE(curvature_map(Image<float>(), Image<float>(), 1).empty());
  EXPECT_THROW(curvature_map(k1, k2, 0), Error);
  EXPECT_THROW(curvature_map(k1, k2, NAN), Error);
  EXPECT_THROW(curvature_map(k1, Image<float>(), 1), Error);
}

TEST(ColorMap, NormalsAsColours) {
  const Image<Vec3f> normals(
      copy(Context::cpu(), std::vector<Vec3f>{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}, {NAN, 0, 0}}), 4,
      1);
  const Image<Rgb8> picture = normal_map(normals);
  EXPECT_EQ(picture(0, 0), (Rgb8{255, 128, 128}));  // to the right
  EXPECT_EQ(picture(1, 0), (Rgb8{128, 255, 128}));  // up
  EXPECT_EQ(picture(2, 0), (Rgb8{128, 128, 255}));  // towards the camera
  EXPECT_EQ(picture(3, 0), (Rgb8{}));
}

}  // namespace
}  // namespace sextant
