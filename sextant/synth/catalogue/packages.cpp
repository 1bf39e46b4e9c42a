// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/catalogue/packages.h"

#include "sextant/synth/catalogue/canvas.h"
#include "sextant/synth/catalogue/prism.h"

namespace sextant {

using namespace detail::catalogue;

namespace {

constexpr int kTexturePx = 1024;
constexpr double kWallShare = 0.6;

/// Colours that go together: ground, ink, two accents.
struct Palette {
  Rgb8 ground, ink, accent, light;
};
constexpr Palette kPalettes[] = {{{34, 92, 150}, {250, 246, 236}, {242, 178, 40}, {150, 196, 226}},
                                 {{186, 40, 46}, {250, 240, 226}, {34, 40, 60}, {240, 176, 130}},
                                 {{236, 222, 186}, {62, 44, 32}, {196, 74, 40}, {120, 150, 80}},
                                 {{44, 116, 76}, {248, 244, 220}, {226, 196, 60}, {150, 206, 150}},
                                 {{238, 238, 236}, {34, 44, 84}, {220, 60, 80}, {60, 150, 190}},
                                 {{88, 52, 120}, {248, 240, 250}, {240, 150, 60}, {180, 150, 214}}};

/// A part of the texture that stands for a face, in pixels.
struct Panel {
  double left, top, width, height;
  double px_per_mm_x, px_per_mm_y;
};

bool in_star(double x, double y) {
  const double turn = std::atan2(x, y) * 5 / (2 * M_PI);
  const double ray = std::abs(turn - std::floor(turn + 0.5));
  return std::hypot(x, y) < 1 - 1.1 * ray;
}

void draw_confetti(Canvas& canvas, const Panel& panel, const Palette& palette, int count,
                   Dice& dice) {
  const Rgb8 colors[] = {palette.accent, palette.light, palette.ink};
  for (int i = 0; i < count; ++i) {
    const double x = panel.left + dice.uniform(0.05, 0.95) * panel.width;
    const double y = panel.top + dice.uniform(0.05, 0.95) * panel.height;
    const double size_mm = dice.uniform(1.5, 5.0);
    const double lean = dice.uniform(-0.8, 0.8);
    const Rgb8 color = colors[dice.below(3)];
    const int kind = dice.below(3);
    canvas.shape(
        x, y, size_mm * panel.px_per_mm_x, size_mm * panel.px_per_mm_y,
        [&](double a, double b) {
          if (kind == 0) return std::abs(a - lean * b) < 0.35 * (1 - b);           // triangle
          if (kind == 1) return std::abs(a * (1 - 0.3 * lean) + lean * b) < 0.45;  // bar
          return a * a + b * b < 1 && a * a + b * b > 0.3;                         // ring
        },
        color);
  }
}

void draw_stripes(Canvas& canvas, const Panel& panel, double top_share, double bottom_share,
                  const Rgb8& color, Dice& dice) {
  const double step_px = dice.uniform(3.5, 7.0) * panel.px_per_mm_x;
  const double top = panel.top + top_share * panel.height;
  const double bottom = panel.top + bottom_share * panel.height;
  for (double x = panel.left; x < panel.left + panel.width; x += step_px) {
    canvas.rectangle(x, top, min_of(x + step_px / 2, panel.left + panel.width), bottom, color);
  }
}

void draw_bars(Canvas& canvas, const Panel& panel, Dice& dice) {
  const double width = 22 * panel.px_per_mm_x, height = 11 * panel.px_per_mm_y;
  const double left = panel.left + panel.width - width - 3 * panel.px_per_mm_x;
  const double top = panel.top + panel.height - height - 3 * panel.px_per_mm_y;
  if (width > 0.7 * panel.width) return;
  canvas.rectangle(left, top, left + width, top + height, {250, 250, 250});
  const double module = width / 48;
  for (int i = 2; i < 46; ++i) {
    if (!dice.chance(0.5)) continue;
    canvas.rectangle(left + i * module, top + 0.1 * height, left + (i + 1) * module,
                     top + 0.9 * height, {16, 16, 18});
  }
}

/// A label: emblem, title, stripes, small print and loose shapes.
void draw_label(Canvas& canvas, const Panel& panel, const Palette& palette, Dice& dice) {
  const double mm_x = panel.px_per_mm_x, mm_y = panel.px_per_mm_y;
  const double right = panel.left + panel.width;
  canvas.rectangle(panel.left, panel.top, right, panel.top + panel.height, palette.ground);
  const double area_cm2 = panel.width / mm_x * panel.height / mm_y / 100;
  draw_confetti(canvas, panel, palette, static_cast<int>(8 + 0.5 * area_cm2), dice);
  draw_stripes(canvas, panel, 0.02, 0.09, palette.accent, dice);
  draw_stripes(canvas, panel, 0.90, 0.97, palette.light, dice);
  const double emblem_mm = 0.26 * min_of(panel.width / mm_x, panel.height / mm_y);
  const double x = panel.left + panel.width * dice.uniform(0.35, 0.65);
  const double y = panel.top + panel.height * dice.uniform(0.34, 0.42);
  const auto round = [](double a, double b) { return a * a + b * b < 1; };
  canvas.shape(x, y, emblem_mm * mm_x, emblem_mm * mm_y, round, palette.light);
  canvas.shape(x, y, 0.92 * emblem_mm * mm_x, 0.92 * emblem_mm * mm_y, round, palette.ink);
  canvas.shape(x, y, 0.85 * emblem_mm * mm_x, 0.85 * emblem_mm * mm_y, in_star, palette.accent);
  const double title_px = clamp(0.10 * panel.height, 4 * mm_y, 12 * mm_y);
  const double margin = 0.08 * panel.width;
  const double title_top = panel.top + 0.64 * panel.height;
  canvas.rectangle(panel.left, title_top - 0.2 * title_px, right, title_top + 1.2 * title_px,
                   palette.accent);
  draw_words(canvas, panel.left + margin, title_top, right - margin, title_px, palette.ink, dice);
  const double line_px = 2.6 * mm_y;
  for (double top = title_top + 1.5 * title_px; top + line_px < panel.top + 0.89 * panel.height;
       top += 1.5 * line_px) {
    const double length = dice.uniform(0.5, 1.0) * (panel.width - 2 * margin);
    draw_words(canvas, panel.left + margin, top, panel.left + margin + length, line_px, palette.ink,
               dice);
  }
}

Panel face_panel(bool top, double width_m, double depth_m) {
  const double width = kTexturePx / 2.0, height = kTexturePx * (1 - kWallShare);
  return {top ? 0.0 : width, 0, width, height, width / (1000 * width_m), height / (1000 * depth_m)};
}

}  // namespace

TriangleMesh make_carton(const Vec3d& sides_m, std::uint64_t seed) {
  for (const double side : {sides_m.x, sides_m.y, sides_m.z}) {
    require(side > 0 && side < 100, "sides_m: ", side, " is not a length of a carton");
  }
  Dice dice(seed, 1);
  const Palette& palette = kPalettes[dice.below(static_cast<int>(std::size(kPalettes)))];
  Canvas canvas(kTexturePx, kTexturePx, palette.ground);
  const double around_m = 2 * (sides_m.x + sides_m.y);
  const double wall_px = kTexturePx * kWallShare;
  double left = 0;
  int wall = 0;
  for (const double side_m : {sides_m.x, sides_m.y, sides_m.x, sides_m.y}) {
    const double width = kTexturePx * side_m / around_m;
    const Panel panel{left,    kTexturePx - wall_px,           width,
                      wall_px, kTexturePx / (1000 * around_m), wall_px / (1000 * sides_m.z)};
    draw_label(canvas, panel, palette, dice);
    if (wall++ == 2) draw_bars(canvas, panel, dice);
    left += width;
  }
  draw_label(canvas, face_panel(true, sides_m.x, sides_m.y), palette, dice);
  draw_label(canvas, face_panel(false, sides_m.x, sides_m.y), palette, dice);
  const double x = sides_m.x / 2, y = sides_m.y / 2;
  return make_prism({{-x, -y}, {x, -y}, {x, y}, {-x, y}}, sides_m.z, false, {kWallShare},
                    canvas.finish(7, dice));
}

TriangleMesh make_can(double radius_m, double height_m, std::uint64_t seed) {
  require(radius_m > 0 && radius_m < 100, "radius_m: ", radius_m, " is not a can's radius");
  require(height_m > 0 && height_m < 100, "height_m: ", height_m, " is not a can's height");
  Dice dice(seed, 2);
  const Palette& palette = kPalettes[dice.below(static_cast<int>(std::size(kPalettes)))];
  constexpr Rgb8 kTin{176, 178, 182}, kTinDark{128, 130, 136};
  Canvas canvas(kTexturePx, kTexturePx, kTin);
  const double wall_px = kTexturePx * kWallShare;
  const double px_per_mm = kTexturePx / (2 * M_PI * 1000 * radius_m);
  for (int side = 0; side < 2; ++side) {
    const Panel panel{0.5 * kTexturePx * side,
                      kTexturePx - 0.95 * wall_px,
                      0.5 * kTexturePx,
                      0.9 * wall_px,
                      px_per_mm,
                      wall_px / (1000 * height_m)};
    draw_label(canvas, panel, palette, dice);
    if (side == 1) draw_bars(canvas, panel, dice);
  }
  for (const bool top : {true, false}) {
    const Panel panel = face_panel(top, 2 * radius_m, 2 * radius_m);
    const double x = panel.left + panel.width / 2, y = panel.height / 2;
    for (const double ring : {0.94, 0.70, 0.34}) {
      const auto edge = [&](double a, double b) {
        return std::abs(std::hypot(a, b) - ring) < 0.03;
      };
      canvas.shape(x, y, panel.width / 2, panel.height / 2, edge, kTinDark);
    }
    draw_words(canvas, x - 0.2 * panel.width, y - 0.04 * panel.height, x + 0.2 * panel.width,
               0.08 * panel.height, kTinDark, dice);
    draw_confetti(canvas, panel, {kTin, kTinDark, {150, 152, 156}, {210, 212, 214}}, 12, dice);
  }
  std::vector<Vec2d> outline;
  constexpr int kSides = 96;
  for (int i = 0; i < kSides; ++i) {
    const double turn = 2 * M_PI * i / kSides;
    outline.push_back({radius_m * std::cos(turn), radius_m * std::sin(turn)});
  }
  return make_prism(outline, height_m, true, {kWallShare}, canvas.finish(6, dice));
}

}  // namespace sextant
