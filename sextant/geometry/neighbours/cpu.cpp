// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/neighbours/cpu.h"

#include <algorithm>

#include "sextant/core/for_each.h"
#include "sextant/geometry/neighbours/lanes.h"

namespace sextant::detail::neighbours {

namespace {

/// Distance above index: the order of a row as the order of numbers.
inline std::int64_t row_key(float distance_sq, std::int32_t index) {
  return std::int64_t{std::bit_cast<std::int32_t>(distance_sq)} << 32 | std::int64_t{index};
}

/// Ascending. The keys differ, so the number of smaller keys is a key's place: for short rows a few
/// wide comparisons find it faster than any branch. Reads and writes the keys up to the next eight.
template <class Set>
void sort_row(std::int64_t* keys, std::int64_t count) {
  constexpr int kWidth = 8;
  using Keys = Lanes<std::int64_t, kWidth, Set>;
  constexpr std::int64_t kMostByRank = 256;
  if (count > kMostByRank) {
    std::sort(keys, keys + count);
    return;
  }
  alignas(64) std::int64_t unsorted[kMostByRank];
  alignas(64) std::int64_t ranks[kMostByRank];
  std::copy(keys, keys + (count + kWidth - 1) / kWidth * kWidth, unsorted);
  for (std::int64_t first = 0; first < count; first += kWidth) {
    const Keys mine = Keys::load(unsorted + first);
    Keys rank;
    for (std::int64_t j = 0; j < count; ++j) rank.count_up(mine > unsorted[j]);
    rank.store(ranks + first);
  }
  for (std::int64_t j = 0; j < count; ++j) keys[ranks[j]] = unsorted[j];
}

/// The chosen candidates' keys, in the order of the tile. `keys` has room for kLanes more.
inline std::int64_t collect(const CandidateTile& tile, float threshold, std::int64_t* keys) {
  const float* distances = tile.distances_sq();
  const std::int32_t* indices = tile.indices();
  const std::int64_t end = tile.count();
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < end; ++i) {
    keys[found] = row_key(distances[i], indices[i]);
    found += distances[i] <= threshold;
  }
  return found;
}

struct NearestJob {
  NeighbourGridView grid;
  const GridPoint* queries;
  int k;
  std::int32_t* indices;
  float* distances_sq;

  template <class Set>
  void operator()(Set, std::int64_t begin, std::int64_t end) const {
    std::vector<std::int64_t> keys;
    auto found = [&](const GridPoint& query, const CandidateTile& tile, float threshold) {
      const auto room = static_cast<std::size_t>(min_of<std::int64_t>(k, tile.count()) + kLanes);
      if (keys.size() < room) keys.resize(room);
      const std::int64_t count = collect(tile, threshold, keys.data());
      sort_row<Set>(keys.data(), count);
      const std::int64_t row = std::int64_t{query.index} * k;
      for (std::int64_t j = 0; j < count; ++j) {
        const std::int64_t key = keys[static_cast<std::size_t>(j)];
        indices[row + j] = static_cast<std::int32_t>(key & 0xffffffff);
        distances_sq[row + j] = std::bit_cast<float>(static_cast<std::uint32_t>(key >> 32));
      }
      fill(row + count, row + k);
    };
    auto none = [&](const GridPoint& query) {
      const std::int64_t row = std::int64_t{query.index} * k;
      fill(row, row + k);
    };
    search_nearest<Set>(grid, queries, begin, end, k, found, none);
  }

  void fill(std::int64_t from, std::int64_t to) const {
    std::fill(indices + from, indices + to, -1);
    std::fill(distances_sq + from, distances_sq + to, std::numeric_limits<float>::infinity());
  }
};

struct CountJob {
  CountRow row;

  template <class Set>
  void operator()(Set, std::int64_t begin, std::int64_t end) const {
    auto found = [&](const GridPoint& query, const CandidateTile& tile, float threshold) {
      row.counts[query.index] = static_cast<std::int32_t>(tile.count_within<Set>(threshold));
    };
    auto none = [&](const GridPoint& query) { row.counts[query.index] = 0; };
    search_within<Set>(row.grid, row.queries, begin, end, row.radius_m, found, none);
  }
};

struct ListJob {
  ListRow row;

  template <class Set>
  void operator()(Set, std::int64_t begin, std::int64_t end) const {
    std::vector<std::int64_t> keys;
    auto found = [&](const GridPoint& query, const CandidateTile& tile, float threshold) {
      const auto room = static_cast<std::size_t>(tile.count() + kLanes);
      if (keys.size() < room) keys.resize(2 * room);
      const std::int64_t count = collect(tile, threshold, keys.data());
      if (row.by_distance) sort_row<Set>(keys.data(), count);
      const std::int64_t first = row.first[query.index];
      for (std::int64_t j = 0; j < count; ++j) {
        const std::int64_t key = keys[static_cast<std::size_t>(j)];
        row.indices[first + j] = static_cast<std::int32_t>(key & 0xffffffff);
        row.distances_sq[first + j] = std::bit_cast<float>(static_cast<std::uint32_t>(key >> 32));
      }
    };
    auto none = [](const GridPoint&) {};
    search_within<Set>(row.grid, row.queries, begin, end, row.radius_m, found, none);
  }
};

template <class Job>
void run(const Context& context, std::int64_t count, const Job& job) {
  for_each_chunk(context, count, kQueryGrain,
                 [&](std::int64_t begin, std::int64_t end) { run_widest(job, begin, end); });
}

}  // namespace

void find_rows_cpu(const Context& context, const NeighbourGridView& grid, const GridPoint* queries,
                   std::int64_t count, int k, std::int32_t* indices, float* distances_sq) {
  run(context, count, NearestJob{grid, queries, k, indices, distances_sq});
}

void count_rows_cpu(const Context& context, std::int64_t count, const CountRow& row) {
  run(context, count, CountJob{row});
}

void list_rows_cpu(const Context& context, std::int64_t count, const ListRow& row) {
  run(context, count, ListJob{row});
}

}  // namespace sextant::detail::neighbours
