// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>

#include "sextant/depth/bilateral/math.h"

namespace sextant::detail::bilateral {

/// A tile and its margin fit the first-level cache.
inline constexpr int kBilateralTileWidth = 64;
inline constexpr int kBilateralTileHeight = 32;

/// A part of the image, no larger than the constants above.
struct BilateralTile {
  int u, v;  ///< the first pixel
  int width, height;
};

/// log2 of the spatial weight of every neighbour, row by row of the window.
struct BilateralWindow {
  int radius;
  float log2_spatial[(2 * kLargestBilateralRadius + 1) * (2 * kLargestBilateralRadius + 1)];
};
inline BilateralWindow bilateral_window(const BilateralWeights& weights) {
  BilateralWindow window;
  window.radius = weights.radius;
  float* to = window.log2_spatial;
  for (int dv = -weights.radius; dv <= weights.radius; ++dv) {
    for (int du = -weights.radius; du <= weights.radius; ++du) {
      *to++ = weights.log2_spatial[std::abs(du)] + weights.log2_spatial[std::abs(dv)];
    }
  }
  return window;
}

/// Filters one tile, for which it reads up to `radius` pixels around it.
using BilateralTileFilter = void (*)(const BilateralTile& tile, const BilateralWeights& weights,
                                     const BilateralWindow& window,
                                     const ImageView<const float>& depth_m,
                                     const ImageView<float>& filtered_m);

/// What the host code was compiled for.
enum class InstructionSet { kAvx512, kAvx2, kPortable };

/// Null where this machine has no such instructions.
BilateralTileFilter bilateral_tile_filter(InstructionSet set);
BilateralTileFilter fastest_bilateral_tile_filter();

}  // namespace sextant::detail::bilateral
