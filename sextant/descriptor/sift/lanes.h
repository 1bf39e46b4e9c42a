// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <numbers>

#include "sextant/descriptor/sift/square_columns.h"
#include "sextant/descriptor/sift/tiles.h"

// What one lane of a warp does with the window of a keypoint. Each lane keeps sums of its own, side
// by side, so that lanes meet different banks and nothing depends on who comes first; the sums are
// added up in a fixed order afterwards.

namespace sextant::detail::sift {

inline constexpr int kLanes = 32;

/// Adds up what the lanes have of one number. They begin at different lanes, for the banks.
SEXTANT_HD inline float sum_of_lanes(const float* numbers, int number, int begin) {
  const float* row = numbers + number * kLanes;
  float sum = 0;
  for (int i = 0; i < kLanes; ++i) sum += row[(begin + i) % kLanes];
  return sum;
}

SEXTANT_HD inline Gradient<float> gradient_at(const GreyPlane& image, int v, int u) {
  const float* at = image.data + v * image.stride + u;
  return gradient_of(at[1] - at[-1], at[image.stride] - at[-image.stride]);
}

/// exp(-(right² + down²) / 2 sigma²), with -0.5 log2(e) / sigma².
SEXTANT_HD inline float window_weight(float right, float down, float scale) {
  const float exponent = (right * right + down * down) * scale;
  return LaneMath<float>::quick_exp2(LaneMath<float>::larger(-100.0f, exponent));
}
SEXTANT_HD inline float window_scale(float sigma) { return -0.5f * kLog2e / (sigma * sigma); }

/// One more than the bins: a whole turn is none.
inline constexpr int kVoteNumbers = kAngleBins + 1;

/// Where an extremum lies in its scale.
struct WindowCentre {
  float u, v, sigma;
  int column, row;
};

/// Adds the votes of every kLanes-th pixel around an extremum to votes[number × kLanes + lane].
SEXTANT_HD inline void vote_for_angles(const GreyPlane& image, const WindowCentre& centre, int lane,
                                       float* votes) {
  for (int i = 0; i < kVoteNumbers; ++i) votes[i * kLanes + lane] = 0;
  const int radius = angle_radius(centre.sigma);
  const auto limit = [](int i, int low, int high) { return i < low ? low : i < high ? i : high; };
  const int first_u = limit(centre.column - radius, 1, image.width);
  const int end_u = limit(centre.column + radius + 1, 0, image.width - 1);
  const int first_v = limit(centre.row - radius, 1, image.height);
  const int end_v = limit(centre.row + radius + 1, 0, image.height - 1);
  const int width = end_u - first_u;
  if (width <= 0) return;
  const float scale = window_scale(kAngleSigmas * centre.sigma);
  const int step_rows = kLanes / width, step_columns = kLanes % width;
  int u = first_u + lane % width, v = first_v + lane / width;
  while (v < end_v) {
    const Gradient<float> gradient = gradient_at(image, v, u);
    const int bin = static_cast<int>(gradient.turns * kAngleBins + 0.5f);
    votes[bin * kLanes + lane] +=
        gradient.length *
        window_weight(static_cast<float>(u) - centre.u, static_cast<float>(v) - centre.v, scale);
    v += step_rows;
    u += step_columns;
    if (u >= end_u) {
      u -= width;
      ++v;
    }
  }
}

/// A bin of the ring, from what the lanes have.
SEXTANT_HD inline float vote_of(const float* votes, int bin) {
  float sum = sum_of_lanes(votes, bin, bin);
  if (bin == 0) sum += sum_of_lanes(votes, kAngleBins, 0);
  return sum;
}

/// The window of a descriptor: of each row of pixels those that may lie in the turned square.
class DescriptorWindow {
 public:
  SEXTANT_HD DescriptorWindow(const GreyPlane& image, float u, float v, float sigma, float turns)
      : image_(image), u_(u), v_(v), turns_(turns), columns_(1, 0) {
    const float cell = kCellSigmas * sigma;
    const float angle = 2.0f * std::numbers::pi_v<float> * turns;
    cosine_ = std::cos(angle) / cell;
    sine_ = std::sin(angle) / cell;
    columns_ = SquareColumns(cosine_, sine_);
    scale_ = window_scale(0.5f * kCells * cell);
    radius_ = descriptor_radius(sigma);
    column_ = static_cast<int>(std::lround(u));
    const int row = static_cast<int>(std::lround(v));
    first_row_ = row - radius_ > 1 ? row - radius_ : 1;
    const int end = row + radius_ + 1 < image.height - 1 ? row + radius_ + 1 : image.height - 1;
    rows_ = end > first_row_ ? end - first_row_ : 0;
  }

  SEXTANT_HD int rows() const { return rows_; }

  /// Columns of a row.
  struct Span {
    std::int32_t first, count;
  };
  SEXTANT_HD Span span(int row) const {
    const SquareColumns::Range range = columns_.at(static_cast<float>(first_row_ + row) - v_);
    const auto larger = [](int a, int b) { return a > b ? a : b; };
    const auto smaller = [](int a, int b) { return a < b ? a : b; };
    const int left = static_cast<int>(std::floor(u_ + range.first));
    const int right = static_cast<int>(std::floor(u_ + range.last));
    const int first = larger(left, larger(column_ - radius_, 1));
    const int end = smaller(right + 1, smaller(column_ + radius_ + 1, image_.width - 1));
    return {first, end > first ? end - first : 0};
  }

  /// Adds every kLanes-th pixel of the spans to cells[number × kLanes + lane].
  SEXTANT_HD void add(const Span* spans, int lane, float* cells) const {
    int row = 0, at = lane;
    const auto settle = [&] {
      while (row < rows_ && at >= spans[row].count) at -= spans[row++].count;
    };
    for (settle(); row < rows_; settle()) {
      add_pixel(spans[row].first + at, first_row_ + row, cells + lane);
      at += kLanes;
    }
  }

 private:
  /// Shares a pixel among the two nearest rows and columns of cells and directions.
  SEXTANT_HD void add_pixel(int u, int v, float* cells) const {
    const float right = static_cast<float>(u) - u_, down = static_cast<float>(v) - v_;
    const WindowPlace<float> place = place_in_window(right, down, cosine_, sine_);
    if (!(std::abs(place.row) < kReach) || !(std::abs(place.column) < kReach)) return;
    const Gradient<float> gradient = gradient_at(image_, v, u);
    // Directions are counted counter-clockwise from the keypoint's.
    const float ahead = turns_ - gradient.turns;
    const float direction = (ahead < 0 ? ahead + 1.0f : ahead) * kDirections;
    const float weight = gradient.length * window_weight(right, down, scale_);
    const float row = place.row + kReach, column = place.column + kReach;
    // Cells -1 and kCells are those around the others; they are not kept.
    const int upper = static_cast<int>(row) - 1, left = static_cast<int>(column) - 1;
    const int first = static_cast<int>(direction);
    const float below = weight * (row - static_cast<float>(upper + 1));
    const float beyond = column - static_cast<float>(left + 1);
    const float turned = direction - static_cast<float>(first);
    SEXTANT_UNROLL
    for (int dv = 0; dv < 2; ++dv) {
      const float of_row = dv == 0 ? weight - below : below;
      SEXTANT_UNROLL
      for (int du = 0; du < 2; ++du) {
        const int y = upper + dv, x = left + du;
        if (y < 0 || y >= kCells || x < 0 || x >= kCells) continue;
        const float share = of_row * (du == 0 ? 1.0f - beyond : beyond);
        float* cell = cells + (y * kCells + x) * kDirections * kLanes;
        cell[first % kDirections * kLanes] += share * (1.0f - turned);
        cell[(first + 1) % kDirections * kLanes] += share * turned;
      }
    }
  }

  GreyPlane image_;
  float u_, v_, turns_;
  float cosine_, sine_, scale_;
  SquareColumns columns_;
  int radius_, column_, first_row_, rows_;
};

/// Rows of the largest window that the options allow.
inline constexpr int kMostWindowRows = 194;

}  // namespace sextant::detail::sift
