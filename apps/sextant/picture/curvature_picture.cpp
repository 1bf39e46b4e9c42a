// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/picture/curvature_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/sextant/picture/lettering.h"
#include "sextant/render/color_map.h"

namespace sextant::app {

namespace {

constexpr Rgb8 kPaper{255, 255, 255};
constexpr Rgb8 kInk{40, 40, 40};

/// Sizes of the key, all times one scale that grows with the picture.
struct KeyLayout {
  int scale;
  int square;  ///< side of the field of colours
  int left;    ///< room for numbers and the name of k2
  int right;
  int above;
  int below;

  explicit KeyLayout(int picture_height)
      : scale(max_of(1, (picture_height + 240) / 480)),
        square(161 * scale),
        left(44 * scale),
        right(16 * scale),
        above(24 * scale),
        below(52 * scale) {}
  int width() const { return left + square + right; }
  int height() const { return above + square + below; }
};

void line(Image<Rgb8>& picture, int left, int top, int width, int height) {
  for (int v = top; v < top + height; ++v) {
    for (int u = left; u < left + width; ++u) picture(u, v) = kInk;
  }
}

/// Numbers at the ends, the middle and half way.
void draw_ticks(Image<Rgb8>& picture, const KeyLayout& key, int left, int top, float limit_per_m) {
  const int s = key.scale;
  for (int i = -2; i <= 2; ++i) {
    const std::string number = fmt::format("{:g}", limit_per_m * static_cast<float>(i) / 2);
    const int offset = (key.square - 1) * (i + 2) / 4;
    line(picture, left + offset, top + key.square, s, 4 * s);
    line(picture, left - 4 * s, top + key.square - 1 - offset - (s - 1), 4 * s, s);
    if (i % 2 != 0) continue;  // no room for more
    draw_text(picture, left + offset - text_width(number, s) / 2, top + key.square + 7 * s, number,
              kInk, s);
    draw_text(picture, left - 6 * s - text_width(number, s),
              top + key.square - 1 - offset - kSignHeight * s / 2, number, kInk, s);
  }
}

void draw_key(Image<Rgb8>& picture, const KeyLayout& key, int panel_left, float limit_per_m) {
  const int left = panel_left + key.left;
  const int top = (picture.height() - key.height()) / 2 + key.above;
  const int s = key.scale;
  for (int v = 0; v < key.square; ++v) {
    for (int u = 0; u < key.square; ++u) {
      const double k1 = 2.0 * u / (key.square - 1) - 1;
      const double k2 = 1 - 2.0 * v / (key.square - 1);
      if (k2 <= k1) picture(left + u, top + v) = curvature_color(k1, k2);
    }
  }
  line(picture, left, top + key.square, key.square, s);
  line(picture, left - s, top, s, key.square + s);
  draw_ticks(picture, key, left, top, limit_per_m);
  draw_text(picture, left - 18 * s, top - 14 * s, "k2 in 1/m", kInk, s);
  draw_text(picture, left + key.square - text_width("k1 in 1/m", s), top + key.square + 22 * s,
            "k1 in 1/m", kInk, s);
  // Names where the shapes are: the middle of each is at an eighth of a turn from the next.
  const int middle = key.square / 2;
  const int edge = key.square - 3 * s;
  const auto name = [&](int u, int v, const char* text) {
    draw_text(picture, left + u - text_width(text, s), top + v, text, kInk, s);
  };
  name(edge, 12 * s, "ball");
  name(edge, middle - 3 * s, "rod");
  name(edge, key.square - 11 * s, "saddle");
  name(middle + text_width("gutter", s) / 2, key.square - 11 * s, "gutter");
  name(2 * s + text_width("bowl", s), key.square - 11 * s, "bowl");
}

}  // namespace

float fitting_limit_per_m(View<const float> k1_per_m, View<const float> k2_per_m) {
  Image<float> largest(Context::cpu(), static_cast<int>(k1_per_m.size), 1);
  for (std::int64_t i = 0; i < k1_per_m.size; ++i) {
    largest.pixels().data()[i] = max_of(std::abs(k1_per_m[i]), std::abs(k2_per_m[i]));
  }
  const float most = value_range(largest, 0.0, 0.98).high;
  for (double decade = 1; decade < 1e6; decade *= 10) {
    for (const double step : {1.0, 2.0, 5.0}) {
      if (step * decade >= static_cast<double>(most)) return static_cast<float>(step * decade);
    }
  }
  return 1e6f;
}

Image<Rgb8> with_curvature_key(ImageView<const Rgb8> scene, float limit_per_m) {
  const KeyLayout key(scene.height);
  Image<Rgb8> picture(Context::cpu(), scene.width + key.width(),
                      max_of(scene.height, key.height()));
  std::fill(picture.pixels().host().begin(), picture.pixels().host().end(), kPaper);
  for (int v = 0; v < scene.height; ++v) {
    for (int u = 0; u < scene.width; ++u) picture(u, v) = scene(u, v);
  }
  draw_key(picture, key, scene.width, limit_per_m);
  return picture;
}

}  // namespace sextant::app
