// SPDX-License-Identifier: Apache-2.0
#include "sextant/render/color_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace sextant {

namespace {

/// Returns the sRGB of the Oklab colour with lightness L, chroma C and hue (B. Ottosson, 2020),
/// clipped to what a screen shows.
Rgb8 from_oklch(double lightness, double chroma, double hue_rad) {
  const double a = chroma * std::cos(hue_rad);
  const double b = chroma * std::sin(hue_rad);
  const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
  const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
  const double s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
  const auto byte = [](double linear) {
    const double clipped = std::clamp(linear, 0.0, 1.0);
    const double encoded =
        clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * std::pow(clipped, 1 / 2.4) - 0.055;
    return static_cast<std::uint8_t>(std::lround(255 * encoded));
  };
  return {byte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          byte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          byte(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

constexpr int kLevels = 256;

std::array<Rgb8, kLevels> levels() {
  std::array<Rgb8, kLevels> table;
  for (int i = 0; i < kLevels; ++i) table[i] = map_color(double(i) / (kLevels - 1));
  return table;
}

}  // namespace

Rgb8 map_color(double share) {
  const double t = std::clamp(share, 0.0, 1.0);
  const double hue_deg = 300 - 200 * t;
  const double chroma = 0.17 - 0.06 * (2 * t - 1) * (2 * t - 1);
  return from_oklch(0.28 + 0.66 * t, chroma, hue_deg * std::numbers::pi / 180);
}

Image<Rgb8> color_map(ImageView<const float> values, float dark, float light) {
  require_on(Context::cpu(1), values, "values");
  require(std::isfinite(dark) && std::isfinite(light), "color_map: the range ", dark, " to ", light,
          " is not finite");
  const std::array<Rgb8, kLevels> table = levels();
  const float scale = light == dark ? 0.0f : static_cast<float>(kLevels - 1) / (light - dark);
  Image<Rgb8> picture(Context::cpu(1), values.width, values.height);
  for (int v = 0; v < values.height; ++v) {
    for (int u = 0; u < values.width; ++u) {
      const float value = values(u, v);
      const float level = clamp((value - dark) * scale, 0.0f, static_cast<float>(kLevels - 1));
      picture(u, v) = std::isnan(value) ? Rgb8{} : table[static_cast<std::size_t>(level + 0.5f)];
    }
  }
  return picture;
}

Image<Rgb8> normal_map(ImageView<const Vec3f> normals) {
  require_on(Context::cpu(1), normals, "normals");
  Image<Rgb8> picture(Context::cpu(1), normals.width, normals.height);
  const auto level = [](float value) {
    return static_cast<std::uint8_t>(127.5f * (1.0f + clamp(value, -1.0f, 1.0f)) + 0.5f);
  };
  for (int v = 0; v < normals.height; ++v) {
    for (int u = 0; u < normals.width; ++u) {
      const Vec3f n = normals(u, v);
      picture(u, v) = is_finite(n) ? Rgb8{level(n.x), level(-n.y), level(-n.z)} : Rgb8{};
    }
  }
  return picture;
}

Rgb8 curvature_color(double k1_share, double k2_share) {
  const double k1 = std::clamp(k1_share, -1.0, 1.0);
  const double k2 = std::clamp(k2_share, -1.0, 1.0);
  const double strength = std::max(std::abs(k1), std::abs(k2));
  // The shape index, from -1 (bowl) to 1 (ball), is the direction of (k1, k2) in the half plane
  // k1 >= k2; hues go three quarters round, so that its ends differ.
  const double shape = 2 / std::numbers::pi * std::atan2(k1 + k2, std::abs(k1 - k2));
  const double hue_deg = 30 + 135 * (1 - shape);
  return from_oklch(0.95 - 0.23 * strength, 0.17 * strength, hue_deg * std::numbers::pi / 180);
}

Image<Rgb8> curvature_map(ImageView<const float> k1_per_m, ImageView<const float> k2_per_m,
                          float limit_per_m) {
  require_on(Context::cpu(1), k1_per_m, "k1_per_m");
  require_on(Context::cpu(1), k2_per_m, "k2_per_m");
  require(k1_per_m.width == k2_per_m.width && k1_per_m.height == k2_per_m.height,
          "curvature_map: k1 has ", k1_per_m.width, " x ", k1_per_m.height, " pixels, k2 ",
          k2_per_m.width, " x ", k2_per_m.height);
  require(limit_per_m > 0 && std::isfinite(limit_per_m), "limit_per_m: ", limit_per_m,
          " is not a positive number");
  Image<Rgb8> picture(Context::cpu(1), k1_per_m.width, k1_per_m.height);
  for (int v = 0; v < k1_per_m.height; ++v) {
    for (int u = 0; u < k1_per_m.width; ++u) {
      const float k1 = k1_per_m(u, v) / limit_per_m;
      const float k2 = k2_per_m(u, v) / limit_per_m;
      picture(u, v) = std::isnan(k1) || std::isnan(k2) ? Rgb8{} : curvature_color(k1, k2);
    }
  }
  return picture;
}

ValueRange value_range(ImageView<const float> values, double low_share, double high_share) {
  require_on(Context::cpu(1), values, "values");
  require(low_share >= 0 && low_share <= high_share && high_share <= 1, "value_range: shares ",
          low_share, " and ", high_share, " are not in order within [0, 1]");
  std::vector<float> finite;
  finite.reserve(static_cast<std::size_t>(values.pixels()));
  for (int v = 0; v < values.height; ++v) {
    for (int u = 0; u < values.width; ++u) {
      if (std::isfinite(values(u, v))) finite.push_back(values(u, v));
    }
  }
  if (finite.empty()) return {};
  const auto at = [&](double share) {
    const auto place = finite.begin() + static_cast<std::ptrdiff_t>(
                                            share * static_cast<double>(finite.size() - 1) + 0.5);
    std::nth_element(finite.begin(), place, finite.end());
    return *place;
  };
  const float low = at(low_share);
  return {low, at(high_share)};
}

}  // namespace sextant
