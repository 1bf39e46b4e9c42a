// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "sextant/core/for_each.h"
#include "sextant/core/simd/lanes_math.h"
#include "sextant/descriptor/pairs/math.h"

// The search of every pixel. Distances are tested first, a pack of neighbouring pixels at once;
// normals only where a distance passes, and few get as far as the list. Every pixel meets its
// candidates in ascending index.

namespace sextant::detail::pairs {

namespace {

constexpr int kColumns = 160;  ///< of pixels in a tile: what it reads stays in the second cache
constexpr int kRows = 16;
constexpr int kHalo = kMostPairWindow_px;
constexpr int kStride = kColumns + 2 * kHalo + 4;

/// The points and normals that the pixels of a tile may meet, one coordinate after the other. NaN
/// beyond the image: it compares with nothing.
struct Tile {
  alignas(64) float x[kRows + 2 * kHalo][kStride], y[kRows + 2 * kHalo][kStride],
      z[kRows + 2 * kHalo][kStride];
  alignas(64) float nx[kRows + 2 * kHalo][kStride], ny[kRows + 2 * kHalo][kStride],
      nz[kRows + 2 * kHalo][kStride];
  int left = 0, top = 0;  ///< pixel of the image at (kHalo, kHalo)

  void load(const PairsJob& job, int from_left, int from_top) {
    left = from_left;
    top = from_top;
    for (int row = 0; row < kRows + 2 * kHalo; ++row) {
      const int v = top + row - kHalo;
      for (int column = 0; column < kStride; ++column) {
        const int u = left + column - kHalo;
        const bool inside = job.points.contains(u, v);
        const Vec3f p = inside ? job.points(u, v) : Vec3f{NAN, NAN, NAN};
        const Vec3f n = inside ? job.normals(u, v) : Vec3f{NAN, NAN, NAN};
        x[row][column] = p.x;
        y[row][column] = p.y;
        z[row][column] = p.z;
        nx[row][column] = n.x;
        ny[row][column] = n.y;
        nz[row][column] = n.z;
      }
    }
  }
};

/// The three nearest partners of a pack of pixels so far, the nearest first.
template <class Pack, class Indices>
struct PartnerPack {
  Pack distance_sq[kPartnersPerPoint];
  Indices index[kPartnersPerPoint];

  explicit PartnerPack(float most_sq) {
    for (Pack& distance : distance_sq) distance = Pack(most_sq);
    for (Indices& nobody : index) nobody = Indices(kNobody);
  }

  /// Which of the candidates come before those in place k. Equal distances go to the lower index,
  /// which came first; only a place that nobody has yet is taken at the very limit.
  typename Pack::Mask before(const typename Pack::Mask& candidates, const Pack& distance,
                             int k) const {
    const auto free = index[k] == Indices(kNobody);
    return candidates & ((distance < distance_sq[k]) | ((distance == distance_sq[k]) & free));
  }

  void insert(const typename Pack::Mask& candidates, const Pack& distance,
              const Indices& candidate) {
    using Math = LaneMath<Pack>;
    using IndexMath = LaneMath<Indices>;
    const auto first = before(candidates, distance, 0);
    const auto second = before(candidates, distance, 1);
    const auto third = before(candidates, distance, 2);
    distance_sq[2] =
        Math::select(third, Math::select(second, distance_sq[1], distance), distance_sq[2]);
    index[2] = IndexMath::select(third, IndexMath::select(second, index[1], candidate), index[2]);
    distance_sq[1] =
        Math::select(second, Math::select(first, distance_sq[0], distance), distance_sq[1]);
    index[1] = IndexMath::select(second, IndexMath::select(first, index[0], candidate), index[1]);
    distance_sq[0] = Math::select(first, distance, distance_sq[0]);
    index[0] = IndexMath::select(first, candidate, index[0]);
  }
};

/// The partners of all pixels of a tile.
struct Search {
  const PairsJob& job;
  const Tile& tile;
  PairTest test;

  template <class Set>
  void operator()(Set) const {
    // With 32 registers two rows of pixels share the candidates they load.
    constexpr int kTogether = Set::kBytes == 64 ? 2 : 1;
    const int height = min_of(kRows, job.points.height - tile.top);
    const int width = min_of(kColumns, job.points.width - tile.left);
    for (int row = kHalo; row < kHalo + height; row += kTogether) {
      for (int column = kHalo; column < kHalo + width; column += Set::kFloats) {
        search<Set, kTogether>(row, column);
      }
    }
  }

 private:
  template <class Set, int kTogether>
  void search(int row, int column) const {
    constexpr int kLanes = Set::kFloats;
    using Pack = FloatLanes<kLanes, Set>;
    using Indices = IntLanes<kLanes, Set>;
    using Partners = PartnerPack<Pack, Indices>;
    const int w = job.window_px;
    const Tile& t = tile;
    const Pack least_sq(test.least_sq);
    const Pack cos_angle(test.cos_angle);
    const Indices steps = steps_of<Indices>();
    Pack x[kTogether], y[kTogether], z[kTogether];
    Partners partners[] = {Partners(test.most_sq), Partners(test.most_sq)};
    SEXTANT_UNROLL
    for (int k = 0; k < kTogether; ++k) {
      x[k] = Pack::load(&t.x[row + k][column]);
      y[k] = Pack::load(&t.y[row + k][column]);
      z[k] = Pack::load(&t.z[row + k][column]);
    }
    for (int r = row - w; r <= row + w + kTogether - 1; ++r) {
      for (int c = column - w; c <= column + w; ++c) {
        const Pack qx = Pack::load(&t.x[r][c]);
        const Pack qy = Pack::load(&t.y[r][c]);
        const Pack qz = Pack::load(&t.z[r][c]);
        SEXTANT_UNROLL
        for (int k = 0; k < kTogether; ++k) {
          const Pack dx = x[k] - qx;
          const Pack dy = y[k] - qy;
          const Pack dz = z[k] - qz;
          const Pack distance_sq = dx * dx + dy * dy + dz * dz;
          const auto near = (distance_sq <= partners[k].distance_sq[2]) & (distance_sq >= least_sq);
          if (!near.any()) continue;
          if (r < row + k - w || r > row + k + w) continue;  // the other row's window
          const Pack dot = Pack::load(&t.nx[row + k][column]) * Pack::load(&t.nx[r][c]) +
                           Pack::load(&t.ny[row + k][column]) * Pack::load(&t.ny[r][c]) +
                           Pack::load(&t.nz[row + k][column]) * Pack::load(&t.nz[r][c]);
          const auto apart = near & (dot < cos_angle) & (dot >= Pack(kLeastCosine));
          if (!apart.any()) continue;
          partners[k].insert(apart, distance_sq, Indices(index_of(r, c)) + steps);
        }
      }
    }
    SEXTANT_UNROLL
    for (int k = 0; k < kTogether; ++k) store(row + k, column, partners[k].index);
  }

  /// 0, 1, 2 …
  template <class Indices>
  static Indices steps_of() {
    std::int32_t steps[Indices::kCount];
    for (int i = 0; i < Indices::kCount; ++i) steps[i] = i;
    return Indices::load(steps);
  }

  std::int32_t index_of(int row, int column) const {
    return (tile.top + row - kHalo) * job.points.width + tile.left + column - kHalo;
  }

  /// Writes the partners of pixels (column ..) of a row of the tile, as far as the image goes.
  template <class Indices>
  void store(int row, int column, const Indices (&index)[kPartnersPerPoint]) const {
    const int v = tile.top + row - kHalo;
    const int u = tile.left + column - kHalo;
    if (v >= job.points.height) return;
    std::int32_t found[kPartnersPerPoint][Indices::kCount];
    for (int k = 0; k < kPartnersPerPoint; ++k) index[k].store(found[k]);
    std::int32_t* to = job.partners + (std::int64_t{v} * job.points.width + u) * kPartnersPerPoint;
    const int there = min_of(Indices::kCount, job.points.width - u);
    for (int lane = 0; lane < there; ++lane) {
      for (const auto& of_pixels : found) {
        *to++ = of_pixels[lane] == kNobody ? -1 : of_pixels[lane];
      }
    }
  }
};

}  // namespace

void find_partners_dense(const Context& context, const PairsJob& job) {
  const PairTest test(job.limits, job.statistics->resolution_m);
  const std::int64_t across = (job.points.width + kColumns - 1) / kColumns;
  const std::int64_t down = (job.points.height + kRows - 1) / kRows;
  for_each_chunk(context, across * down, 1, [&](std::int64_t number, std::int64_t) {
    const auto tile = std::make_unique_for_overwrite<Tile>();
    tile->load(job, static_cast<int>(number % across) * kColumns,
               static_cast<int>(number / across) * kRows);
    run_widest(Search{job, *tile, test});
  });
}

}  // namespace sextant::detail::pairs
