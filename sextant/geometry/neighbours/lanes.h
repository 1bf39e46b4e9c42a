// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cfloat>
#include <cstring>

#include "sextant/core/simd/instruction_set.h"
#include "sextant/geometry/neighbour_walk.h"

// Neighbour search on the CPU: the candidates of all queries of one cell are gathered once, and
// each query then looks at sixteen of them at a time. Host only. Sixteen lanes on every machine, so
// sums come out the same; how many registers they take is the compiler's affair.

namespace sextant::detail::neighbours {

/// For functions and, behind their parameters, for lambdas that take on the caller's registers.
#define SEXTANT_INLINED __attribute__((always_inline))
#define SEXTANT_INLINE inline SEXTANT_INLINED

inline constexpr int kLanes = 16;
using FloatLanes = float __attribute__((vector_size(64)));
using IntLanes = std::int32_t __attribute__((vector_size(64)));

template <class Lanes>
SEXTANT_INLINE auto sum_of_lanes(const Lanes& v) {
  const auto eight = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                     __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
  const auto four = __builtin_shufflevector(eight, eight, 0, 1, 2, 3) +
                    __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
  return (four[0] + four[2]) + (four[1] + four[3]);
}

/// Candidates as a structure of arrays, and their squared distances from the current query. The
/// last lanes are filled up with NaN, which is within no distance.
class CandidateTile {
 public:
  SEXTANT_INLINE std::int64_t count() const { return count_; }
  SEXTANT_INLINE std::int64_t packs() const { return (count_ + kLanes - 1) / kLanes; }
  SEXTANT_INLINE const FloatLanes& x(std::int64_t pack) const { return lanes(x_, pack); }
  SEXTANT_INLINE const FloatLanes& y(std::int64_t pack) const { return lanes(y_, pack); }
  SEXTANT_INLINE const FloatLanes& z(std::int64_t pack) const { return lanes(z_, pack); }
  SEXTANT_INLINE const FloatLanes& distance_sq(std::int64_t pack) const {
    return lanes(distance_, pack);
  }
  SEXTANT_INLINE const float* distances_sq() const { return distance_; }
  SEXTANT_INLINE const std::int32_t* indices() const { return index_; }

  /// The points in the box.
  SEXTANT_INLINE void gather(const NeighbourGridView& grid, const CellBox& box) {
    count_ = 0;
    for_each_run(grid, box, [&](std::uint32_t begin, std::uint32_t end) SEXTANT_INLINED {
      append(grid.points + begin, end - begin);
    });
    for (std::int64_t i = count_; i < packs() * kLanes; ++i) x_[i] = NAN;
  }

  /// All of a list; a point that is not finite is within no distance.
  void gather(View<const Vec3f> points);

  SEXTANT_INLINE void measure_from(const Vec3f& p) {
    const std::int64_t end = packs();
    for (std::int64_t pack = 0; pack < end; ++pack) {
      const FloatLanes dx = x(pack) - p.x;
      const FloatLanes dy = y(pack) - p.y;
      const FloatLanes dz = z(pack) - p.z;
      const FloatLanes distance = dx * dx + dy * dy + dz * dz;
      std::memcpy(distance_ + pack * kLanes, &distance, sizeof distance);
    }
  }

  SEXTANT_INLINE std::int64_t count_within(float distance_sq) const {
    IntLanes count{};
    const std::int64_t end = packs();
    for (std::int64_t pack = 0; pack < end; ++pack) {
      count -= lanes(distance_, pack) <= distance_sq;
    }
    return sum_of_lanes(count);
  }

  /// A squared distance that exactly k candidates do not exceed, or all when there are fewer. Of
  /// those at the k-th distance itself, the ones with the highest indices are taken out of the tile
  /// when they are too many. A good guess saves time.
  SEXTANT_INLINE float threshold_of_nearest(std::int64_t k, float guess) {
    float low = 0.0f;
    float high = 0.0f;
    std::int64_t within_low = 0;
    std::int64_t within_high = -1;  // not known yet
    float at = guess > FLT_MIN ? guess : FLT_MIN;
    for (int step = 0;; ++step) {
      const std::int64_t within = count_within(at);
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
      if (low == 0.0f && within_low == 0) within_low = count_within(0.0f);
      if (within_low >= k) high = low;
      drop_ties(high, k);
      return high;
    }
  }

  /// The largest squared distance that does not exceed the threshold; FLT_MAX stays, as it stands
  /// for too few candidates.
  SEXTANT_INLINE float farthest_within(float threshold) const {
    if (threshold == FLT_MAX) return threshold;
    FloatLanes farthest{};
    const std::int64_t end = packs();
    for (std::int64_t pack = 0; pack < end; ++pack) {
      const FloatLanes d = lanes(distance_, pack);
      const FloatLanes chosen = d <= threshold ? d : FloatLanes{};
      farthest = chosen > farthest ? chosen : farthest;
    }
    float result = 0.0f;
    for (int lane = 0; lane < kLanes; ++lane) result = max_of(result, farthest[lane]);
    return result;
  }

 private:
  /// By reference: a function that returned such a vector would be another one on each machine.
  SEXTANT_INLINE static const FloatLanes& lanes(const float* data, std::int64_t pack) {
    return reinterpret_cast<const FloatLanes*>(data)[pack];
  }

  /// Turns four points at a time into four coordinates each; reads up to three points past the end.
  SEXTANT_INLINE void append(const GridPoint* points, std::int64_t count) {
    using Four = float __attribute__((vector_size(16)));
    if (count_ + count + kLanes > room_) grow(count_ + count + kLanes);
    for (std::int64_t i = 0; i < count; i += 4) {
      Four a, b, c, d;
      std::memcpy(&a, points + i, sizeof a);
      std::memcpy(&b, points + i + 1, sizeof b);
      std::memcpy(&c, points + i + 2, sizeof c);
      std::memcpy(&d, points + i + 3, sizeof d);
      const Four xy_ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
      const Four xy_cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
      const Four zi_ab = __builtin_shufflevector(a, b, 2, 6, 3, 7);
      const Four zi_cd = __builtin_shufflevector(c, d, 2, 6, 3, 7);
      const Four x = __builtin_shufflevector(xy_ab, xy_cd, 0, 1, 4, 5);
      const Four y = __builtin_shufflevector(xy_ab, xy_cd, 2, 3, 6, 7);
      const Four z = __builtin_shufflevector(zi_ab, zi_cd, 0, 1, 4, 5);
      const Four index = __builtin_shufflevector(zi_ab, zi_cd, 2, 3, 6, 7);
      const std::int64_t to = count_ + i;
      std::memcpy(x_ + to, &x, sizeof x);
      std::memcpy(y_ + to, &y, sizeof y);
      std::memcpy(z_ + to, &z, sizeof z);
      std::memcpy(index_ + to, &index, sizeof index);
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
  struct alignas(64) Pack {
    float lane[kLanes];
  };
  std::vector<Pack> memory_;
};

/// The queries begin .. end - 1 lie in cell order. For each that is finite, `found(query, tile,
/// threshold)` gets a tile in which its k nearest points are those whose distance_sq does not
/// exceed the threshold; for the others, `none(query)`.
template <class Found, class None>
SEXTANT_INLINE void search_nearest(const NeighbourGridView& grid, const GridPoint* queries,
                                   std::int64_t begin, std::int64_t end, int k, Found& found,
                                   None& none) {
  const GridFrame& frame = *grid.frame;
  CandidateTile tile;
  std::vector<std::pair<std::int64_t, float>> unproven;
  float threshold = FLT_MAX;
  std::int64_t last = begin;
  for (std::int64_t first = begin; first < end; first = last) {
    last = first + 1;
    if (!is_finite(queries[first].position)) {
      none(queries[first]);
      continue;
    }
    const Vec3i cell = cell_of(frame, queries[first].position);
    while (last < end && is_finite(queries[last].position) &&
           cell_of(frame, queries[last].position) == cell) {
      ++last;
    }
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
        tile.measure_from(p);
        const float guess = threshold < FLT_MAX ? threshold : frame.cell_m * frame.cell_m;
        threshold = tile.threshold_of_nearest(k, guess);
      }
      if (!whole) {
        const float farthest_sq = tile.farthest_within(threshold);
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
      tile.measure_from(p);
      found(queries[i], tile, tile.threshold_of_nearest(k, farthest_sq));
    }
  }
}

/// The queries begin .. end - 1 lie in cell order. Tiles that hold all points within the radius of
/// the queries of one cell are gathered in `tile` and announced with `gathered(tile)`; then
/// `found(query, tile, radius_m²)` is called for each query that is finite, whose distances are not
/// measured yet, and `none(query)` for the others.
template <class Gathered, class Found, class None>
SEXTANT_INLINE void search_cells_within(const NeighbourGridView& grid, const GridPoint* queries,
                                        std::int64_t begin, std::int64_t end, float radius_m,
                                        CandidateTile& tile, Gathered& gathered, Found& found,
                                        None& none) {
  const GridFrame& frame = *grid.frame;
  const float radius_sq = radius_m * radius_m;
  std::int64_t last = begin;
  for (std::int64_t first = begin; first < end; first = last) {
    last = first + 1;
    if (!is_finite(queries[first].position)) {
      none(queries[first]);
      continue;
    }
    const Vec3i cell = cell_of(frame, queries[first].position);
    CellBox box = cells_within(frame, queries[first].position, radius_sq);
    for (; last < end && is_finite(queries[last].position) &&
           cell_of(frame, queries[last].position) == cell;
         ++last) {
      const CellBox more = cells_within(frame, queries[last].position, radius_sq);
      box = {{min_of(box.low.x, more.low.x), min_of(box.low.y, more.low.y),
              min_of(box.low.z, more.low.z)},
             {max_of(box.high.x, more.high.x), max_of(box.high.y, more.high.y),
              max_of(box.high.z, more.high.z)}};
    }
    tile.gather(grid, box);
    gathered(tile);
    for (std::int64_t i = first; i < last; ++i) found(queries[i], tile, radius_sq);
  }
}

/// As search_nearest, for the points within a radius: the threshold is always radius_m².
template <class Found, class None>
SEXTANT_INLINE void search_within(const NeighbourGridView& grid, const GridPoint* queries,
                                  std::int64_t begin, std::int64_t end, float radius_m,
                                  Found& found, None& none) {
  CandidateTile held;
  auto gathered = [](const CandidateTile&) {};
  auto measured = [&](const GridPoint& query, CandidateTile& tile, float radius_sq)
                      SEXTANT_INLINED {
                        tile.measure_from(query.position);
                        found(query, tile, radius_sq);
                      };
  search_cells_within(grid, queries, begin, end, radius_m, held, gathered, measured, none);
}

/// Queries that one thread takes at a time: a multiple of a cell's points, a fraction of a
/// thread's share.
inline constexpr std::int64_t kQueryGrain = 2048;

}  // namespace sextant::detail::neighbours
