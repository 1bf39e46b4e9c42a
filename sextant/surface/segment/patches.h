// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/surface/segment/math.h"
#include "sextant/surface/segment/patch_math.h"
#include "sextant/surface/segment/union_find.h"

// Smooth patches of an image, found at a scale at which the noise of a real sensor averages out:
// cells of 8 × 8 pixels are fitted and joined. Here is what is known of them, and the sums of
// cells.

namespace sextant::detail::segment {

inline constexpr int kLeastCellPixels = 20;  // fewer say too little of the slant

/// A finished patch.
struct Patch {
  float x, y;  ///< what the model's directions are relative to
  float terms[kQuadraticTerms];
  float pixels;
  bool flat;    ///< large, and hardly better as a quadratic
  bool strong;  ///< flat or large: not what a crease between two others looks like

  /// The inverse depth of the patch in a direction.
  SEXTANT_HD float inverse_at(float at_x, float at_y) const {
    const float dx = at_x - x, dy = at_y - y;
    return terms[0] + dx * (terms[1] + terms[3] * dx + terms[4] * dy) +
           dy * (terms[2] + terms[5] * dy);
  }
};

struct PatchState {
  int columns = 0, rows = 0;
  std::int32_t cells = 0;
  double* centre = nullptr;         ///< 2 × cells; mean direction of a cell's points
  float* tolerance = nullptr;       ///< cells; of inverse depth
  std::int32_t* root = nullptr;     ///< cells; the cell that a cell's patch is named after, or -1
  std::int32_t* changed = nullptr;  ///< cells; the round in which a root's patch last grew
  std::uint64_t* best = nullptr;    ///< cells; cost and edge of a root's best pair
  float* cost = nullptr;            ///< 2 × cells; of the edges to the right and below
  std::int32_t* target = nullptr;   ///< cells; the root that a root joins, or -1
  std::int32_t* joining = nullptr;  ///< cells; CUDA: roots that join another, in their order
  std::int32_t* joined = nullptr;   ///< cells; CUDA: roots that others join
  std::int32_t* joins_of_round = nullptr;  ///< 1; CUDA: how many joined in the round before
  double* unit = nullptr;         ///< cells; of roots: the squared tolerance of inverse depth
  PatchSums* sums = nullptr;      ///< cells; of roots
  double* own = nullptr;          ///< cells; mean square that a root's own model leaves
  Patch* patches = nullptr;       ///< cells; of roots, at the end
  std::int32_t* group = nullptr;  ///< cells; the forest of patches that go on in each other
  std::int32_t* group_pixels = nullptr;  ///< cells; of the roots of groups
  std::uint64_t* pair = nullptr;         ///< 2 × cells; the two patches of an edge
  std::uint32_t* is_smooth = nullptr;    ///< 2 × cells; whether they go on in each other there
  std::int32_t* histogram = nullptr;     ///< kDepthBins × kNoiseBins
  float* found_level = nullptr;          ///< kDepthBins; noise by its own windows, or -1
  float* steady_level = nullptr;         ///< kDepthBins; no more than the depths beside allow
  NoiseLevels* noise = nullptr;          ///< 1
};

/// Some pixels of one row of a cell: directions in pixels and inverse depths, zero where there is
/// no point. The CPU takes eight at a time, so that a compiler makes vectors of them; a thread of
/// CUDA takes one.
template <int kPixels>
struct CellRow {
  float x[kPixels], y[kPixels], d[kPixels];
  float seen[kPixels];  ///< 1, or 0

  SEXTANT_HD CellRow(const PixelSurface& surface, int first_u, int v, float per_x, float per_y) {
    const Vec3f* row = surface.points + std::int64_t{v} * surface.width + first_u;
    const int inside = surface.width - first_u;
    if (inside >= kPixels) {
      load(row, per_x, per_y);
      return;
    }
    Vec3f padded[kPixels];
    for (int k = 0; k < kPixels; ++k) padded[k] = k < inside ? row[k] : Vec3f{};
    load(padded, per_x, per_y);
  }

 private:
  /// Coordinates apart and without branches, so that a compiler makes vectors of it.
  SEXTANT_HD void load(const Vec3f* points, float per_x, float per_y) {
    float p[3][kPixels];
    for (int k = 0; k < kPixels; ++k) {
      p[0][k] = points[k].x;
      p[1][k] = points[k].y;
      p[2][k] = points[k].z;
    }
    for (int k = 0; k < kPixels; ++k) {
      // x - x is zero for finite numbers. The same as is_seen.
      const float finite = (p[0][k] - p[0][k]) + (p[1][k] - p[1][k]) + (p[2][k] - p[2][k]);
      const bool is_point = (finite == 0.0f) & (p[2][k] > 0.0f);
      const float inverse = 1.0f / p[2][k];
      const float along_x = p[0][k] * inverse * per_x, along_y = p[1][k] * inverse * per_y;
      d[k] = is_point ? inverse : 0.0f;
      x[k] = is_point ? along_x : 0.0f;
      y[k] = is_point ? along_y : 0.0f;
      seen[k] = is_point ? 1.0f : 0.0f;
    }
  }
};

inline constexpr int kSumsOfCell = 22;

/// The sums of some columns of a cell, each for itself, about one of its points.
template <int kColumns>
struct ColumnSums {
  float origin_x = 0, origin_y = 0, origin_d = 0;
  float sums[kSumsOfCell][kColumns] = {};

  SEXTANT_HD void add(const CellRow<kColumns>& at) {
    float x[kColumns], y[kColumns], d[kColumns], xx[kColumns], xy[kColumns], yy[kColumns];
    for (int k = 0; k < kColumns; ++k) {
      x[k] = at.seen[k] * (at.x[k] - origin_x);
      y[k] = at.seen[k] * (at.y[k] - origin_y);
      d[k] = at.seen[k] * (at.d[k] - origin_d);
      xx[k] = x[k] * x[k];
      xy[k] = x[k] * y[k];
      yy[k] = y[k] * y[k];
    }
    for (int k = 0; k < kColumns; ++k) {
      sums[0][k] += at.seen[k];
      sums[1][k] += x[k];
      sums[2][k] += y[k];
      sums[3][k] += xx[k];
      sums[4][k] += xy[k];
      sums[5][k] += yy[k];
      sums[6][k] += xx[k] * x[k];
      sums[7][k] += xx[k] * y[k];
      sums[8][k] += x[k] * yy[k];
      sums[9][k] += yy[k] * y[k];
    }
    for (int k = 0; k < kColumns; ++k) {
      sums[10][k] += xx[k] * xx[k];
      sums[11][k] += xx[k] * xy[k];
      sums[12][k] += xx[k] * yy[k];
      sums[13][k] += xy[k] * yy[k];
      sums[14][k] += yy[k] * yy[k];
      sums[15][k] += d[k];
      sums[16][k] += d[k] * x[k];
      sums[17][k] += d[k] * y[k];
      sums[18][k] += d[k] * xx[k];
      sums[19][k] += d[k] * xy[k];
      sums[20][k] += d[k] * yy[k];
      sums[21][k] += d[k] * d[k];
    }
  }
};

/// The sums of every cell with enough points, about one of them.
struct SumCell {
  PixelSurface surface;
  PatchState s;

  SEXTANT_HD void operator()(std::int64_t cell) const {
    const int row = static_cast<int>(cell / s.columns);
    const int column = static_cast<int>(cell - std::int64_t{row} * s.columns);
    const int v_end = min_of((row + 1) * kCellPx, surface.height);
    const float per_x = 1.0f / surface.pixel->x, per_y = 1.0f / surface.pixel->y;
    ColumnSums<kCellPx> columns;
    for (int v = row * kCellPx; v < v_end; ++v) {
      const CellRow<kCellPx> at(surface, column * kCellPx, v, per_x, per_y);
      for (int k = 0; k < kCellPx && columns.origin_d == 0; ++k) {
        if (at.seen[k] == 0) continue;
        columns.origin_x = at.x[k];
        columns.origin_y = at.y[k];
        columns.origin_d = at.d[k];
      }
      columns.add(at);
    }
    double totals[kSumsOfCell] = {};
    for (int k = 0; k < kCellPx; ++k) {
      for (int t = 0; t < kSumsOfCell; ++t) totals[t] += double{columns.sums[t][k]};
    }
    finish(cell, totals, columns.origin_x, columns.origin_y, columns.origin_d);
  }

  /// What follows from the sums of all columns of a cell.
  SEXTANT_HD void finish(std::int64_t cell, const double* totals, float origin_x, float origin_y,
                         float origin_d) const {
    PatchSums total;
    total.x = double{origin_x};
    total.y = double{origin_y};
    total.d = double{origin_d};
    for (int t = 0; t < 15; ++t) total.powers[t] = totals[t];
    for (int t = 0; t < kQuadraticTerms; ++t) total.inverse[t] = totals[15 + t];
    total.inverse_sq = totals[21];
    const bool enough = total.count() >= kLeastCellPixels;
    s.sums[cell] = total.count() > 0 ? centred(total) : total;
    s.centre[2 * cell] = s.sums[cell].x;
    s.centre[2 * cell + 1] = s.sums[cell].y;
    s.root[cell] = enough ? static_cast<std::int32_t>(cell) : -1;
    s.changed[cell] = 0;
  }
};

}  // namespace sextant::detail::segment
