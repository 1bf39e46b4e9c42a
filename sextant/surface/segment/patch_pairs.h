// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/surface/segment/frame_noise.h"

// Joining of patches, the best pairs first, as long as one plane, later one quadratic, fits both
// sides. Each step is a function of one cell or one pair of cells, for either device.

namespace sextant::detail::segment {

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
    s.unit[cell] = tolerance * tolerance;
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

/// Half the length of a patch in pixels, were it a bar along x or y.
template <class Sums>
SEXTANT_HD double half_length(const Sums& sums) {
  const double n = sums.count();
  const double mx = sums.powers[1] / n, my = sums.powers[2] / n;
  return std::sqrt(3 * max_of(sums.powers[3] / n - mx * mx, sums.powers[5] / n - my * my));
}

/// A hollow that turns by more (in slopes, from the middle to either end) is where one body stands
/// on another rather than the inside of one.
inline constexpr double kMostHollow = 0.3;
SEXTANT_HD inline double hollow_turn(const ModelSums<kQuadraticTerms>& sums, double mean_d,
                                     const PatchModel& model, const PixelSize& pixel) {
  const double* t = model.terms;
  const double bend = t[3] + t[5] + std::sqrt((t[3] - t[5]) * (t[3] - t[5]) + t[4] * t[4]);
  return bend * half_length(sums) / (mean_d * 0.5 * (double{pixel.x} + double{pixel.y}));
}

/// Whether a bent surface fits a patch of so many pixels no worse than what it replaces, in squared
/// tolerances; a few cells, whose own models follow the noise, have some leeway.
SEXTANT_HD inline bool replaces(double left, double own, double pixels) {
  constexpr double kWorse = 1.25;
  constexpr double kLeast = 1.2;
  constexpr double kLeeway = 2.0 * kCellPx * kCellPx;
  return left <= max_of(kWorse * own, kLeast) + kLeeway / pixels;
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
  const PatchSums& of_a = s.sums[a];
  const PatchSums& of_b = s.sums[b];
  const ModelSums<kTerms> large(of_a);
  ModelSums<kTerms> small(of_b);
  small.move(of_b.x - of_a.x, of_b.y - of_a.y, of_b.d - of_a.d);
  ModelSums<kTerms> both = large;
  both.add(small);
  const PatchModel model = fitted<kTerms>(both);
  if (!model.ok) return kNoPair;
  // Each side in its own tolerances: the noise at one depth says nothing of the other's.
  const double unit_a = s.unit[a], unit_b = s.unit[b];
  const double left_a = mean_square<kTerms>(large, model) / unit_a;
  const double left_b = mean_square<kTerms>(small, model) / unit_b;
  // Sensors err over long distances too, so that large patches of one plane agree less.
  const double most = kMostLeft_sq * warp_share(small.count());
  if (!(left_a <= most && left_b <= most)) return kNoPair;
  if constexpr (kTerms == kQuadraticTerms) {
    if (!replaces(left_a, s.own[a] / unit_a, large.count())) return kNoPair;
    if (!replaces(left_b, s.own[b] / unit_b, small.count())) return kNoPair;
  }
  if constexpr (kTerms == kQuadraticTerms) {
    const double mean_d = of_a.d + both.inverse[0] / both.count();
    if (hollow_turn(both, mean_d, model, pixel) > kMostHollow) return kNoPair;
  }
  // On exact depth all pairs of a plane are as good as each other.
  constexpr double kNoCost = 0.01;
  return static_cast<float>(max_of(kNoCost, max_of(left_a, left_b)));
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

/// The number of an edge among those of equal cost: any order but theirs, in which each would wait
/// for the one before it. The factors are each other's inverse modulo 2³².
SEXTANT_HD inline std::uint32_t shuffled(std::uint32_t edge) { return edge * 2654435769u; }
SEXTANT_HD inline std::uint32_t unshuffled(std::uint32_t number) { return number * 340573321u; }

SEXTANT_HD inline std::uint64_t edge_key(float cost, std::int64_t edge) {
#if defined(__CUDA_ARCH__)
  const std::uint32_t bits = __float_as_uint(cost);
#else
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(cost);
#endif
  return std::uint64_t{bits} << 32 | shuffled(static_cast<std::uint32_t>(edge));
}

/// The cost of an edge between two patches, anew when one of them has grown in the round before.
template <int kTerms>
struct RateEdge {
  PatchState s;
  const PixelSize* pixel;
  int round;
  SEXTANT_HD float cost_of(std::int32_t a, std::int32_t b) const {
    return pair_cost<kTerms>(s, *pixel, a, b);
  }
  SEXTANT_HD void operator()(std::int64_t edge) const {
    (*this)(edge, across_edge(s, edge),
            [&](std::int32_t a, std::int32_t b) { return cost_of(a, b); });
  }
  /// The edge leads to the cell `to`, which may be -1.
  template <class Cost>
  SEXTANT_HD void operator()(std::int64_t edge, std::int32_t to, Cost&& cost) const {
    const std::int32_t a = s.root[edge / 2];
    const std::int32_t b = to >= 0 ? s.root[to] : -1;
    if (a < 0 || b < 0 || a == b) return;
    if (round == 0 || s.changed[a] == round || s.changed[b] == round) {
      s.cost[edge] = cost(min_of(a, b), max_of(a, b));
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
  const std::int64_t edge = unshuffled(static_cast<std::uint32_t>(s.best[root]));
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

/// Moves the sums of a patch that joins another to the origin of its target, to be added there.
SEXTANT_HD inline void move_to_target(const PatchState& s, std::int32_t root) {
  const PatchSums& to = s.sums[s.target[root]];
  s.sums[root] = shifted(s.sums[root], to.x, to.y, to.d);
  s.root[root] = s.target[root];
}
/// What follows for the target when all have joined it.
template <int kTerms>
SEXTANT_HD void finish_joined(const PatchState& s, const PixelSize& pixel, std::int32_t target,
                              int round) {
  s.sums[target] = centred(s.sums[target]);
  const PatchModel model = fitted<kTerms>(s.sums[target]);
  s.own[target] = mean_square<kTerms>(s.sums[target], model);
  const double tolerance = inverse_tolerance(*s.noise, pixel, s.sums[target].mean_d());
  s.unit[target] = tolerance * tolerance;
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
