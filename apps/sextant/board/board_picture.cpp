// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cmath>

#include "apps/sextant/board/board_sheet.h"
#include "apps/sextant/picture/lettering.h"
#include "sextant/core/error.h"

namespace sextant::app {

namespace {

constexpr double kInch_m = 0.0254;
constexpr int kMostPixels = 20000;  // of a side

/// The share of the pixel from i - ½ to i + ½ that lies between two places.
double overlap(int i, double low, double high) {
  return std::clamp(std::min(high, i + 0.5) - std::max(low, i - 0.5), 0.0, 1.0);
}

/// Covers what lies between the corners, pixels at the rim by their share.
void fill(const Vec2d& low, const Vec2d& high, double level, Image<float>& picture) {
  const int left = std::max(0, static_cast<int>(std::lround(low.x)));
  const int right = std::min(picture.width() - 1, static_cast<int>(std::lround(high.x)));
  const int top = std::max(0, static_cast<int>(std::lround(low.y)));
  const int bottom = std::min(picture.height() - 1, static_cast<int>(std::lround(high.y)));
  for (int v = top; v <= bottom; ++v) {
    const double tall = overlap(v, low.y, high.y);
    for (int u = left; u <= right; ++u) {
      const double share = tall * overlap(u, low.x, high.x);
      float& pixel = picture(u, v);
      pixel = static_cast<float>(pixel + share * (level - pixel));
    }
  }
}

}  // namespace

Image<std::uint8_t> board_picture(const BoardSheet& sheet, double dpi) {
  const double px_per_m = dpi / kInch_m;
  const int width = static_cast<int>(std::lround(sheet.board.width_m * px_per_m));
  const int height = static_cast<int>(std::lround(sheet.board.height_m * px_per_m));
  require(std::max(width, height) <= kMostPixels && std::min(width, height) > 0, "dpi: ", dpi,
          " makes a picture of ", width, " x ", height, " px");
  // The picture is the sheet, side by side, even where a side is no whole number of pixels.
  const auto place = [&](const Vec2d& at_m) {
    return Vec2d{(at_m.x / sheet.board.width_m + 0.5) * width - 0.5,
                 (0.5 - at_m.y / sheet.board.height_m) * height - 0.5};
  };
  const Context cpu = Context::cpu(1);
  Image<float> grey(cpu, width, height);
  std::fill(grey.pixels().host().begin(), grey.pixels().host().end(), 255.0f);
  for (const Ink& ink : sheet.ink) {
    const Vec2d low = place(ink.low_m), high = place(ink.high_m);
    fill({low.x, high.y}, {high.x, low.y}, ink.white ? 255 : 0, grey);
  }
  Image<Rgb8> words(cpu, width, height);
  std::fill(words.pixels().host().begin(), words.pixels().host().end(), Rgb8{255, 255, 255});
  for (const Label& label : sheet.labels) {
    std::string text = label.text;
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const int scale = std::max(1, static_cast<int>(label.height_m * px_per_m / kSignHeight));
    const Vec2d at = place(label.at_m);
    draw_text(words, static_cast<int>(std::lround(at.x)),
              static_cast<int>(std::lround(at.y)) - scale * kSignHeight, text, Rgb8{}, scale);
  }
  Image<std::uint8_t> picture(cpu, width, height);
  for (std::size_t i = 0; i < picture.pixels().host().size(); ++i) {
    const auto level = static_cast<std::uint8_t>(std::lround(grey.pixels().host()[i]));
    picture.pixels().host()[i] = std::min(level, words.pixels().host()[i].x);
  }
  return picture;
}

}  // namespace sextant::app
