// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/catalogue/canvas.h"
#include "sextant/synth/catalogue/packages.h"
#include "sextant/synth/catalogue/prism.h"

namespace sextant {

using namespace detail::catalogue;

namespace {

constexpr double kWidthM = 0.063, kHeightM = 0.088, kThicknessM = 0.0004, kCornerM = 0.004;
constexpr int kTextureWidthPx = 1024, kTextureHeightPx = 768;
constexpr double kWallShare = 1.0 / 32;
constexpr double kFaceWidthPx = kTextureWidthPx / 2.0;
constexpr double kFaceHeightPx = kTextureHeightPx * (1 - kWallShare);

bool in_disc(double x, double y, double cx, double cy, double radius) {
  return (x - cx) * (x - cx) + (y - cy) * (y - cy) < radius * radius;
}

bool in_heart(double x, double y) {
  if (in_disc(x, y, -0.47, 0.42, 0.5) || in_disc(x, y, 0.47, 0.42, 0.5)) return true;
  return y < 0.55 && y > -1 && std::abs(x) < 0.92 * std::pow((y + 1) / 1.5, 0.75);
}

bool in_stem(double x, double y) { return y < -0.2 && std::abs(x) < 0.08 + 0.28 * y * y; }

bool in_suit(Suit suit, double x, double y) {
  switch (suit) {
    case Suit::kHearts:
      return in_heart(x, y);
    case Suit::kDiamonds:
      return std::pow(std::abs(x) / 0.8, 0.85) + std::pow(std::abs(y), 0.85) < 1;
    case Suit::kSpades:
      return in_heart(x, -(y + 0.2) * 1.15) || in_stem(x, y);
    case Suit::kClubs:
      return in_disc(x, y, 0, 0.5, 0.45) || in_disc(x, y, -0.5, -0.15, 0.45) ||
             in_disc(x, y, 0.5, -0.15, 0.45) || in_disc(x, y, 0, 0.1, 0.25) || in_stem(x, y);
  }
  return false;
}

/// Where the pips of a rank stand: columns -1 to 1, rows -1 (bottom) to 1 (top).
std::vector<Vec2d> pips_of(int rank) {
  std::vector<Vec2d> pips;
  const auto pair = [&](double y) {
    pips.push_back({-1, y});
    pips.push_back({1, y});
  };
  if (rank == 1 || rank == 3 || rank == 5 || rank == 9) pips.push_back({0, 0});
  if (rank == 2 || rank == 3) pips.insert(pips.end(), {{0, 1}, {0, -1}});
  if (rank >= 4 && rank <= 10) pair(1), pair(-1);
  if (rank >= 6 && rank <= 8) pair(0);
  if (rank == 7 || rank == 8) pips.push_back({0, 0.5});
  if (rank == 8) pips.push_back({0, -0.5});
  if (rank >= 9 && rank <= 10) pair(1.0 / 3), pair(-1.0 / 3);
  if (rank == 10) pips.insert(pips.end(), {{0, 2.0 / 3}, {0, -2.0 / 3}});
  return pips;
}

void draw_pip(Canvas& canvas, Suit suit, double x, double y, double half_px, bool upside_down,
              const Rgb8& color) {
  const double up = upside_down ? -1 : 1;
  canvas.shape(
      x, y, half_px, half_px, [&](double a, double b) { return in_suit(suit, a, up * b); }, color);
}

void draw_corners(Canvas& canvas, int rank, Suit suit, const Rgb8& color) {
  const char* names[] = {"A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K"};
  const std::string name = names[rank - 1];
  const double height = 62, width = height * 5 / 7, gap = width / 5;
  const auto letters = static_cast<double>(name.size());
  const double name_width = letters * width + (letters - 1) * gap;
  for (const bool turned : {false, true}) {
    const double middle = turned ? kFaceWidthPx - 46 : 46;
    for (std::size_t i = 0; i < name.size(); ++i) {
      const std::size_t place = turned ? name.size() - 1 - i : i;
      const double size = name.size() > 1 ? 0.6 : 1.0;
      const double left =
          middle + size * (-name_width / 2 + static_cast<double>(place) * (width + gap));
      const double top = turned ? kFaceHeightPx - 24 - height : 24;
      draw_sign(canvas, name[i], left, top, size * height, color, turned);
    }
    draw_pip(canvas, suit, middle, turned ? kFaceHeightPx - 122 : 122, 28, turned, color);
  }
}

/// Court cards: a mirrored figure of patterned cloth instead of pips.
void draw_figure(Canvas& canvas, int rank, Suit suit, const Rgb8& color, Dice& dice) {
  const double left = 100, right = kFaceWidthPx - 100, top = 60, bottom = kFaceHeightPx - 60;
  canvas.rectangle(left - 5, top - 5, right + 5, bottom + 5, {36, 52, 120});
  canvas.rectangle(left, top, right, bottom, {250, 240, 214});
  const Rgb8 cloth[] = {{208, 40, 44}, {240, 190, 50}, {36, 52, 120}, {24, 24, 26}};
  const double middle = kFaceHeightPx / 2;
  const int rows = 9, columns = 9;
  const double w = (right - left) / columns, h = (middle - top) / rows;
  for (int row = 3; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      if (std::abs(column - 4) > row - 2) continue;
      const Rgb8 a = cloth[dice.below(4)], b = cloth[dice.below(4)];
      const double lean = dice.uniform(0.3, 0.8);
      for (const double sign : {1.0, -1.0}) {  // the lower half is the upper one turned around
        const double x = kFaceWidthPx / 2 + sign * (column - 4) * w;
        const double y = middle - sign * (rows - row - 0.5) * h;
        canvas.rectangle(x - w / 2, y - h / 2, x + w / 2, y + h / 2, a);
        canvas.shape(
            x, y, w / 2, h / 2,
            [&](double p, double q) { return std::abs(p) + std::abs(q) * lean < lean; }, b);
      }
    }
  }
  for (const bool turned : {false, true}) {
    const double sign = turned ? -1 : 1;
    const double x = kFaceWidthPx / 2, y = middle - sign * 6.7 * h;
    canvas.disc(x, y, 42, {240, 204, 170});
    for (int i = 0; i < rank - 8; ++i) {
      const double spike = x + sign * (i - 0.5 * (rank - 9)) * 20;
      canvas.disc(spike, y - sign * 44, 9, {240, 190, 50});
    }
    canvas.disc(x - 14, y - sign * 6, 5, {30, 30, 34});
    canvas.disc(x + 14, y - sign * 6, 5, {30, 30, 34});
    canvas.rectangle(x - 12, y + sign * 16 - 3, x + 12, y + sign * 16 + 3, {186, 60, 60});
    draw_pip(canvas, suit, turned ? right - 40 : left + 40, turned ? bottom - 44 : top + 44, 30,
             turned, color);
  }
}

void draw_front(Canvas& canvas, int rank, Suit suit, Dice& dice) {
  canvas.rectangle(0, 0, kFaceWidthPx, kFaceHeightPx, {250, 249, 244});
  const bool red = suit == Suit::kHearts || suit == Suit::kDiamonds;
  const Rgb8 color = red ? Rgb8{204, 28, 36} : Rgb8{22, 22, 26};
  draw_corners(canvas, rank, suit, color);
  if (rank > 10) draw_figure(canvas, rank, suit, color, dice);
  for (const Vec2d& pip : pips_of(rank)) {
    const double half = rank == 1 ? 130 : 50;
    draw_pip(canvas, suit, kFaceWidthPx * (0.5 + 0.21 * pip.x),
             kFaceHeightPx * (0.5 - 0.36 * pip.y), half, pip.y < 0, color);
  }
}

void draw_back(Canvas& canvas, Dice& dice) {
  const double left = kTextureWidthPx - kFaceWidthPx;
  canvas.rectangle(left, 0, kTextureWidthPx, kFaceHeightPx, {250, 249, 244});
  canvas.rectangle(left + 22, 22, kTextureWidthPx - 22, kFaceHeightPx - 22, {150, 30, 44});
  const double step = 34;
  for (double y = 44; y < kFaceHeightPx - 40; y += step) {
    for (double x = left + 44; x < kTextureWidthPx - 40; x += step) {
      const double half = dice.uniform(0.28, 0.48) * step;
      const int kind = dice.below(3);
      canvas.shape(x, y, half, half,
                   [&](double a, double b) {
                     const double ring = kind == 0 ? std::abs(a) + std::abs(b) : std::hypot(a, b);
                     return kind == 2 ? std::abs(a * b) < 0.08 : ring < 1 && ring > 0.45;
                   },
                   {246, 226, 206});
    }
  }
}

std::vector<Vec2d> card_outline() {
  constexpr int kSteps = 6;
  std::vector<Vec2d> outline;
  const double x = kWidthM / 2 - kCornerM, y = kHeightM / 2 - kCornerM;
  const Vec2d centers[] = {{x, -y}, {x, y}, {-x, y}, {-x, -y}};
  for (int corner = 0; corner < 4; ++corner) {
    for (int i = 0; i <= kSteps; ++i) {
      const double turn = M_PI / 2 * (corner - 1 + static_cast<double>(i) / kSteps);
      outline.push_back({centers[corner].x + kCornerM * std::cos(turn),
                         centers[corner].y + kCornerM * std::sin(turn)});
    }
  }
  return outline;
}

}  // namespace

TriangleMesh make_card(int rank, Suit suit, std::uint64_t seed) {
  require(rank >= 1 && rank <= 13, "rank: ", rank, " is not in 1..13");
  require(suit >= Suit::kSpades && suit <= Suit::kClubs, "suit: ", static_cast<int>(suit),
          " is no Suit");
  Dice dice(seed, 3);
  Canvas canvas(kTextureWidthPx, kTextureHeightPx, {240, 238, 230});
  draw_back(canvas, dice);
  draw_front(canvas, rank, suit, dice);
  return make_prism(card_outline(), kThicknessM, false, {kWallShare}, canvas.finish(2, dice));
}

}  // namespace sextant
