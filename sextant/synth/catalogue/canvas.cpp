// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/catalogue/canvas.h"

namespace sextant::detail::catalogue {

namespace {

/// Smooth random numbers from -1 to 1 over the picture, with knots `cell` pixels apart.
class SmoothNoise {
 public:
  SmoothNoise(int width, int height, int cell, Dice& dice)
      : cell_(cell), columns_(width / cell + 2) {
    const int rows = height / cell + 2;
    knots_.resize(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows));
    for (float& knot : knots_) knot = static_cast<float>(dice.uniform(-1, 1));
  }

  float at(int x, int y) const {
    const int i = x / cell_, j = y / cell_;
    const float fx = eased(static_cast<float>(x % cell_) / static_cast<float>(cell_));
    const float fy = eased(static_cast<float>(y % cell_) / static_cast<float>(cell_));
    const float* knot = &knots_[static_cast<std::size_t>(j * columns_ + i)];
    const float upper = knot[0] + (knot[1] - knot[0]) * fx;
    const float lower = knot[columns_] + (knot[columns_ + 1] - knot[columns_]) * fx;
    return upper + (lower - upper) * fy;
  }

 private:
  static float eased(float t) { return t * t * (3 - 2 * t); }

  int cell_, columns_;
  std::vector<float> knots_;
};

/// Seven rows of five bits, the leftmost the highest.
struct Sign {
  char name;
  std::uint8_t rows[7];
};
constexpr Sign kSigns[] = {
    {'0', {14, 17, 17, 17, 17, 17, 14}}, {'1', {4, 12, 4, 4, 4, 4, 14}},
    {'2', {14, 17, 1, 6, 8, 16, 31}},    {'3', {14, 17, 1, 6, 1, 17, 14}},
    {'4', {2, 6, 10, 18, 31, 2, 2}},     {'5', {31, 16, 30, 1, 1, 17, 14}},
    {'6', {6, 8, 16, 30, 17, 17, 14}},   {'7', {31, 1, 2, 4, 4, 8, 8}},
    {'8', {14, 17, 17, 14, 17, 17, 14}}, {'9', {14, 17, 17, 15, 1, 2, 12}},
    {'A', {4, 10, 17, 17, 31, 17, 17}},  {'J', {7, 2, 2, 2, 2, 18, 12}},
    {'Q', {14, 17, 17, 17, 21, 18, 13}}, {'K', {17, 18, 20, 24, 20, 18, 17}}};

void draw_raster(Canvas& canvas, const std::uint8_t rows[7], double left, double top, double cell,
                 const Rgb8& color, bool upside_down) {
  for (int row = 0; row < 7; ++row) {
    for (int column = 0; column < 5; ++column) {
      const int bit = upside_down ? rows[6 - row] >> column : rows[row] >> (4 - column);
      if (!(bit & 1)) continue;
      canvas.rectangle(left + column * cell, top + row * cell, left + (column + 1) * cell,
                       top + (row + 1) * cell, color);
    }
  }
}

}  // namespace

Canvas::Canvas(int width, int height, const Rgb8& color)
    : width_(width),
      height_(height),
      fine_(static_cast<std::size_t>(width * kFine) * static_cast<std::size_t>(height * kFine),
            color) {}

void Canvas::rectangle(double left, double top, double right, double bottom, const Rgb8& color) {
  const auto edge = [](double value, int size) {
    return static_cast<int>(clamp(value * kFine + 0.5, 0.0, static_cast<double>(size * kFine)));
  };
  const int last_row = edge(bottom, height_);
  const int last_column = edge(right, width_);
  for (int row = edge(top, height_); row < last_row; ++row) {
    for (int column = edge(left, width_); column < last_column; ++column) *at(column, row) = color;
  }
}

void Canvas::disc(double x, double y, double radius, const Rgb8& color) {
  shape(
      x, y, radius, radius, [](double a, double b) { return a * a + b * b <= 1; }, color);
}

Image<Rgb8> Canvas::finish(double strength, Dice& dice) const {
  Image<Rgb8> image(Context::cpu(1), width_, height_);
  const SmoothNoise coarse(width_, height_, 29, dice);
  const SmoothNoise medium(width_, height_, 11, dice);
  const SmoothNoise fine(width_, height_, 4, dice);
  const auto stride = static_cast<std::size_t>(width_ * kFine);
  for (int y = 0; y < height_; ++y) {
    for (int x = 0; x < width_; ++x) {
      const Rgb8* upper = &fine_[static_cast<std::size_t>(y * kFine) * stride +
                                 static_cast<std::size_t>(x * kFine)];
      const Rgb8* lower = upper + stride;
      const float level = static_cast<float>(strength) *
                          (0.5f * coarse.at(x, y) + 0.7f * medium.at(x, y) + fine.at(x, y));
      const auto mix = [&](int a, int b, int c, int d) {
        const float value = 0.25f * static_cast<float>(a + b + c + d) + level;
        return static_cast<std::uint8_t>(clamp(value, 0.0f, 255.0f) + 0.5f);
      };
      image(x, y) = {mix(upper[0].x, upper[1].x, lower[0].x, lower[1].x),
                     mix(upper[0].y, upper[1].y, lower[0].y, lower[1].y),
                     mix(upper[0].z, upper[1].z, lower[0].z, lower[1].z)};
    }
  }
  return image;
}

void draw_sign(Canvas& canvas, char sign, double left, double top, double height, const Rgb8& color,
               bool upside_down) {
  for (const Sign& known : kSigns) {
    if (known.name == sign) {
      draw_raster(canvas, known.rows, left, top, height / 7, color, upside_down);
    }
  }
}

void draw_words(Canvas& canvas, double left, double top, double right, double height,
                const Rgb8& color, Dice& dice) {
  const double cell = height / 7;
  for (double x = left; x + 5 * cell <= right; x += 6 * cell) {
    if (dice.chance(0.16)) continue;
    std::uint8_t rows[7];
    for (std::uint8_t& row : rows) row = static_cast<std::uint8_t>(dice.below(31));
    // Strokes rather than dust: an upright on one side, a bar somewhere.
    const int upright = dice.chance(0.5) ? 16 : 1;
    for (std::uint8_t& row : rows) row = static_cast<std::uint8_t>((row & 0b01110) | upright);
    rows[dice.below(7)] = 31;
    draw_raster(canvas, rows, x, top, cell, color, false);
  }
}

}  // namespace sextant::detail::catalogue
