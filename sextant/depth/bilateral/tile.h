// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdlib>

#include "sextant/core/simd/lanes_math.h"
#include "sextant/depth/bilateral/math.h"

// The filter on the host, a tile of the image at a time. Host only.

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

/// Filters one tile, for which it reads up to `radius` pixels around it. Sets that fuse a product
/// and a sum give the same bits, and so do those that do not; between the two, results differ by
/// what the filter promises.
struct BilateralTileFilter {
  const BilateralWeights& weights;
  const BilateralWindow& window;
  ImageView<const float> depth_m;
  ImageView<float> filtered_m;

  template <class Set>
  void operator()(Set, const BilateralTile& tile) const {
    alignas(64) float scaled[kTileRows * kStride];
    alignas(64) float weight_sums[kRun];
    alignas(64) float difference_sums[kRun];
    load(tile, scaled);
    for (int y = 0; y < tile.height; ++y) {
      const float* from = depth_m.row(tile.v + y) + tile.u;
      float* to = filtered_m.row(tile.v + y) + tile.u;
      for (int x = 0; x < tile.width; x += kRun) {
        for (int part = 0; part < kRun; part += kAtOnce * Set::kFloats) {
          sum<FloatLanes<Set::kFloats, Set>>(scaled + y * kStride + x + part, weight_sums + part,
                                             difference_sums + part);
        }
        const int count = std::min(kRun, tile.width - x);
        for (int i = 0; i < count; ++i) {
          to[x + i] =
              filtered_depth(from[x + i], weights.unscale, weight_sums[i], difference_sums[i]);
        }
      }
    }
  }

 private:
  static constexpr int kTileRows = kBilateralTileHeight + 2 * kLargestBilateralRadius;
  /// Elements from one row of a tile with its margin to the next.
  static constexpr int kStride = kBilateralTileWidth + 2 * kLargestBilateralRadius + 2;
  /// Pixels of a row that are finished together.
  static constexpr int kRun = 32;
  /// Packs summed at a time, enough to hide the latency of the polynomial.
  static constexpr int kAtOnce = 2;

  /// Scaled depths of a tile and of `radius` pixels around it; outside the image are holes.
  void load(const BilateralTile& tile, float* scaled) const {
    const int radius = weights.radius;
    const int first = std::max(tile.u - radius, 0);
    const int last = std::min(tile.u + kBilateralTileWidth + radius, depth_m.width);
    for (int y = 0; y < tile.height + 2 * radius; ++y) {
      float* to = scaled + y * kStride;
      const int v = tile.v - radius + y;
      std::fill(to, to + kStride, kScaledHole);
      if (v < 0 || v >= depth_m.height) continue;
      const float* from = depth_m.row(v) + first;
      to += first - (tile.u - radius);
      for (int i = 0; i < last - first; ++i) to[i] = scaled_or_hole(from[i], weights.scale);
    }
  }

  /// Σ w and Σ w (V_q - V_p) of kAtOnce packs of neighbouring pixels. `corner` is the first pixel
  /// of the first one's window among the scaled depths.
  template <class Pack>
  void sum(const float* corner, float* weight_sums, float* difference_sums) const {
    const int radius = window.radius;
    const float* centers = corner + radius * kStride + radius;
    Pack center[kAtOnce], weight[kAtOnce], difference[kAtOnce];
    SEXTANT_UNROLL
    for (int k = 0; k < kAtOnce; ++k) center[k] = Pack::load(centers + k * Pack::kCount);
    const float* tap = window.log2_spatial;
    for (int y = 0; y <= 2 * radius; ++y) {
      const float* neighbours = corner + y * kStride;
      for (int x = 0; x <= 2 * radius; ++x) {
        const Pack log2_spatial(*tap++);
        SEXTANT_UNROLL
        for (int k = 0; k < kAtOnce; ++k) {
          add_neighbour(center[k], Pack::load(neighbours + x + k * Pack::kCount), log2_spatial,
                        weight[k], difference[k]);
        }
      }
    }
    SEXTANT_UNROLL
    for (int k = 0; k < kAtOnce; ++k) {
      weight[k].store(weight_sums + k * Pack::kCount);
      difference[k].store(difference_sums + k * Pack::kCount);
    }
  }
};

}  // namespace sextant::detail::bilateral
