// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/image.h"
#include "sextant/core/vec.h"
#include "sextant/synth/catalogue/dice.h"

namespace sextant::detail::catalogue {

/// A picture that is drawn on at twice its size, so that edges come out smooth. Coordinates are
/// pixels of the finished picture from its upper left corner; what lies outside is cut.
class Canvas {
 public:
  Canvas(int width, int height, const Rgb8& color);

  int width() const { return width_; }
  int height() const { return height_; }

  void rectangle(double left, double top, double right, double bottom, const Rgb8& color);
  void disc(double x, double y, double radius, const Rgb8& color);
  /// Fills where inside(x, y) holds, x and y from -1 to 1 over the box of the given half size; y
  /// points up.
  template <class Inside>
  void shape(double x, double y, double half_width, double half_height, const Inside& inside,
             const Rgb8& color);

  /// The picture with speckles: smooth random brightness of three sizes, `strength` levels strong.
  Image<Rgb8> finish(double strength, Dice& dice) const;

 private:
  static constexpr int kFine = 2;

  Rgb8* at(int column, int row) {
    return &fine_[static_cast<std::size_t>(row) * static_cast<std::size_t>(width_ * kFine) +
                  static_cast<std::size_t>(column)];
  }

  int width_, height_;
  std::vector<Rgb8> fine_;
};

template <class Inside>
void Canvas::shape(double x, double y, double half_width, double half_height, const Inside& inside,
                   const Rgb8& color) {
  if (!(half_width > 0 && half_height > 0)) return;
  const auto first = [](double from, double half) { return max_of(0, int((from - half) * kFine)); };
  const auto last = [](double from, double half, int size) {
    return min_of(size * kFine - 1, int((from + half) * kFine) + 1);
  };
  const int right = last(x, half_width, width_);
  const int bottom = last(y, half_height, height_);
  for (int row = first(y, half_height); row <= bottom; ++row) {
    const double local_y = (y - (row + 0.5) / kFine) / half_height;
    if (std::abs(local_y) > 1) continue;
    for (int column = first(x, half_width); column <= right; ++column) {
      const double local_x = ((column + 0.5) / kFine - x) / half_width;
      if (std::abs(local_x) <= 1 && inside(local_x, local_y)) *at(column, row) = color;
    }
  }
}

/// A sign of a 5 × 7 raster: "0" to "9", "A", "J", "Q", "K"; anything else is a blank. The box is
/// `height` high and 5/7 of it wide, from its upper left corner.
void draw_sign(Canvas& canvas, char sign, double left, double top, double height, const Rgb8& color,
               bool upside_down = false);

/// A word-like row of made-up signs, each a random 5 × 7 raster of an invented script.
void draw_words(Canvas& canvas, double left, double top, double right, double height,
                const Rgb8& color, Dice& dice);

}  // namespace sextant::detail::catalogue
