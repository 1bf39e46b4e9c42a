// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/surface/segment/patches.h"
#include "sextant/surface/segment/union_find.h"

// From patches to pixels: patches that go on in each other become one group, and every pixel gets
// the group whose surface it lies on.

namespace sextant::detail::segment {

inline constexpr double kCellPixels = kCellPx * kCellPx;
inline constexpr double kLeastFlatCells = 12;
inline constexpr double kLeastStrongCells = 16;
inline constexpr double kLeastGroupCells = 2.7;

/// The models that patches end with.
struct FinishPatch {
  PatchState s;
  const PixelSize* pixel;
  SEXTANT_HD void operator()(std::int64_t cell) const {
    s.group[cell] = static_cast<std::int32_t>(cell);
    s.group_pixels[cell] = 0;
    if (s.root[cell] != cell) return;
    const PatchSums& sums = s.sums[cell];
    const double tolerance = inverse_tolerance(*s.noise, *pixel, sums.mean_d());
    const PatchModel plane = fitted<kPlaneTerms>(sums);
    Patch patch{sums.x, sums.y, sums.d, plane, sums.count(), false, false};
    patch.flat = patch.pixels >= kLeastFlatCells * kCellPixels;
    if (patch.pixels >= kLeastBentPixels) {
      const PatchModel bent = fitted<kQuadraticTerms>(sums);
      // A plane leaves hardly more than a quadratic where there is nothing but noise and warp.
      constexpr double kWorse = 1.3;
      constexpr double kWarp_sq = 0.5;
      if (bent.ok) {
        const double left = mean_square<kQuadraticTerms>(sums, bent);
        const double most = kWorse * left + kWarp_sq * tolerance * tolerance;
        patch.flat = patch.flat && mean_square<kPlaneTerms>(sums, plane) <= most;
        patch.model = bent;
      }
    }
    patch.strong = patch.flat || patch.pixels >= kLeastStrongCells * kCellPixels;
    s.patches[cell] = patch;
  }
};

/// The unit normal of a patch in a direction.
SEXTANT_HD inline Vec3d normal_at(const Patch& patch, const PixelSize& pixel, double x, double y) {
  const double* t = patch.model.terms;
  const double dx = x - patch.x, dy = y - patch.y;
  // The tangent plane is d = a X/z + b Y/z + c, whose normal is (a, b, c).
  const double a = (t[1] + 2 * t[3] * dx + t[4] * dy) / double{pixel.x};
  const double b = (t[2] + t[4] * dx + 2 * t[5] * dy) / double{pixel.y};
  const double c = patch.inverse_at(x, y) - a * x * double{pixel.x} - b * y * double{pixel.y};
  return normalized(Vec3d{a, b, c});
}

inline constexpr std::uint64_t kNoPatches = ~std::uint64_t{0};

/// Whether two patches that are not flat go on in each other between two cells.
struct TestEdge {
  PixelSurface surface;
  PatchState s;
  const PixelSize* pixel;
  double crease_rad;
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
    const double x = 0.5 * (s.centre[2 * i] + s.centre[2 * j]);
    const double y = 0.5 * (s.centre[2 * i + 1] + s.centre[2 * j + 1]);
    const double da = s.patches[a].inverse_at(x, y);
    const double db = s.patches[b].inverse_at(x, y);
    const Vec3d of_a = normal_at(s.patches[a], *pixel, x, y);
    const Vec3d of_b = normal_at(s.patches[b], *pixel, x, y);
    // The limit is a curvature: on a slant the way from cell to cell is longer and may turn more.
    const Vec3d ray = normalized(Vec3d{x * double{pixel->x}, y * double{pixel->y}, 1.0});
    constexpr double kMostStretch = 3.0;
    const double slant = 0.5 * std::abs(dot(of_a + of_b, ray));
    const double stretch = min_of(1.0 / slant, kMostStretch);
    const double tolerance = inverse_tolerance(*s.noise, *pixel, 0.5 * (da + db));
    constexpr double kMostStep = 2.5;
    const bool is_step = !(std::abs(da - db) <= stretch * kMostStep * tolerance);
    const bool goes_on = !is_step && norm(of_a - of_b) <= stretch * crease_rad;
    s.is_smooth[edge] = goes_on || surface.is_smooth_border(edge / 2, edge % 2 == 1, s.columns);
  }
};

/// Joins patches that go on in each other along most of what they have in common; in the order of
/// pairs.
struct JoinPair {
  PatchState s;
  SEXTANT_HD void operator()(std::int64_t place) const {
    const std::uint64_t pair = s.pair[place];
    if (pair == kNoPatches || (place > 0 && s.pair[place - 1] == pair)) return;
    std::int64_t smooth = 0, edges = 0;
    for (std::int64_t k = place; k < 2 * s.cells && s.pair[k] == pair; ++k) {
      smooth += s.is_smooth[k];
      ++edges;
    }
    if (smooth < 2 || 10 * smooth < 7 * edges) return;
    join(s.group, static_cast<std::int32_t>(pair >> 32),
         static_cast<std::int32_t>(pair & 0xffffffffu));
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

/// The group of a pixel, or -1: that of the patch which its own cell belongs to; near a crease, of
/// the strong patch around whose surface it is nearest to.
struct LabelPixel {
  PixelSurface surface;
  PatchState s;
  std::int32_t* label;

  SEXTANT_HD void operator()(std::int64_t i) const {
    label[i] = -1;
    const Vec3f p = surface.points[i];
    if (!is_seen(p)) return;
    const int v = static_cast<int>(i / surface.width);
    const int u = static_cast<int>(i - std::int64_t{v} * surface.width);
    const int row = v / kCellPx, column = u / kCellPx;
    const Sighting at = sighting_of(p, *surface.pixel);
    const double tolerance = inverse_tolerance(*s.noise, *surface.pixel, at.d);
    const auto offset = [&](std::int32_t root) {
      return std::abs(at.d - s.patches[root].inverse_at(at.x, at.y)) / tolerance;
    };
    constexpr double kOn = 2.0, kNear = 2.5, kMost = 3.5;
    const std::int64_t cell = std::int64_t{row} * s.columns + column;
    const std::int32_t own = s.target[cell] >= 0 ? s.root[cell] : -1;
    const double of_own = own >= 0 ? offset(own) : INFINITY;
    if (own >= 0 && s.patches[own].strong && of_own <= kOn) {
      label[i] = s.target[cell];
      return;
    }
    std::int32_t strong = -1, any = -1;  // groups
    double of_strong = kNear, of_any = kMost;
    std::int32_t before = -1;
    for (int k = 0; k < 9; ++k) {
      const int near_row = row + k / 3 - 1, near_column = column + k % 3 - 1;
      if (near_row < 0 || near_column < 0 || near_row >= s.rows || near_column >= s.columns) {
        continue;
      }
      const std::int64_t other = std::int64_t{near_row} * s.columns + near_column;
      const std::int32_t root = s.root[other];
      if (s.target[other] < 0 || root == before) continue;
      before = root;
      const double off = offset(root);
      if (s.patches[root].strong && off < of_strong) {
        of_strong = off;
        strong = s.target[other];
      }
      if (off < of_any) {
        of_any = off;
        any = s.target[other];
      }
    }
    label[i] = strong >= 0 ? strong : of_own <= kOn ? s.target[cell] : any;
  }
};

}  // namespace sextant::detail::segment
