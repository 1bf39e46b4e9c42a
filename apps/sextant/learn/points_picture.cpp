// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/sextant/learn/photos.h"
#include "apps/sextant/picture/lettering.h"
#include "apps/sextant/picture/outline.h"

namespace sextant::app {

namespace {

constexpr int kPanel_px = 480;  ///< height of the panels
constexpr int kMargin_px = 24;
constexpr int kHeader_px = 24;
constexpr Rgb8 kPaper{250, 250, 248}, kInk{40, 44, 52};
constexpr Rgb8 kSeen{40, 170, 60}, kOff{220, 40, 40};
constexpr double kShownErrors = 10;  ///< errors are drawn this much longer

/// The photograph at a height of kPanel_px, a pixel the nearest.
Image<Rgb8> made_smaller(ImageView<const Rgb8> photo, double scale) {
  const int width = std::max(1, static_cast<int>(std::lround(photo.width * scale)));
  Image<Rgb8> small(Context::cpu(1), width, kPanel_px);
  for (int v = 0; v < kPanel_px; ++v) {
    for (int u = 0; u < width; ++u) {
      const int x = std::min(photo.width - 1, static_cast<int>((u + 0.5) / scale));
      const int y = std::min(photo.height - 1, static_cast<int>((v + 0.5) / scale));
      small(u, v) = photo(x, y);
    }
  }
  return small;
}

/// A square of `size` pixels; what lies outside the picture is cut.
void draw_dot(const Vec2d& at, int size, const Rgb8& color, Image<Rgb8>& picture) {
  const int left = static_cast<int>(std::lround(at.x)) - size / 2;
  const int top = static_cast<int>(std::lround(at.y)) - size / 2;
  for (int v = std::max(0, top); v < std::min(picture.height(), top + size); ++v) {
    for (int u = std::max(0, left); u < std::min(picture.width(), left + size); ++u) {
      picture(u, v) = color;
    }
  }
}

/// Where the photograph shows points: a dot where the feature is, and a line, ten times as long as
/// the error, towards where the point is seen.
Image<Rgb8> photo_panel(const LearnPhotosReport& report, ImageView<const Rgb8> photo,
                        std::size_t number) {
  const double scale = double(kPanel_px) / photo.height;
  Image<Rgb8> panel = made_smaller(photo, scale);
  const LearnedPhoto& taken = report.photos[number];
  for (const LearnedPhotoPoint& point : report.points) {
    for (const auto& sighting : point.sightings) {
      if (sighting.photo != static_cast<std::int32_t>(number)) continue;
      const Vec2d seen = project(taken.camera, taken.camera_from_object * point.at_m);
      const Vec2d off = (seen - sighting.at_px) * (kShownErrors * scale);
      const Vec2d at = sighting.at_px * scale;
      draw_line(at, at + off, kOff, 1, panel);
      draw_dot(at, 3, kSeen, panel);
    }
  }
  return panel;
}

/// The points seen along a direction with z up, the nearest in front.
Image<Rgb8> side_panel(const LearnPhotosReport& report, double turn_rad) {
  const Vec3d right{std::cos(turn_rad), std::sin(turn_rad), 0};
  const Vec3d away{-std::sin(turn_rad), std::cos(turn_rad), 0};
  // Seen from somewhat above.
  const double raise = 0.35;
  const Vec3d up = Vec3d{0, 0, std::cos(raise)} + away * std::sin(raise);
  const Vec3d ahead = cross(up, right);
  Vec2d low{INFINITY, INFINITY}, high{-INFINITY, -INFINITY};
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    const Vec3d& p = report.points[i].at_m;
    low = {std::min(low.x, dot(p, right)), std::min(low.y, dot(p, up))};
    high = {std::max(high.x, dot(p, right)), std::max(high.y, dot(p, up))};
    order.emplace_back(-dot(p, ahead), i);
  }
  std::sort(order.begin(), order.end());
  const double extent = std::max({high.x - low.x, high.y - low.y, 1e-9});
  const double scale = (kPanel_px - 2 * kMargin_px) / extent;
  Image<Rgb8> panel(Context::cpu(1), kPanel_px, kPanel_px);
  std::fill(panel.pixels().host().begin(), panel.pixels().host().end(), kPaper);
  const Vec2d middle = (low + high) * 0.5;
  for (const auto& [depth, i] : order) {
    const Vec3d& p = report.points[i].at_m;
    draw_dot({kPanel_px / 2 + (dot(p, right) - middle.x) * scale,
              kPanel_px / 2 - (dot(p, up) - middle.y) * scale},
             4, report.points[i].color, panel);
  }
  return panel;
}

void paste(const Image<Rgb8>& from, int left, int top, Image<Rgb8>& to) {
  for (int v = 0; v < from.height(); ++v) {
    for (int u = 0; u < from.width(); ++u) to(left + u, top + v) = from(u, v);
  }
}

}  // namespace

Image<Rgb8> learned_points_picture(const LearnPhotosReport& report, ImageView<const Rgb8> photo,
                                   std::size_t number) {
  const Image<Rgb8> panels[] = {photo_panel(report, photo, number), side_panel(report, 0.5),
                                side_panel(report, 0.5 + 3.14159265358979)};
  int width = 0;
  for (const Image<Rgb8>& panel : panels) width += panel.width();
  Image<Rgb8> picture(Context::cpu(1), width, kPanel_px + kHeader_px);
  std::fill(picture.pixels().host().begin(), picture.pixels().host().end(), kPaper);
  int left = 0;
  for (const Image<Rgb8>& panel : panels) {
    paste(panel, left, kHeader_px, picture);
    left += panel.width();
  }
  draw_text(picture, 6, 6,
            fmt::format("{} points  median {:.2f} px  rms {:.2f} px", report.points.size(),
                        report.median_px, report.rms_px),
            kInk);
  return picture;
}

}  // namespace sextant::app
