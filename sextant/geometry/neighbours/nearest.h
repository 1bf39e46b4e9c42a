// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cfloat>
#include <cstring>

#include "sextant/geometry/neighbour_walk.h"

// The search for the nearest neighbours of one point, as one thread of a GPU does it. The CPU
// searches for all points of a cell at once (lanes.h), with the same result.

namespace sextant::detail::neighbours {

/// A candidate: the bits of its squared distance above its place in grid.points. Distances are not
/// negative, so their bits are ordered as they are.
using NearestEntry = std::uint64_t;

SEXTANT_HD inline NearestEntry nearest_entry(float distance_sq, std::uint32_t place) {
  std::uint32_t bits;
  memcpy(&bits, &distance_sq, sizeof bits);
  return std::uint64_t{bits} << 32 | place;
}
SEXTANT_HD inline std::uint32_t place_of(NearestEntry entry) {
  return static_cast<std::uint32_t>(entry);
}
SEXTANT_HD inline float distance_sq_of(NearestEntry entry) {
  const auto bits = static_cast<std::uint32_t>(entry >> 32);
  float distance_sq;
  memcpy(&distance_sq, &bits, sizeof bits);
  return distance_sq;
}

/// Entries in the thread's own memory.
template <int kCapacity>
struct LocalEntries {
  NearestEntry entry[kCapacity];
  SEXTANT_HD NearestEntry get(int i) const { return entry[i]; }
  SEXTANT_HD void set(int i, NearestEntry value) { entry[i] = value; }
};

/// Entries in the row of the result: for a k of any size.
struct RowEntries {
  std::int32_t* places;
  float* distances_sq;
  SEXTANT_HD NearestEntry get(int i) const {
    return nearest_entry(distances_sq[i], static_cast<std::uint32_t>(places[i]));
  }
  SEXTANT_HD void set(int i, NearestEntry value) {
    places[i] = static_cast<std::int32_t>(place_of(value));
    distances_sq[i] = distance_sq_of(value);
  }
};

/// The k nearest candidates seen so far, as a heap with the farthest on top.
template <class Entries>
struct NearestHeap {
  const GridPoint* points;
  int k;
  int size;
  Entries entries;

  SEXTANT_HD bool full() const { return size == k; }
  SEXTANT_HD float farthest_sq() const { return distance_sq_of(entries.get(0)); }

  /// By distance, then by the caller's index, which is looked up only for equal distances.
  SEXTANT_HD bool nearer(NearestEntry a, NearestEntry b) const {
    if ((a >> 32) != (b >> 32)) return a < b;
    return points[place_of(a)].index < points[place_of(b)].index;
  }

  SEXTANT_HD void push(NearestEntry entry) {
    if (full()) {
      if (nearer(entry, entries.get(0))) sift_down(entry, size);
      return;
    }
    int at = size++;
    while (at > 0) {
      const int parent = (at - 1) / 2;
      if (!nearer(entries.get(parent), entry)) break;
      entries.set(at, entries.get(parent));
      at = parent;
    }
    entries.set(at, entry);
  }

  /// Ascending; the heap is none afterwards.
  SEXTANT_HD void sort() {
    for (int last = size - 1; last > 0; --last) {
      const NearestEntry farthest = entries.get(0);
      sift_down(entries.get(last), last);
      entries.set(last, farthest);
    }
  }

 private:
  /// Replaces the top of the first `count` entries.
  SEXTANT_HD void sift_down(NearestEntry entry, int count) {
    int at = 0;
    for (int child = 1; child < count; child = 2 * at + 1) {
      if (child + 1 < count && nearer(entries.get(child), entries.get(child + 1))) ++child;
      if (!nearer(entry, entries.get(child))) break;
      entries.set(at, entries.get(child));
      at = child;
    }
    entries.set(at, entry);
  }
};

template <class Entries>
SEXTANT_HD void push_points_in(const NeighbourGridView& grid, const CellBox& box, const Vec3f& p,
                               NearestHeap<Entries>& heap) {
  heap.size = 0;
  for_each_run(grid, box, [&](std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t i = begin; i < end; ++i) {
      const float distance_sq = squared_distance(grid.points[i].position, p);
      if (!(distance_sq <= FLT_MAX)) continue;
      if (heap.full() && distance_sq > heap.farthest_sq()) continue;
      heap.push(nearest_entry(distance_sq, i));
    }
  });
}

/// Fills the heap with the nearest points of p, which is finite. Cells around p until there are k
/// candidates; then, unless these cells hold everything as near as the k-th, the cells that do.
template <class Entries>
SEXTANT_HD void find_nearest(const NeighbourGridView& grid, const Vec3f& p,
                             NearestHeap<Entries>& heap) {
  const GridFrame& frame = *grid.frame;
  const Vec3i cell = cell_of(frame, p);
  for (int reach = 1;; reach *= 2) {
    const CellBox box = cells_around(frame, cell, reach);
    push_points_in(grid, box, p, heap);
    if (is_whole_grid(frame, box)) return;
    if (!heap.full()) continue;
    const CellBox needed = cells_within(frame, p, heap.farthest_sq());
    if (!contains(box, needed)) push_points_in(grid, needed, p, heap);
    return;
  }
}

/// One row of k_nearest.
template <class Entries>
SEXTANT_HD void write_nearest_row(const NeighbourGridView& grid, const GridPoint& query,
                                  NearestHeap<Entries>& heap, std::int32_t* indices,
                                  float* distances_sq) {
  heap.size = 0;
  if (is_finite(query.position)) find_nearest(grid, query.position, heap);
  heap.sort();
  for (int j = 0; j < heap.k; ++j) {
    const bool found = j < heap.size;
    const NearestEntry entry = found ? heap.entries.get(j) : 0;
    indices[j] = found ? grid.points[place_of(entry)].index : -1;
    distances_sq[j] = found ? distance_sq_of(entry) : INFINITY;
  }
}

/// Above this the candidates do not fit into a thread's own memory.
inline constexpr int kMostLocalNeighbours = 64;

/// Query i of a list in cell order: row queries[i].index of the result.
template <int kCapacity>
struct NearestRow {
  NeighbourGridView grid;
  const GridPoint* queries;
  int k;
  std::int32_t* indices;
  float* distances_sq;

  SEXTANT_HD void operator()(std::int64_t i) const {
    const GridPoint query = queries[i];
    const std::int64_t row = std::int64_t{query.index} * k;
    if constexpr (kCapacity > 0) {
      NearestHeap<LocalEntries<kCapacity>> heap{grid.points, k, 0, {}};
      write_nearest_row(grid, query, heap, indices + row, distances_sq + row);
    } else {
      NearestHeap<RowEntries> heap{grid.points, k, 0, {indices + row, distances_sq + row}};
      write_nearest_row(grid, query, heap, indices + row, distances_sq + row);
    }
  }
};

/// counts[query] = neighbours within the radius.
struct CountRow {
  NeighbourGridView grid;
  const GridPoint* queries;
  float radius_m;
  std::int32_t* counts;

  SEXTANT_HD void operator()(std::int64_t i) const {
    const GridPoint query = queries[i];
    std::int32_t count = 0;
    if (is_finite(query.position)) {
      for_each_neighbour(grid, query.position, radius_m, [&](const GridPoint&, float) { ++count; });
    }
    counts[query.index] = count;
  }
};

/// Counts as the sums of a scan are: a last element that is 0 receives the total.
struct WidenCount {
  const std::int32_t* counts;
  std::int64_t size;
  std::int64_t* to;
  SEXTANT_HD void operator()(std::int64_t i) const { to[i] = i < size ? counts[i] : 0; }
};

/// Restores the order of a heap of list elements (farthest on top) below `at`.
SEXTANT_HD inline void sift_list(std::int32_t* indices, float* distances_sq, std::int64_t at,
                                 std::int64_t count) {
  const auto nearer = [&](std::int64_t a, std::int64_t b) {
    return distances_sq[a] < distances_sq[b] ||
           (distances_sq[a] == distances_sq[b] && indices[a] < indices[b]);
  };
  for (std::int64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && nearer(child, child + 1)) ++child;
    if (!nearer(at, child)) return;
    const std::int32_t index = indices[at];
    const float distance_sq = distances_sq[at];
    indices[at] = indices[child];
    distances_sq[at] = distances_sq[child];
    indices[child] = index;
    distances_sq[child] = distance_sq;
    at = child;
  }
}

/// Heap sort by distance, then index: in place, and never slow.
SEXTANT_HD inline void sort_list(std::int32_t* indices, float* distances_sq, std::int64_t count) {
  for (std::int64_t at = count / 2 - 1; at >= 0; --at) {
    sift_list(indices, distances_sq, at, count);
  }
  for (std::int64_t last = count - 1; last > 0; --last) {
    const std::int32_t index = indices[0];
    const float distance_sq = distances_sq[0];
    indices[0] = indices[last];
    distances_sq[0] = distances_sq[last];
    indices[last] = index;
    distances_sq[last] = distance_sq;
    sift_list(indices, distances_sq, 0, last);
  }
}

/// The list of one query, from first[query] on.
struct ListRow {
  NeighbourGridView grid;
  const GridPoint* queries;
  float radius_m;
  bool by_distance;
  const std::int64_t* first;
  std::int32_t* indices;
  float* distances_sq;

  SEXTANT_HD void operator()(std::int64_t i) const {
    const GridPoint query = queries[i];
    if (!is_finite(query.position)) return;
    const std::int64_t begin = first[query.index];
    std::int64_t at = begin;
    for_each_neighbour(grid, query.position, radius_m,
                       [&](const GridPoint& neighbour, float distance_sq) {
                         indices[at] = neighbour.index;
                         distances_sq[at] = distance_sq;
                         ++at;
                       });
    if (by_distance) sort_list(indices + begin, distances_sq + begin, at - begin);
  }
};

void find_rows_cuda(const Context& context, const NeighbourGridView& grid, const GridPoint* queries,
                    std::int64_t count, int k, std::int32_t* indices, float* distances_sq);

}  // namespace sextant::detail::neighbours
