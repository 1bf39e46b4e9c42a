// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cfloat>
#include <cstring>

#include "sextant/core/simd/points.h"
#include "sextant/geometry/neighbour_walk.h"

// Neighbour search on the CPU: the candidates of all queries of one cell are gathered once, and
// each query then looks at sixteen of them at a time. Host only. Sixteen lanes on every machine, so
// that sums come out the same.

namespace sextant::detail::neighbours {

inline constexpr int kLanes = 16;
/// Sixteen candidates.
template <class Set>
using CandidatePack = FloatLanes<kLanes, Set>;

/// Candidates as a structure of arrays, and their squared distances from the current query. The
/// last lanes are filled up with NaN, which is within no distance.
class CandidateTile {
 public:
  std::int64_t count() const { return count_; }
  std::int64_t packs() const { return (count_ + kLanes - 1) / kLanes; }
  template <class Set>
  CandidatePack<Set> x(std::int64_t pack) const {
    return CandidatePack<Set>::load(x_ + pack * kLanes);
  }
  template <class Set>
  CandidatePack<Set> y(std::int64_t pack) const {
    return CandidatePack<Set>::load(y_ + pack * kLanes);
  }
  template <class Set>
  CandidatePack<Set> z(std::int64_t pack) const {
    return CandidatePack<Set>::load(z_ + pack * kLanes);
  }
  template <class Set>
  CandidatePack<Set> distance_sq(std::int64_t pack) const {
    return CandidatePack<Set>::load(distance_ + pack * kLanes);
  }
  const float* xs() const { return x_; }
  const float* ys() const { return y_; }
  const float* zs() const { return z_; }
  const float* distances_sq() const { return distance_; }
  const std::int32_t* indices() const { return index_; }

  /// The points in the box.
  void gather(const NeighbourGridView& grid, const CellBox& box) {
    count_ = 0;
    for_each_run(grid, box, [&](std::uint32_t begin, std::uint32_t end) {
      append(grid.points + begin, end - begin);
    });
    for (std::int64_t i = count_; i < packs() * kLanes; ++i) x_[i] = NAN;
  }

  /// All of a list; a point that is not finite is within no distance.
  void gather(View<const Vec3f> points);

  template <class Set>
  void measure_from(const Vec3f& p) {
    using Pack = CandidatePack<Set>;
    const std::int64_t end = packs();
    for (std::int64_t pack = 0; pack < end; ++pack) {
      const Pack dx = x<Set>(pack) - p.x;
      const Pack dy = y<Set>(pack) - p.y;
      const Pack dz = z<Set>(pack) - p.z;
      (dx * dx + dy * dy + dz * dz).store(distance_ + pack * kLanes);
    }
  }

  template <class Set>
  std::int64_t count_within(float threshold_sq) const {
    IntLanes<kLanes, Set> count;
    const std::int64_t end = packs();
    for (std::int64_t pack = 0; pack < end; ++pack) {
      count.count_up(distance_sq<Set>(pack) <= threshold_sq);
    }
    return count.sum();
  }

  /// A squared distance that exactly k candidates do not exceed, or all when there are fewer. Of
  /// those at the k-th distance itself, the ones with the highest indices are taken out of the tile
  /// when they are too many. A good guess saves time.
  template <class Set>
  float threshold_of_nearest(std::int64_t k, float guess) {
    float low = 0.0f;
    float high = 0.0f;
    std::int64_t within_low = 0;
    std::int64_t within_high = -1;  // not known yet
    float at = guess > FLT_MIN ? guess : FLT_MIN;
    for (int step = 0;; ++step) {
      const std::int64_t within = count_within<Set>(at);
      if (within == k) return at;
      if (within < k) {
        if (at == FLT_MAX) return at;
        low = at;
        within_low = within;
      } else {
        high = at;
        within_high = within;
      }
      if (within_high < 0) {
        const float factor = static_cast<float>(k + 1) / (static_cast<float>(within) + 0.5f);
        at = at < FLT_MAX / 1024 ? at * clamp(factor, 1.25f, 64.0f) : FLT_MAX;
        continue;
      }
      // On a surface the number of neighbours is linear in the squared distance.
      const float share = (static_cast<float>(k - within_low) + 0.5f) /
                          (static_cast<float>(within_high - within_low) + 1.0f);
      at = low + (high - low) * share;
      if (step < 8 && at > low && at < high) continue;
      // Bisection of the numbers between: it ends with high next to low.
      const auto low_bits = std::bit_cast<std::int32_t>(low);
      const auto high_bits = std::bit_cast<std::int32_t>(high);
      at = std::bit_cast<float>(low_bits + (high_bits - low_bits) / 2);
      if (at > low) continue;
      if (low == 0.0f && within_low == 0) within_low = count_within<Set>(0.0f);
      if (within_low >= k) high = low;
      drop_ties(high, k);
      return high;
    }
  }

  /// The largest squared distance that does not exceed the threshold; FLT_MAX stays, as it stands
  /// for too few candidates.
  template <class Set>
  float farthest_within(float threshold) const {
    using Pack = CandidatePack<Set>;
    using Math = LaneMath<Pack>;
    if (threshold == FLT_MAX) return threshold;
    Pack farthest;
    const std::int64_t end = packs();
    for (std::int64_t pack = 0; pack < end; ++pack) {
      const Pack d = distance_sq<Set>(pack);
      farthest = Math::larger(farthest, Math::select(d <= threshold, d, Pack()));
    }
    float result = 0.0f;
    for (int lane = 0; lane < kLanes; ++lane) result = max_of(result, farthest.lane(lane));
    return result;
  }

 private:
  /// Turns four points at a time into four coordinates each; reads up to three points past the end.
  void append(const GridPoint* points, std::int64_t count) {
    using Four = FloatLanes<4, Portable>;
    if (count_ + count + kLanes > room_) grow(count_ + count + kLanes);
    for (std::int64_t i = 0; i < count; i += 4) {
      Four column[4];
      SEXTANT_UNROLL
      for (int k = 0; k < 4; ++k) column[k] = Four::load_bits(points + i + k);
      transpose(column);
      const std::int64_t to = count_ + i;
      column[0].store(x_ + to);
      column[1].store(y_ + to);
      column[2].store(z_ + to);
      column[3].store_bits(index_ + to);
    }
    count_ += count;
  }

  void grow(std::int64_t room);
  void drop_ties(float distance_sq, std::int64_t k);

  std::int64_t count_ = 0;
  std::int64_t room_ = 0;
  float* x_ = nullptr;
  float* y_ = nullptr;
  float* z_ = nullptr;
  float* distance_ = nullptr;
  std::int32_t* index_ = nullptr;
  struct alignas(64) CacheLine {
    float lane[kLanes];
  };
  std::vector<CacheLine> memory_;
};

/// The queries begin .. end - 1 lie in cell order. Calls cell(first, last) for each run of finite
/// queries first .. last - 1 in one cell, and none(query) for each query that is not finite.
template <class Cell, class None>
void for_each_cell(const GridFrame& frame, const GridPoint* queries, std::int64_t begin,
                   std::int64_t end, None& none, const Cell& cell) {
  std::int64_t last = begin;
  for (std::int64_t first = begin; first < end; first = last) {
    last = first + 1;
    if (!is_finite(queries[first].position)) {
      none(queries[first]);
      continue;
    }
    const Vec3i place = cell_of(frame, queries[first].position);
    while (last < end && is_finite(queries[last].position) &&
           cell_of(frame, queries[last].position) == place) {
      ++last;
    }
    cell(first, last);
  }
}

/// For each query of for_each_cell that is finite, `found(query, tile, threshold)` gets a tile in
/// which its k nearest points are those whose distance_sq does not exceed the threshold; for the
/// others, `none(query)`.
template <class Set, class Found, class None>
void search_nearest(const NeighbourGridView& grid, const GridPoint* queries, std::int64_t begin,
                    std::int64_t end, int k, Found& found, None& none) {
  const GridFrame& frame = *grid.frame;
  CandidateTile tile;
  std::vector<std::pair<std::int64_t, float>> unproven;
  float threshold = FLT_MAX;
  for_each_cell(frame, queries, begin, end, none, [&](std::int64_t first, std::int64_t last) {
    const Vec3i cell = cell_of(frame, queries[first].position);
    CellBox box = cells_around(frame, cell, 1);
    tile.gather(grid, box);
    for (int reach = 2; tile.count() < k && !is_whole_grid(frame, box); reach *= 2) {
      box = cells_around(frame, cell, reach);
      tile.gather(grid, box);
    }
    const bool whole = is_whole_grid(frame, box);
    unproven.clear();
    for (std::int64_t i = first; i < last; ++i) {
      const Vec3f p = queries[i].position;
      // Coincident points come one after the other and have the same neighbours.
      if (i == first || !(p == queries[i - 1].position)) {
        tile.measure_from<Set>(p);
        const float guess = threshold < FLT_MAX ? threshold : frame.cell_m * frame.cell_m;
        threshold = tile.threshold_of_nearest<Set>(k, guess);
      }
      if (!whole) {
        const float farthest_sq = tile.farthest_within<Set>(threshold);
        if (!contains(box, cells_within(frame, p, farthest_sq))) {
          unproven.emplace_back(i, farthest_sq);
          continue;
        }
      }
      found(queries[i], tile, threshold);
    }
    for (const auto& [i, farthest_sq] : unproven) {
      const Vec3f p = queries[i].position;
      tile.gather(grid, cells_within(frame, p, farthest_sq));
      tile.measure_from<Set>(p);
      found(queries[i], tile, tile.threshold_of_nearest<Set>(k, farthest_sq));
    }
  });
}

/// Gathers in `tile` all points within the radius of the queries of one cell after the other
/// (for_each_cell) and announces them with `gathered(tile)`; then `found(query, tile, radius_m²)`
/// is called for each query that is finite, whose distances are not measured yet, and `none(query)`
/// for the others.
template <class Gathered, class Found, class None>
void search_cells_within(const NeighbourGridView& grid, const GridPoint* queries,
                         std::int64_t begin, std::int64_t end, float radius_m, CandidateTile& tile,
                         Gathered& gathered, Found& found, None& none) {
  const GridFrame& frame = *grid.frame;
  const float radius_sq = radius_m * radius_m;
  for_each_cell(frame, queries, begin, end, none, [&](std::int64_t first, std::int64_t last) {
    CellBox box = cells_within(frame, queries[first].position, radius_sq);
    for (std::int64_t i = first + 1; i < last; ++i) {
      const CellBox more = cells_within(frame, queries[i].position, radius_sq);
      box = {{min_of(box.low.x, more.low.x), min_of(box.low.y, more.low.y),
              min_of(box.low.z, more.low.z)},
             {max_of(box.high.x, more.high.x), max_of(box.high.y, more.high.y),
              max_of(box.high.z, more.high.z)}};
    }
    tile.gather(grid, box);
    gathered(tile);
    for (std::int64_t i = first; i < last; ++i) found(queries[i], tile, radius_sq);
  });
}

/// As search_nearest, for the points within a radius: the threshold is always radius_m².
template <class Set, class Found, class None>
void search_within(const NeighbourGridView& grid, const GridPoint* queries, std::int64_t begin,
                   std::int64_t end, float radius_m, Found& found, None& none) {
  CandidateTile held;
  auto gathered = [](const CandidateTile&) {};
  auto measured = [&](const GridPoint& query, CandidateTile& tile, float radius_sq) {
    tile.measure_from<Set>(query.position);
    found(query, tile, radius_sq);
  };
  search_cells_within(grid, queries, begin, end, radius_m, held, gathered, measured, none);
}

/// Queries that one thread takes at a time: a multiple of a cell's points, a fraction of a
/// thread's share.
inline constexpr std::int64_t kQueryGrain = 2048;

}  // namespace sextant::detail::neighbours
