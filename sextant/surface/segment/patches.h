// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/surface/segment/math.h"
#include "sextant/surface/segment/patch_math.h"
#include "sextant/surface/segment/union_find.h"

// Smooth patches of an image, found at a scale at which the noise of a real sensor averages out:
// cells of 8 × 8 pixels are fitted and joined, the best pairs first, as long as one plane, later
// one quadratic, fits both sides. Each step is a function of one cell or one pair of cells, for
// either device.

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
  std::int32_t* joined = nullptr;   ///< cells; CUDA: what these join
  PatchSums* sums = nullptr;        ///< cells; of roots
  double* own = nullptr;            ///< cells; mean square that a root's own model leaves
  Patch* patches = nullptr;         ///< cells; of roots, at the end
  std::int32_t* group = nullptr;    ///< cells; the forest of patches that go on in each other
  std::int32_t* group_pixels = nullptr;  ///< cells; of the roots of groups
  std::uint64_t* pair = nullptr;         ///< 2 × cells; the two patches of an edge
  std::uint32_t* is_smooth = nullptr;    ///< 2 × cells; whether they go on in each other there
  std::int32_t* histogram = nullptr;     ///< kDepthBins × kNoiseBins
  NoiseLevels* noise = nullptr;          ///< 1
};

/// One row of a cell: directions in pixels and inverse depths, zero where there is no point. Eight
/// at a time, so that a compiler makes vectors of them.
struct CellRow {
  float x[kCellPx], y[kCellPx], d[kCellPx];
  float seen[kCellPx];  ///< 1, or 0

  SEXTANT_HD CellRow(const PixelSurface& surface, int first_u, int v, float per_x, float per_y) {
    const Vec3f* row = surface.points + std::int64_t{v} * surface.width;
    for (int k = 0; k < kCellPx; ++k) {
      const bool inside = first_u + k < surface.width;
      const Vec3f p = inside ? row[first_u + k] : Vec3f{};
      const bool is_point = is_seen(p);
      d[k] = is_point ? 1.0f / p.z : 0.0f;
      x[k] = is_point ? p.x * d[k] * per_x : 0.0f;
      y[k] = is_point ? p.y * d[k] * per_y : 0.0f;
      seen[k] = is_point ? 1.0f : 0.0f;
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
    float origin_x = 0, origin_y = 0, origin_d = 0;
    float sums[kSumsOfCell][kCellPx] = {};
    for (int v = row * kCellPx; v < v_end; ++v) {
      const CellRow at(surface, column * kCellPx, v, per_x, per_y);
      for (int k = 0; k < kCellPx && origin_d == 0; ++k) {
        if (at.seen[k] == 0) continue;
        origin_x = at.x[k];
        origin_y = at.y[k];
        origin_d = at.d[k];
      }
      float x[kCellPx], y[kCellPx], d[kCellPx], xx[kCellPx], xy[kCellPx], yy[kCellPx];
      for (int k = 0; k < kCellPx; ++k) {
        x[k] = at.seen[k] * (at.x[k] - origin_x);
        y[k] = at.seen[k] * (at.y[k] - origin_y);
        d[k] = at.seen[k] * (at.d[k] - origin_d);
        xx[k] = x[k] * x[k];
        xy[k] = x[k] * y[k];
        yy[k] = y[k] * y[k];
      }
      for (int k = 0; k < kCellPx; ++k) {
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
      for (int k = 0; k < kCellPx; ++k) {
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
    PatchSums total;
    total.x = double{origin_x};
    total.y = double{origin_y};
    total.d = double{origin_d};
    for (int k = 0; k < kCellPx; ++k) {
      for (int t = 0; t < 15; ++t) total.powers[t] += double{sums[t][k]};
      for (int t = 0; t < kQuadraticTerms; ++t) total.inverse[t] += double{sums[15 + t][k]};
      total.inverse_sq += double{sums[21][k]};
    }
    const bool enough = total.count() >= kLeastCellPixels;
    s.sums[cell] = total.count() > 0 ? centred(total) : total;
    s.centre[2 * cell] = s.sums[cell].x;
    s.centre[2 * cell + 1] = s.sums[cell].y;
    s.root[cell] = enough ? static_cast<std::int32_t>(cell) : -1;
    s.changed[cell] = 0;
  }

 private:
  static constexpr int kSumsOfCell = 22;
};

struct ClearHistogram {
  PatchState s;
  SEXTANT_HD void operator()(std::int64_t i) const { s.histogram[i] = 0; }
};

/// What planes through 3 × 3 cells leave: where the scene is flat, the sensor's noise, at a scale
/// beyond the few pixels over which neighbours err together. Every other window is enough.
struct CountResidual {
  PatchState s;
  SEXTANT_HD void operator()(std::int64_t cell) const {
    const int row = static_cast<int>(cell / s.columns);
    const int column = static_cast<int>(cell - std::int64_t{row} * s.columns);
    if (row % 2 == 0 || column % 2 == 0 || row + 1 >= s.rows || column + 1 >= s.columns) return;
    if (s.root[cell] < 0) return;
    PatchSums sums = s.sums[cell];
    for (int k = 0; k < 9; ++k) {
      const std::int64_t other = cell + (k / 3 - 1) * s.columns + (k % 3 - 1);
      if (s.root[other] < 0) return;
      if (other == cell) continue;
      add_sums<kPlaneTerms>(sums, shifted<kPlaneTerms>(s.sums[other], sums.x, sums.y, sums.d));
    }
    const PatchModel plane = fitted<kPlaneTerms>(sums);
    if (!plane.ok) return;
    const double rms = std::sqrt(mean_square<kPlaneTerms>(sums, plane));
    const float z_m = static_cast<float>(1.0 / sums.mean_d());
    add_to(s.histogram + depth_bin(z_m) * kNoiseBins + noise_bin(static_cast<float>(rms)), 1);
  }
};

/// The noise at each depth: what a fifth of the windows there stay below. Depths with few windows
/// take the nearest depth that has enough; a frame without any is taken to be exact.
struct FindNoise {
  PatchState s;
  float given_inverse_m;  ///< instead of all that, when positive
  SEXTANT_HD float level_at(int bin) const {
    constexpr int kLeastWindows = 12;
    const std::int32_t* counts = s.histogram + bin * kNoiseBins;
    std::int64_t windows = 0;
    for (int k = 0; k < kNoiseBins; ++k) windows += counts[k];
    if (windows < kLeastWindows) return -1.0f;
    std::int64_t below = 0;
    int k = 0;
    for (; k < kNoiseBins && 5 * below < windows; ++k) below += counts[k];
    return noise_of_bin(k - 1);
  }
  SEXTANT_HD void operator()(std::int64_t) const {
    for (int z = 0; z < kDepthBins; ++z) s.noise->inverse_m[z] = level_at(z);
    float filled[kDepthBins];
    for (int z = 0; z < kDepthBins; ++z) {
      filled[z] = 0.0f;
      for (int away = kDepthBins - 1; away >= 0; --away) {  // the nearest is written last
        if (z + away < kDepthBins && s.noise->inverse_m[z + away] >= 0) {
          filled[z] = s.noise->inverse_m[z + away];
        }
        if (z - away >= 0 && s.noise->inverse_m[z - away] >= 0) {
          filled[z] = s.noise->inverse_m[z - away];
        }
      }
    }
    for (int z = 0; z < kDepthBins; ++z) {
      s.noise->inverse_m[z] = given_inverse_m > 0 ? given_inverse_m : filled[z];
    }
  }
};

/// The deviation of inverse depth that counts as none: noise, and a part of a pixel.
SEXTANT_HD inline double inverse_tolerance(const NoiseLevels& noise, const PixelSize& pixel,
                                           double d) {
  constexpr double kPixelShare = 0.15;
  const double sensor = double{noise.at(static_cast<float>(1.0 / d))};
  const double part = kPixelShare * 0.5 * (double{pixel.x} + double{pixel.y}) * d;
  return std::sqrt(sensor * sensor + part * part);
}

/// What a model may leave, in squared tolerances.
inline constexpr double kMostLeft_sq = kMostDeviation * kMostDeviation;

inline constexpr float kNoPair = INFINITY;
inline constexpr std::uint64_t kNoEdge = ~std::uint64_t{0};

/// Cells that are no piece of one plane, nor of a quadratic, take no part.
struct StartPatch {
  PatchState s;
  const PixelSize* pixel;
  SEXTANT_HD void operator()(std::int64_t cell) const {
    s.own[cell] = 0;
    s.best[cell] = kNoEdge;
    const PatchSums& sums = s.sums[cell];
    const double tolerance = inverse_tolerance(*s.noise, *pixel, sums.mean_d());
    s.tolerance[cell] = static_cast<float>(tolerance);
    if (s.root[cell] < 0) return;
    const PatchModel plane = fitted<kPlaneTerms>(sums);
    const double most = kMostLeft_sq * tolerance * tolerance;
    double left = plane.ok ? mean_square<kPlaneTerms>(sums, plane) : INFINITY;
    if (left > most) {
      const PatchModel bent = fitted<kQuadraticTerms>(sums);
      left = bent.ok ? mean_square<kQuadraticTerms>(sums, bent) : INFINITY;
    }
    if (!(left <= most)) s.root[cell] = -1;
    s.own[cell] = left;
  }
};

inline constexpr double kLeastBentPixels = 3 * kCellPx * kCellPx;

/// For the second run: what a quadratic leaves of every patch that is large enough for one.
struct BendPatch {
  PatchState s;
  SEXTANT_HD void operator()(std::int64_t cell) const {
    s.best[cell] = kNoEdge;
    if (s.root[cell] != cell) return;
    s.changed[cell] = 0;
    const PatchSums& sums = s.sums[cell];
    if (sums.count() < kLeastBentPixels) return;
    const PatchModel model = fitted<kQuadraticTerms>(sums);
    if (model.ok) s.own[cell] = min_of(s.own[cell], mean_square<kQuadraticTerms>(sums, model));
  }
};

/// The larger of two patches, of equal ones that with the lower root.
SEXTANT_HD inline bool is_larger(const PatchState& s, std::int32_t a, std::int32_t b) {
  const double na = s.sums[a].count(), nb = s.sums[b].count();
  return na > nb || (na == nb && a < b);
}

/// A hollow that turns by more (in slopes, from the middle to either end) is where one body stands
/// on another rather than the inside of one.
inline constexpr double kMostHollow = 0.3;
SEXTANT_HD inline double hollow_turn(const PatchSums& sums, const PatchModel& model,
                                     const PixelSize& pixel) {
  const double* t = model.terms;
  const double bend = t[3] + t[5] + std::sqrt((t[3] - t[5]) * (t[3] - t[5]) + t[4] * t[4]);
  const double n = sums.count();
  const double mx = sums.powers[1] / n, my = sums.powers[2] / n;
  const double spread = max_of(sums.powers[3] / n - mx * mx, sums.powers[5] / n - my * my);
  const double half = std::sqrt(3 * spread);
  return bend * half / (sums.mean_d() * 0.5 * (double{pixel.x} + double{pixel.y}));
}

/// How badly one model fits two patches: the worse side's mean square over the tolerance squared.
template <int kTerms>
SEXTANT_HD float pair_cost(const PatchState& s, const PixelSize& pixel, std::int32_t a,
                           std::int32_t b) {
  if (!is_larger(s, a, b)) {
    const std::int32_t larger = b;
    b = a;
    a = larger;
  }
  const PatchSums& large = s.sums[a];
  const PatchSums small = shifted<kTerms>(s.sums[b], large.x, large.y, large.d);
  PatchSums both = large;
  add_sums<kTerms>(both, small);
  const PatchModel model = fitted<kTerms>(both);
  if (!model.ok) return kNoPair;
  const double tolerance = inverse_tolerance(*s.noise, pixel, s.sums[b].mean_d());
  const double unit = tolerance * tolerance;
  const double of_large = mean_square<kTerms>(large, model);
  const double of_small = mean_square<kTerms>(small, model);
  // Sensors err over long distances too, so that large patches of one plane agree less.
  double most_large = kMostLeft_sq * unit * warp_share(small.count());
  double most_small = most_large;
  if constexpr (kTerms == kQuadraticTerms) {
    // A bent surface must fit no worse than the two that it replaces; a few cells, whose own
    // models follow the noise, have some leeway.
    constexpr double kWorse = 1.25;
    constexpr double kLeeway = 2.0 * kCellPx * kCellPx;
    const auto most = [&](double own, double count) {
      return min_of(most_large, max_of(kWorse * own, 1.2 * unit) + unit * kLeeway / count);
    };
    const double of_a = most(s.own[a], large.count());
    most_small = most(s.own[b], small.count());
    most_large = of_a;
  }
  if (!(of_large <= most_large && of_small <= most_small)) return kNoPair;
  if constexpr (kTerms == kQuadraticTerms) {
    if (hollow_turn(both, model, pixel) > kMostHollow) return kNoPair;
  }
  return static_cast<float>(max_of(of_large, of_small) / unit);
}

/// Edge 2 i leads from cell i to the right, 2 i + 1 downwards; -1 where there is no cell.
SEXTANT_HD inline std::int32_t across_edge(const PatchState& s, std::int64_t edge) {
  const std::int32_t cell = static_cast<std::int32_t>(edge / 2);
  if (edge % 2 == 0) return (cell + 1) % s.columns == 0 ? -1 : cell + 1;
  return cell + s.columns < s.cells ? cell + s.columns : -1;
}

SEXTANT_HD inline void keep_least(std::uint64_t* to, std::uint64_t value) {
#if defined(__CUDA_ARCH__)
  atomicMin(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
#else
  std::atomic_ref<std::uint64_t> place(*to);
  std::uint64_t before = place.load(std::memory_order_relaxed);
  while (value < before && !place.compare_exchange_weak(before, value, std::memory_order_relaxed)) {
  }
#endif
}

SEXTANT_HD inline std::uint64_t edge_key(float cost, std::int64_t edge) {
#if defined(__CUDA_ARCH__)
  const std::uint32_t bits = __float_as_uint(cost);
#else
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(cost);
#endif
  return std::uint64_t{bits} << 32 | static_cast<std::uint32_t>(edge);
}

/// The cost of an edge between two patches, anew when one of them has grown in the round before.
template <int kTerms>
struct RateEdge {
  PatchState s;
  const PixelSize* pixel;
  int round;
  SEXTANT_HD void operator()(std::int64_t edge) const {
    const std::int32_t a = s.root[edge / 2];
    const std::int32_t j = across_edge(s, edge);
    const std::int32_t b = j >= 0 ? s.root[j] : -1;
    if (a < 0 || b < 0 || a == b) return;
    if (round == 0 || s.changed[a] == round || s.changed[b] == round) {
      s.cost[edge] = pair_cost<kTerms>(s, *pixel, a, b);
    }
    if (!(s.cost[edge] < kNoPair)) return;
    const std::uint64_t key = edge_key(s.cost[edge], edge);
    keep_least(s.best + a, key);
    keep_least(s.best + b, key);
  }
};

/// The patch on the other side of a root's best edge, or -1.
SEXTANT_HD inline std::int32_t best_partner(const PatchState& s, std::int32_t root) {
  if (s.best[root] == kNoEdge) return -1;
  const std::int64_t edge = static_cast<std::int64_t>(s.best[root] & 0xffffffffu);
  const std::int32_t a = s.root[edge / 2];
  return a == root ? s.root[across_edge(s, edge)] : a;
}

/// A patch joins its best partner when that is larger and does not itself join another: then what
/// it joins stays as it was tested, but for others that joined it as well.
struct ChooseTarget {
  PatchState s;
  SEXTANT_HD void operator()(std::int64_t index) const {
    const std::int32_t cell = static_cast<std::int32_t>(index);
    s.target[cell] = -1;
    if (s.root[cell] != cell) return;
    const std::int32_t partner = best_partner(s, cell);
    if (partner < 0 || !is_larger(s, partner, cell)) return;
    const std::int32_t beyond = best_partner(s, partner);
    if (is_larger(s, beyond, partner)) return;
    s.target[cell] = partner;
  }
};

/// Adds the sums of a patch that joins another.
template <int kTerms>
SEXTANT_HD void add_joined(const PatchState& s, std::int32_t root, std::int32_t target) {
  PatchSums& to = s.sums[target];
  add_sums(to, shifted(s.sums[root], to.x, to.y, to.d));
  s.root[root] = target;
}
/// What follows for the target when all have joined it.
template <int kTerms>
SEXTANT_HD void finish_joined(const PatchState& s, std::int32_t target, int round) {
  s.sums[target] = centred(s.sums[target]);
  const PatchModel model = fitted<kTerms>(s.sums[target]);
  s.own[target] = mean_square<kTerms>(s.sums[target], model);
  s.changed[target] = round + 1;
}

/// Roots that joined another point to it: cells take the root of their root.
struct FollowRoot {
  PatchState s;
  SEXTANT_HD void operator()(std::int64_t cell) const {
    const std::int32_t root = s.root[cell];
    if (root >= 0) s.root[cell] = s.root[root];
    s.best[cell] = kNoEdge;
  }
};

}  // namespace sextant::detail::segment
