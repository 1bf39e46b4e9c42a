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
