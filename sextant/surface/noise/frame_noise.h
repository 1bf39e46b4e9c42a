// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/image.h"
#include "sextant/core/vec.h"
#include "sextant/core/workspace.h"
#include "sextant/surface/noise/levels.h"

// The noise of a depth sensor, from one of its frames. Everything is in inverse depth d = 1/z over
// pixels: there planes are linear, and the noise of a sensor that triangulates is the same near and
// far.

namespace sextant::detail::noise {

/// What a sensor errs by, at every depth.
struct FrameNoise {
  float sigma_per_m[kDepthBins];  ///< deviation of a pixel
  /// What averaging leaves: the mean of n neighbouring pixels, n large, deviates by this over √n.
  /// Where pixels err by themselves it is their deviation; where neighbours err together it is
  /// larger by the square root of the number of pixels that do.
  float density_per_m[kDepthBins];
};

/// The noise where it is known beforehand; a deviation of 0 is taken from the frame.
struct GivenNoise {
  float sigma_per_m = 0;
  float grain_px = 0;  ///< side of the square of pixels that err together
};

/// Estimates the noise of an organised cloud on the context's device, without waiting. The result
/// lies in the workspace until its innermost scope ends.
const FrameNoise* estimate_frame_noise(const Context& context, ImageView<const Vec3f> points,
                                       const GivenNoise& given, Workspace& workspace);

inline constexpr int kCellPx = 8;
inline constexpr int kCellPixels = kCellPx * kCellPx;
inline constexpr int kQuadratic = 6;  ///< terms
/// Cells that leave this share of their inverse depth have a depth edge in them.
inline constexpr float kEdge = 0.01f;
/// Sums of squares over a cell of the polynomials u, u² and uv, made orthogonal.
inline constexpr float kFirst_sq = 336, kSecond_sq = 1344, kBoth_sq = 1764;

/// What is known of 8 × 8 pixels.
struct NoiseCell {
  float mean;              ///< of d; NaN unless every pixel has a point
  float slope_u, slope_v;  ///< of the least-squares plane, per pixel
  float rest_sq;           ///< sum of squares that the plane leaves
  float fine_sq;           ///< the same of a quadratic
};

/// Histograms, all of sizes in noise bins.
struct NoiseCounts {
  std::int32_t fine[kDepthBins * kNoiseBins];    ///< deviations within cells, by depth
  std::int32_t pixels[kDepthBins * kNoiseBins];  ///< deviations of the pixels of windows
  std::int32_t blocks[kDepthBins * kNoiseBins];  ///< deviations of the means of their blocks
  std::int32_t all_pixels[kNoiseBins];           ///< the same of all depths together
  std::int32_t all_blocks[kNoiseBins];
  std::int32_t wide_blocks[kNoiseBins];  ///< of windows twice as wide
};

/// Levels of single depths, and of the whole frame last; negative where there is none.
struct NoiseQuantiles {
  float fine[kDepthBins];
  float pixels[kDepthBins + 1];
  float blocks[kDepthBins + 1];
  float wide_blocks;
};

struct FrameNoiseState {
  ImageView<const Vec3f> points;
  int columns = 0, rows = 0;  ///< of cells
  NoiseCell* cells = nullptr;
  NoiseCounts* counts = nullptr;
  NoiseQuantiles* quantiles = nullptr;
  FrameNoise* result = nullptr;
};

struct ClearCounts {
  std::int32_t* counts;
  SEXTANT_HD void operator()(std::int64_t i) const { counts[i] = 0; }
};

/// The polynomials in a cell are orthogonal, so that each term of a fit is one sum.
struct MeasureCell {
  FrameNoiseState s;

  SEXTANT_HD void operator()(std::int64_t cell) const {
    const int row = static_cast<int>(cell / s.columns);
    const int column = static_cast<int>(cell - std::int64_t{row} * s.columns);
    s.cells[cell] = measured(column * kCellPx, row * kCellPx);
    const NoiseCell& found = s.cells[cell];
    if (!(found.mean > 0.0f)) return;
    const float fine = std::sqrt(found.fine_sq / (kCellPixels - kQuadratic));
    if (fine > kEdge * found.mean) return;
    count_window(s.counts->fine, 1.0f / found.mean, fine);
  }

  SEXTANT_HD NoiseCell measured(int first_u, int first_v) const {
    constexpr float kSecond[kCellPx] = {7, 1, -3, -5, -5, -3, 1, 7};
    const float z0 = s.points(first_u, first_v).z;
    const float d0 = 1.0f / z0;
    bool full = z0 > 0.0f && z0 < INFINITY;
    float sum = 0, square = 0, u1 = 0, v1 = 0, u2 = 0, v2 = 0, uv = 0;
    for (int j = 0; j < kCellPx; ++j) {
      const float y = static_cast<float>(j) - 3.5f;
      float row = 0, row_u = 0, row_u2 = 0;
      for (int i = 0; i < kCellPx; ++i) {
        const float z = s.points(first_u + i, first_v + j).z;
        full = full && z > 0.0f && z < INFINITY;
        const float d = 1.0f / z - d0;
        row += d;
        row_u += d * (static_cast<float>(i) - 3.5f);
        row_u2 += d * kSecond[i];
        square += d * d;
      }
      sum += row;
      u1 += row_u;
      v1 += row * y;
      u2 += row_u2;
      v2 += row * kSecond[j];
      uv += row_u * y;
    }
    if (!full) return {NAN, 0, 0, 0, 0};
    const float plane = square - sum * sum / kCellPixels - (u1 * u1 + v1 * v1) / kFirst_sq;
    const float rest = plane - (u2 * u2 + v2 * v2) / kSecond_sq - uv * uv / kBoth_sq;
    return {d0 + sum / kCellPixels, u1 / kFirst_sq, v1 / kFirst_sq, plane > 0 ? plane : 0.0f,
            rest > 0 ? rest : 0.0f};
  }
};

/// What a plane through a window leaves of its pixels, and of the means of its 3 × 3 blocks of
/// kBlockCells × kBlockCells cells. Of wide windows only the means of blocks are asked for.
template <int kBlockCells>
struct MeasureWindow {
  static constexpr int kSide = 3 * kBlockCells;
  static constexpr int kStep = kBlockCells;  ///< cells from one window to the next
  static constexpr bool kWide = kBlockCells > 2;
  static constexpr float kMiddle = (kSide - 1) / 2.0f;

  FrameNoiseState s;
  int columns;  ///< of windows

  static MeasureWindow of(const FrameNoiseState& s) {
    return {s, s.columns < kSide ? 0 : (s.columns - kSide) / kStep + 1};
  }
  std::int64_t windows() const {
    return s.rows < kSide ? 0 : std::int64_t{columns} * ((s.rows - kSide) / kStep + 1);
  }

  SEXTANT_HD void operator()(std::int64_t window) const {
    const int row = static_cast<int>(window / columns);
    const int column = static_cast<int>(window - std::int64_t{row} * columns);
    const NoiseCell* first = s.cells + std::int64_t{row} * kStep * s.columns + column * kStep;
    const float d0 = first->mean;
    float blocks[9] = {};
    float slope_u = 0, slope_v = 0;  // per cell
    float cells_sq = 0;
    for (int j = 0; j < kSide; ++j) {
      for (int i = 0; i < kSide; ++i) {
        const float d = first[std::int64_t{j} * s.columns + i].mean - d0;
        blocks[j / kBlockCells * 3 + i / kBlockCells] += d;
        slope_u += d * (static_cast<float>(i) - kMiddle);
        slope_v += d * (static_cast<float>(j) - kMiddle);
        cells_sq += (static_cast<float>(i) - kMiddle) * (static_cast<float>(i) - kMiddle);
      }
    }
    slope_u /= cells_sq;
    slope_v /= cells_sq;
    float mean = 0;
    for (float& block : blocks) {
      block /= kBlockCells * kBlockCells;
      mean += block / 9;
    }
    if (!(d0 + mean > 0.0f)) return;  // a cell is missing
    const float density = kCellPx * kBlockCells * deviation(blocks, mean, slope_u, slope_v);
    if constexpr (kWide) {
      add_to(s.counts->wide_blocks + noise_bin(density), 1);
    } else {
      const float z_m = 1.0f / (d0 + mean);
      const float pixel = std::sqrt(rest(first, d0 + mean, slope_u, slope_v));
      count_window(s.counts->blocks, z_m, density);
      count_window(s.counts->pixels, z_m, pixel);
      add_to(s.counts->all_blocks + noise_bin(density), 1);
      add_to(s.counts->all_pixels + noise_bin(pixel), 1);
    }
  }

  /// What the plane leaves of the means of blocks; not more than three times what a quadratic does,
  /// which is about as much where there is nothing but noise, and far less where the scene is bent.
  SEXTANT_HD static float deviation(const float (&blocks)[9], float mean, float slope_u,
                                    float slope_v) {
    constexpr float kBent_sq = 18, kTwisted_sq = 4;  // sums of squares of the terms below
    float plane = 0, bent_u = 0, bent_v = 0, twisted = 0;
    for (int k = 0; k < 9; ++k) {
      const float x = static_cast<float>(k % 3 - 1), y = static_cast<float>(k / 3 - 1);
      const float off = blocks[k] - mean - kBlockCells * (slope_u * x + slope_v * y);
      plane += off * off;
      bent_u += off * (3 * x * x - 2);
      bent_v += off * (3 * y * y - 2);
      twisted += off * x * y;
    }
    const float quadratic =
        plane - (bent_u * bent_u + bent_v * bent_v) / kBent_sq - twisted * twisted / kTwisted_sq;
    return std::sqrt(max_of(min_of(plane / 6, 9 * quadratic / 3), 0.0f));
  }

  /// Mean square of what the plane leaves of the pixels.
  SEXTANT_HD float rest(const NoiseCell* first, float mean, float slope_u, float slope_v) const {
    float sum = 0;
    for (int j = 0; j < kSide; ++j) {
      for (int i = 0; i < kSide; ++i) {
        const NoiseCell& cell = first[std::int64_t{j} * s.columns + i];
        const float off = cell.mean - mean - slope_u * (static_cast<float>(i) - kMiddle) -
                          slope_v * (static_cast<float>(j) - kMiddle);
        const float lean_u = cell.slope_u - slope_u / kCellPx;
        const float lean_v = cell.slope_v - slope_v / kCellPx;
        sum += cell.rest_sq + kCellPixels * off * off +
               kFirst_sq * (lean_u * lean_u + lean_v * lean_v);
      }
    }
    return sum / (kSide * kSide * kCellPixels);
  }
};
using MeasureNarrow = MeasureWindow<2>;  // 48 × 48 pixels
using MeasureWide = MeasureWindow<4>;

/// The quantiles of one depth; those of the frame last.
struct FindQuantiles {
  FrameNoiseState s;
  SEXTANT_HD void operator()(std::int64_t bin) const {
    constexpr float kFifth = 0.2f, kHalf = 0.5f;  // a fifth of any scene is flat
    constexpr int kLeastCells = 4, kLeastWindows = 12, kLeastAtDepth = 30;
    const std::int64_t at = bin * kNoiseBins;
    if (bin < kDepthBins) {
      s.quantiles->fine[bin] = quantile_level(s.counts->fine + at, kHalf, kLeastCells);
      s.quantiles->pixels[bin] = quantile_level(s.counts->pixels + at, kFifth, kLeastAtDepth);
      s.quantiles->blocks[bin] = quantile_level(s.counts->blocks + at, kFifth, kLeastAtDepth);
      return;
    }
    s.quantiles->pixels[bin] = quantile_level(s.counts->all_pixels, kFifth, kLeastWindows);
    s.quantiles->blocks[bin] = quantile_level(s.counts->all_blocks, kFifth, kLeastWindows);
    s.quantiles->wide_blocks = quantile_level(s.counts->wide_blocks, kFifth, kLeastWindows);
  }
};

/// The noise at one depth.
struct FinishLevels {
  FrameNoiseState s;
  GivenNoise given;

  /// Of the depth itself where enough windows lie there, else of the whole frame. A thing that is
  /// alone at its depth may be bent: no sensor errs four times as much there as elsewhere.
  SEXTANT_HD static float level(const float* quantiles, std::int64_t bin) {
    constexpr float kMostTimes = 4;
    const float own = quantiles[bin], all = quantiles[kDepthBins];
    return own < 0.0f ? all : min_of(own, kMostTimes * all);
  }

  SEXTANT_HD void operator()(std::int64_t bin) const {
    // A fifth of the windows on nothing but noise leave less than these shares of its deviation:
    // windows have some 16 independent errors, and the blocks 6 degrees of freedom.
    constexpr float kFifthOfPixels = 0.85f, kFifthOfBlocks = 0.72f;
    // Without windows, the errors within cells are taken times what is between the sensors' ratios;
    // no sensor that we have seen (stereo has the largest) errs more than the second.
    constexpr float kUsualSigma = 3, kMostSigma = 20, kUsualDensity = 20, kMostDensity = 200;
    constexpr float kMostGrowth = 3;
    const NoiseQuantiles& q = *s.quantiles;
    const float fine = nearest_level(q.fine, static_cast<int>(bin), 0.0f);
    float sigma = level(q.pixels, bin) / kFifthOfPixels;
    float density = level(q.blocks, bin) / kFifthOfBlocks;
    // Errors that reach farther than a block show in wider windows.
    if (q.wide_blocks > q.blocks[kDepthBins]) {
      density *= min_of(q.wide_blocks / q.blocks[kDepthBins], kMostGrowth);
    }
    if (sigma < 0.0f) sigma = kUsualSigma * fine;
    if (density < 0.0f) density = kUsualDensity * fine;
    const bool is_given = given.sigma_per_m > 0.0f;
    s.result->sigma_per_m[bin] = is_given ? given.sigma_per_m : min_of(sigma, kMostSigma * fine);
    s.result->density_per_m[bin] =
        is_given ? given.sigma_per_m * given.grain_px : min_of(density, kMostDensity * fine);
  }
};

}  // namespace sextant::detail::noise
