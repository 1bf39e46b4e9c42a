// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "sextant/descriptor/tags.h"

namespace sextant {

namespace {

constexpr int kSamplesAcross = 41;  ///< of the profile across an edge
constexpr int kSamplesAlong = 21;   ///< profiles that are averaged
constexpr double kLeastCell_px = 2;

double sample(const ImageView<const std::uint8_t>& grey, const Vec2d& at) {
  const double u = clamp(at.x, 0.0, grey.width - 1.0), v = clamp(at.y, 0.0, grey.height - 1.0);
  const int i = std::min(static_cast<int>(u), grey.width - 2);
  const int j = std::min(static_cast<int>(v), grey.height - 2);
  const double a = u - i, b = v - j;
  return (1 - b) * ((1 - a) * grey(i, j) + a * grey(i + 1, j)) +
         b * ((1 - a) * grey(i, j + 1) + a * grey(i + 1, j + 1));
}

/// The width of the edge between two corners; the profile reaches a cell to both sides.
double edge_px(const ImageView<const std::uint8_t>& grey, const Vec2d& from, const Vec2d& to) {
  const Vec2d along = to - from;
  const double length = std::hypot(along.x, along.y);
  const double cell = length / (kTagCells - 2);
  const Vec2d outwards{along.y / length, -along.x / length};
  double profile[kSamplesAcross] = {};
  for (int i = 0; i < kSamplesAcross; ++i) {
    const double across = cell * (2.0 * i / (kSamplesAcross - 1) - 1);
    for (int k = 0; k < kSamplesAlong; ++k) {
      const double share = 0.2 + 0.6 * k / (kSamplesAlong - 1);
      profile[i] += sample(grey, from + along * share + outwards * across);
    }
  }
  double steepest = 0;
  constexpr int kStep = 2;  // differences over a tenth of a cell
  for (int i = kStep; i < kSamplesAcross; ++i) {
    steepest = max_of(steepest, profile[i] - profile[i - kStep]);
  }
  const double step_px = kStep * 2 * cell / (kSamplesAcross - 1);
  // Where white cells are near, the black side is not black to its end.
  const auto [low, high] = std::minmax_element(profile, profile + kSamplesAcross);
  const double rise = *high - *low;
  // A Gaussian's edge rises from a tenth to nine tenths over 1.02 times its height over its slope.
  return steepest > 0 && rise > 0 ? 1.02 * rise * step_px / steepest : NAN;
}

}  // namespace

double tag_edge_px(const ImageView<const std::uint8_t>& grey, const TagSighting& tag) {
  if (grey.width < 2 || grey.height < 2) return NAN;
  double width[2] = {0, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    const Vec2d &a = tag.corners_px[i], &b = tag.corners_px[(i + 1) % 4];
    if (std::hypot(b.x - a.x, b.y - a.y) < kLeastCell_px * (kTagCells - 2)) return NAN;
    width[i % 2] += 0.5 * edge_px(grey, a, b);
  }
  return max_of(width[0], width[1]);
}

}  // namespace sextant
