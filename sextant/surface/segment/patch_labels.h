// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/for_each/shared_sum.h"
#include "sextant/surface/segment/patch_pairs.h"
#include "sextant/surface/segment/union_find.h"

// From patches to pixels: patches that go on in each other become one group, and every pixel gets
// the group whose surface it lies on.

namespace sextant::detail::segment {

inline constexpr double kCellPixels = kCellPx * kCellPx;
inline constexpr double kLeastFlatCells = 12;
inline constexpr double kLeastStrongCells = 16;
inline constexpr double kLeastGroupCells = 2.7;

/// How far a model's normals turn from one end of its patch to the other, in rad.
SEXTANT_HD inline double turn_rad(const PatchSums& sums, const PatchModel& model,
                                  const PixelSize& pixel) {
  const double* t = model.terms;
  const double bend = std::abs(t[3] + t[5]) + std::hypot(t[3] - t[5], t[4]);
  const double per_slope = 1.0 / (sums.mean_d() * 0.5 * (double{pixel.x} + double{pixel.y}));
  const double slope = std::hypot(t[1], t[2]) * per_slope;
  return 2 * bend * half_length(sums) * per_slope / (1 + slope * slope);
}

/// The models that patches end with.
struct FinishPatch {
  PatchState s;
  const PixelSize* pixel;
  SEXTANT_HD void operator()(std::int64_t cell) const {
    s.group[cell] = static_cast<std::int32_t>(cell);
    s.group_pixels[cell] = 0;
    s.best[cell] = kNoEdge;
    if (s.root[cell] != cell) return;
    const PatchSums& sums = s.sums[cell];
    const double tolerance = inverse_tolerance(*s.noise, *pixel, sums.mean_d());
    const PatchModel plane = fitted<kPlaneTerms>(sums);
    PatchModel model = plane;
    bool flat = sums.count() >= kLeastFlatCells * kCellPixels;
    if (sums.count() >= kLeastBentPixels) {
      const PatchModel bent = fitted<kQuadraticTerms>(sums);
      // A plane leaves hardly more than a quadratic where there is nothing but noise and warp; and
      // what turns so little is a warped plane, however well it is measured.
      constexpr double kWorse = 1.3;
      constexpr double kWarp_sq = 0.5;
      constexpr double kMostTurn_rad = 0.12;
      if (bent.ok) {
        const double left = mean_square<kQuadraticTerms>(sums, bent);
        const double most = kWorse * left + kWarp_sq * tolerance * tolerance;
        flat = flat && (mean_square<kPlaneTerms>(sums, plane) <= most ||
                        turn_rad(sums, bent, *pixel) <= kMostTurn_rad);
        model = bent;
      }
    }
    Patch& patch = s.patches[cell];
    patch.x = static_cast<float>(sums.x);
    patch.y = static_cast<float>(sums.y);
    for (int t = 0; t < kQuadraticTerms; ++t) patch.terms[t] = static_cast<float>(model.terms[t]);
    patch.terms[0] = static_cast<float>(sums.d + model.terms[0]);
    patch.pixels = static_cast<float>(sums.count());
    patch.flat = flat;
    patch.strong = flat || sums.count() >= kLeastStrongCells * kCellPixels;
  }
};

/// The unit normal of a patch in a direction.
SEXTANT_HD inline Vec3f normal_at(const Patch& patch, const PixelSize& pixel, float x, float y) {
  const float* t = patch.terms;
  const float dx = x - patch.x, dy = y - patch.y;
  // The tangent plane is d = a X/z + b Y/z + c, whose normal is (a, b, c).
  const float a = (t[1] + 2 * t[3] * dx + t[4] * dy) / pixel.x;
  const float b = (t[2] + t[4] * dx + 2 * t[5] * dy) / pixel.y;
  const float c = patch.inverse_at(x, y) - a * x * pixel.x - b * y * pixel.y;
  return normalized(Vec3f{a, b, c});
}

inline constexpr std::uint64_t kNoPatches = ~std::uint64_t{0};

/// Whether two patches that are not flat go on in each other between two cells.
struct TestEdge {
  PixelSurface surface;
  PatchState s;
  const PixelSize* pixel;
  float crease_rad;
  SEXTANT_HD void operator()(std::int64_t edge) const {
    s.pair[edge] = kNoPatches;
    s.is_smooth[edge] = 0;
    const std::int64_t i = edge / 2;
    const std::int32_t j = across_edge(s, edge);
    const std::int32_t a = s.root[i];
    const std::int32_t b = j >= 0 ? s.root[j] : -1;
    if (a < 0 || b < 0 || a == b || s.patches[a].flat || s.patches[b].flat) return;
    s.pair[edge] =
        static_cast<std::uint64_t>(min_of(a, b)) << 32 | static_cast<std::uint32_t>(max_of(a, b));
    const auto middle = [&](int k) {
      return static_cast<float>(0.5 * (s.centre[2 * i + k] + s.centre[2 * j + k]));
    };
    const float x = middle(0), y = middle(1);
    const Vec3f of_a = normal_at(s.patches[a], *pixel, x, y);
    const Vec3f of_b = normal_at(s.patches[b], *pixel, x, y);
    // The limit is a curvature: on a slant the way from cell to cell is longer and may turn more.
    const Vec3f ray = normalized(Vec3f{x * pixel->x, y * pixel->y, 1.0f});
    constexpr float kMostStretch = 3.0f;
    const float slant = 0.5f * std::abs(dot(of_a + of_b, ray));
    const float stretch = min_of(1.0f / slant, kMostStretch);
    const float step = s.patches[a].inverse_at(x, y) - s.patches[b].inverse_at(x, y);
    constexpr float kMostStep = 2.5f;
    const float tolerance = max_of(s.tolerance[i], s.tolerance[j]);
    const bool is_step = !(std::abs(step) <= stretch * kMostStep * tolerance);
    const bool goes_on = !is_step && norm(of_a - of_b) <= stretch * crease_rad;
    s.is_smooth[edge] = goes_on || surface.is_smooth_border(edge / 2, edge % 2 == 1, s.columns);
  }
};

/// Joins patches that go on in each other along most of what they have in common; in the order of
/// pairs. A patch of a few cells may be the blend of two bodies in the hollow where one stands on
/// the other, and seem to go on in both: it only notes the partner with whom it has the most in
/// common.
struct JoinPair {
  PatchState s;
  std::int64_t count;  ///< of edges in `pair`
  SEXTANT_HD void operator()(std::int64_t place) const {
    const std::uint64_t pair = s.pair[place];
    if (pair == kNoPatches || (place > 0 && s.pair[place - 1] == pair)) return;
    std::int64_t smooth = 0, edges = 0;
    for (std::int64_t k = place; k < count && s.pair[k] == pair; ++k) {
      smooth += s.is_smooth[k];
      ++edges;
    }
    if (smooth < 2 || 10 * smooth < 7 * edges) return;
    const std::int32_t a = static_cast<std::int32_t>(pair >> 32);
    const std::int32_t b = static_cast<std::int32_t>(pair & 0xffffffffu);
    const bool small_a = is_small(a), small_b = is_small(b);
    if (!small_a && !small_b) join(s.group, a, b);
    if (small_a) note(a, b, smooth);
    if (small_b) note(b, a, smooth);
  }

 private:
  static constexpr double kLeastLinkingCells = 4;
  SEXTANT_HD bool is_small(std::int32_t root) const {
    return s.patches[root].pixels < kLeastLinkingCells * kCellPixels;
  }
  /// The most edges first, of equal ones the lower root.
  SEXTANT_HD void note(std::int32_t small, std::int32_t partner, std::int64_t smooth) const {
    keep_least(s.best + small, static_cast<std::uint64_t>(INT32_MAX - smooth) << 32 |
                                   static_cast<std::uint32_t>(partner));
  }
};

/// A small patch joins the one partner that it noted.
struct JoinSmall {
  PatchState s;
  SEXTANT_HD void operator()(std::int64_t cell) const {
    if (s.root[cell] != cell || s.best[cell] == kNoEdge) return;
    join(s.group, static_cast<std::int32_t>(cell),
         static_cast<std::int32_t>(s.best[cell] & 0xffffffffu));
  }
};

/// Groups count their pixels.
struct CountGroup {
  PatchState s;
  SEXTANT_HD void operator()(std::int64_t cell) const {
    const std::int32_t root = s.root[cell];
    if (root != cell) return;
    add_to(s.group_pixels + root_of(s.group, root),
           static_cast<std::int32_t>(s.patches[root].pixels));
  }
};

/// Every cell's group, or -1 for those too small to trust. Takes the place of `target`.
struct NameGroup {
  PatchState s;
  SEXTANT_HD void operator()(std::int64_t cell) const {
    const std::int32_t root = s.root[cell];
    const std::int32_t group = root >= 0 ? root_of(s.group, root) : -1;
    const bool counts = group >= 0 && s.group_pixels[group] >= kLeastGroupCells * kCellPixels;
    s.target[cell] = counts ? group : -1;
  }
};

/// The groups of a cell's pixels, or -1: that of the patch which the cell belongs to; near a
/// crease, of the strong patch around whose surface a pixel is nearest to.
struct LabelCell {
  PixelSurface surface;
  PatchState s;
  std::int32_t* label;

  /// What lies on a patch, may well, and may just, in tolerances.
  static constexpr float kOn = 2.0f, kNear = 2.5f, kMost = 3.5f;

  /// What the pixels of one cell share.
  struct Cell {
    int row, column;
    float tolerance;
    std::int32_t own_group, own;  ///< its patch, or -1
    Patch patch;
    bool is_strong, is_inside;
  };
  SEXTANT_HD Cell cell_at(int row, int column) const {
    const std::int64_t index = std::int64_t{row} * s.columns + column;
    Cell cell{};
    cell.row = row;
    cell.column = column;
    cell.tolerance = s.tolerance[index];
    cell.own_group = s.target[index];
    cell.own = cell.own_group >= 0 ? s.root[index] : -1;
    if (cell.own >= 0) cell.patch = s.patches[cell.own];
    cell.is_strong = cell.own >= 0 && cell.patch.strong;
    cell.is_inside = cell.own >= 0 && has_no_other(row, column, cell.own);
    return cell;
  }

  /// The label of a point of the cell that lies `off` from the cell's patch. `each_around(f)` calls
  /// f(root, group) for the patches around.
  template <class EachAround>
  SEXTANT_HD std::int32_t label_of(const Cell& cell, float x, float y, float d, float off,
                                   const EachAround& each_around) const {
    const float of_own = cell.own >= 0 ? off : INFINITY;
    if ((cell.is_strong && of_own <= kOn * cell.tolerance) || cell.is_inside) {
      return of_own <= kMost * cell.tolerance ? cell.own_group : -1;
    }
    const std::int32_t other = nearest<true>(x, y, d, kNear * cell.tolerance, each_around);
    if (other >= 0) return other;
    if (of_own <= kOn * cell.tolerance) return cell.own_group;
    return nearest<false>(x, y, d, kMost * cell.tolerance, each_around);
  }

  /// Calls f(root, group) for the 3 × 3 cells around one that have a group.
  template <class Function>
  SEXTANT_HD void each_around(int row, int column, Function&& f) const {
    for (int k = 0; k < 9; ++k) {
      const int v = row + k / 3 - 1, u = column + k % 3 - 1;
      if (v < 0 || u < 0 || v >= s.rows || u >= s.columns) continue;
      const std::int64_t other = std::int64_t{v} * s.columns + u;
      if (s.target[other] >= 0) f(s.root[other], s.target[other]);
    }
  }

  SEXTANT_HD void operator()(std::int64_t index) const {
    const int row = static_cast<int>(index / s.columns);
    const int column = static_cast<int>(index - std::int64_t{row} * s.columns);
    const int u_end = min_of(kCellPx, surface.width - column * kCellPx);
    const int v_end = min_of((row + 1) * kCellPx, surface.height);
    const float per_x = 1.0f / surface.pixel->x, per_y = 1.0f / surface.pixel->y;
    const Cell cell = cell_at(row, column);
    const Around around(*this, row, column);
    const auto each = [&](auto&& f) {
      for (int k = 0; k < around.count; ++k) f(around.root[k], around.group[k]);
    };
    const float most = kMost * cell.tolerance;
    for (int v = row * kCellPx; v < v_end; ++v) {
      std::int32_t* to = label + std::int64_t{v} * surface.width + column * kCellPx;
      if (around.count == 0) {
        for (int k = 0; k < u_end; ++k) to[k] = -1;
        continue;
      }
      const CellRow<kCellPx> at(surface, column * kCellPx, v, per_x, per_y);
      float off[kCellPx];
      for (int k = 0; k < kCellPx; ++k) {
        off[k] = std::abs(at.d[k] - cell.patch.inverse_at(at.x[k], at.y[k]));
      }
      if (cell.is_inside && u_end == kCellPx) {  // without a branch for each pixel
        for (int k = 0; k < kCellPx; ++k) {
          const bool is_on = (at.seen[k] != 0) & (off[k] <= most);
          to[k] = is_on ? cell.own_group : -1;
        }
        continue;
      }
      for (int k = 0; k < u_end; ++k) {
        to[k] = at.seen[k] != 0 ? label_of(cell, at.x[k], at.y[k], at.d[k], off[k], each) : -1;
      }
    }
  }

 private:
  /// The patches around a cell, each once.
  struct Around {
    std::int32_t root[9], group[9];
    int count = 0;

    SEXTANT_HD Around(const LabelCell& cells, int row, int column) {
      cells.each_around(row, column, [&](std::int32_t of_cell, std::int32_t its_group) {
        for (int k = 0; k < count; ++k) {
          if (root[k] == of_cell) return;
        }
        root[count] = of_cell;
        group[count++] = its_group;
      });
    }
  };

  SEXTANT_HD bool has_no_other(int row, int column, std::int32_t root) const {
    bool none = true;
    each_around(row, column,
                [&](std::int32_t other, std::int32_t) { none = none && other == root; });
    return none;
  }
  /// The group of the patch that a point is nearest to, of equally near ones the first.
  template <bool kOnlyStrong, class EachAround>
  SEXTANT_HD std::int32_t nearest(float x, float y, float d, float most,
                                  const EachAround& each_around) const {
    std::int32_t found = -1;
    each_around([&](std::int32_t root, std::int32_t group) {
      const Patch& patch = s.patches[root];
      if (kOnlyStrong && !patch.strong) return;
      const float off = std::abs(d - patch.inverse_at(x, y));
      if (!(off < most)) return;
      most = off;
      found = group;
    });
    return found;
  }
};

/// The same for one pixel.
struct LabelPixel {
  LabelCell cells;
  SEXTANT_HD void operator()(std::int64_t i) const {
    const PixelSurface& surface = cells.surface;
    const int v = static_cast<int>(i / surface.width);
    const int u = static_cast<int>(i - std::int64_t{v} * surface.width);
    const CellRow<1> at(surface, u, v, 1.0f / surface.pixel->x, 1.0f / surface.pixel->y);
    if (at.seen[0] == 0) {
      cells.label[i] = -1;
      return;
    }
    const LabelCell::Cell cell = cells.cell_at(v / kCellPx, u / kCellPx);
    const float off = std::abs(at.d[0] - cell.patch.inverse_at(at.x[0], at.y[0]));
    const auto each = [&](auto&& f) { cells.each_around(cell.row, cell.column, f); };
    cells.label[i] = cells.label_of(cell, at.x[0], at.y[0], at.d[0], off, each);
  }
};

}  // namespace sextant::detail::segment
