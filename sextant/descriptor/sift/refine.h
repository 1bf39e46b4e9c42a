// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/sift/math.h"

// From a flagged pixel to the extremum beside it, the same on both devices. `scales` is one octave:
// row(scale, v), width() and height().

namespace sextant::detail::sift {

/// An extremum of the differences of scales, found in an octave.
struct Extremum {
  std::int32_t layer, row, column;  ///< the pixel of the octave next to it
  float u, v, sigma;                ///< in pixels of the octave
  float response;
};

/// What makes an extremum a keypoint.
struct ExtremumLimits {
  int layers;
  double sigma;
  float contrast;
  float edge_ratio;
};

/// Differences of neighbouring scales that are smaller are not looked at: half of what is asked
/// for, as a sample of an extremum is lower than the extremum itself.
SEXTANT_HD inline float least_difference(const ExtremumLimits& limits) {
  return 0.5f * limits.contrast / static_cast<float>(limits.layers) * kFullRange;
}

template <class Scales>
SEXTANT_HD ScaleBlock block_at(const Scales& scales, int layer, int row, int column) {
  ScaleBlock block;
  for (int s = 0; s < 3; ++s) {
    for (int v = 0; v < 3; ++v) {
      const float* fine = scales.row(layer - 1 + s, row - 1 + v) + column - 1;
      const float* coarse = scales.row(layer + s, row - 1 + v) + column - 1;
      for (int u = 0; u < 3; ++u) block.d[s][v][u] = coarse[u] - fine[u];
    }
  }
  return block;
}

/// What a pixel with the extremum within half a pixel and half a scale is; layer 0 where that is no
/// keypoint. It depends on the pixel alone, not on where it was reached from.
SEXTANT_HD inline Extremum extremum_in(const ScaleBlock& block, const ScaleExtremum& found,
                                       const ExtremumLimits& limits, int layer, int row,
                                       int column) {
  const float response = std::abs(found.value) / kFullRange;
  if (response * static_cast<float>(limits.layers) < limits.contrast) return {};
  if (!is_blob(block, limits.edge_ratio)) return {};
  const double scale = (layer + double{found.ds}) / limits.layers;
  return {layer,
          row,
          column,
          static_cast<float>(column) + found.du,
          static_cast<float>(row) + found.dv,
          static_cast<float>(limits.sigma * std::exp2(scale)),
          response};
}

/// The extremum of a pixel where `refine` has ended.
template <class Scales>
SEXTANT_HD Extremum extremum_at(const Scales& scales, const ExtremumLimits& limits, int layer,
                                int row, int column) {
  const ScaleBlock block = block_at(scales, layer, row, column);
  return extremum_in(block, fit_extremum(block), limits, layer, row, column);
}

/// Moves from a flagged pixel to the extremum beside it; layer 0 says that there is no keypoint.
template <class Scales>
SEXTANT_HD Extremum refine(const Scales& scales, const ExtremumLimits& limits, int layer, int row,
                           int column) {
  const int first_row = row, first_column = column;
  ScaleBlock block;
  ScaleExtremum found;
  for (int step = 0;; ++step) {
    if (step == kMostSteps) return {};
    block = block_at(scales, layer, row, column);
    found = fit_extremum(block);
    // A far extremum has no number of pixels.
    if (!found.exists || !(std::abs(found.du) <= 1e6f) || !(std::abs(found.dv) <= 1e6f) ||
        !(std::abs(found.ds) <= 1e6f)) {
      return {};
    }
    const auto near = [](float offset) { return std::abs(offset) < 0.5f; };
    if (near(found.du) && near(found.dv) && near(found.ds)) break;
    column += static_cast<int>(std::lround(found.du));
    row += static_cast<int>(std::lround(found.dv));
    layer += static_cast<int>(std::lround(found.ds));
    if (layer < 1 || layer > limits.layers || column < kBorder || row < kBorder ||
        column >= scales.width() - kBorder || row >= scales.height() - kBorder ||
        std::abs(column - first_column) > kMostWandering ||
        std::abs(row - first_row) > kMostWandering) {
      return {};
    }
  }
  return extremum_in(block, found, limits, layer, row, column);
}

/// Pixels of the photo in a pixel of an octave.
SEXTANT_HD inline float pixel_of(bool doubled, int octave) {
  return std::ldexp(1.0f, doubled ? octave - 1 : octave);
}
/// Where the first pixel of the first octave lies in the photo: a quarter of a pixel before that of
/// the photo, where it is doubled.
SEXTANT_HD inline float shift_of(bool doubled) { return doubled ? -0.25f : 0.0f; }

/// Whether the nearest pixel of the photo is wanted; all are where the mask is empty.
SEXTANT_HD inline bool is_wanted(const ImageView<const std::uint8_t>& mask, bool doubled,
                                 int octave, const Extremum& found) {
  if (mask.empty()) return true;
  const float pixel = pixel_of(doubled, octave), shift = shift_of(doubled);
  const auto nearest = [&](float at, int count) {
    const int i = static_cast<int>(std::lround(at * pixel + shift));
    return i < 0 ? 0 : i < count ? i : count - 1;
  };
  return mask(nearest(found.u, mask.width), nearest(found.v, mask.height)) != 0;
}

/// The keypoint in the photo, with one of its directions.
SEXTANT_HD inline SiftKeypoint in_photo(bool doubled, int octave, const Extremum& at, float turns) {
  const float pixel = pixel_of(doubled, octave), shift = shift_of(doubled);
  return {at.u * pixel + shift,
          at.v * pixel + shift,
          at.sigma * pixel,
          2.0f * std::numbers::pi_v<float> * turns,
          at.response,
          doubled ? octave - 1 : octave,
          at.layer};
}

}  // namespace sextant::detail::sift
