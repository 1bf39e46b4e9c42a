// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/vec.h"
#include "sextant/core/view.h"

namespace sextant {

/// A point in cell order and where it stands in the caller's array.
struct alignas(16) GridPoint {
  Vec3f position;
  std::int32_t index = 0;
};

namespace detail {

inline constexpr int kBrickEdge = 4;              ///< cells along an edge of a brick
inline constexpr int kMostCells = 1 << 21;        ///< along an axis; a brick's number has 57 bits
inline constexpr std::int64_t kGridPadding = 16;  ///< points that a wide load may read past the end

/// Where the cells lie. In device memory, so that building a grid never waits.
struct GridFrame {
  Vec3f low;  ///< corner of cell (0, 0, 0)
  float cell_m = 1.0f;
  float inverse_cell = 1.0f;
  Vec3i cells{1, 1, 1};          ///< number of cells along the axes
  std::int32_t points = 0;       ///< in cells
  std::int32_t used_cells = 0;   ///< occupied cells
  std::int32_t bricks = 0;       ///< occupied bricks
  std::uint32_t table_mask = 0;  ///< size of the hash table - 1
  std::int32_t settled = 0;      ///< the automatic cell size is good enough
};

/// 4 × 4 × 4 cells; bit x + 4 y + 16 z of the mask says which are occupied.
struct GridBrick {
  std::uint64_t number = 0;  ///< x + y nx + z nx ny among all bricks of the frame
  std::uint64_t mask = 0;
  std::uint32_t first_cell = 0;  ///< its occupied cells follow each other from here, in bit order
};

/// A box of cells, both ends included.
struct CellBox {
  Vec3i low, high;
};

}  // namespace detail

/// A grid as kernels see it; trivially copyable.
struct NeighbourGridView {
  /// Cell by cell, in a cell by index; at the end, as NaN, holes and copies that no cell holds.
  const GridPoint* points = nullptr;
  const std::uint32_t* cell_first = nullptr;
  const detail::GridBrick* bricks = nullptr;
  const std::int32_t* table = nullptr;  ///< number of a brick -> its place in `bricks`, or -1
  const detail::GridFrame* frame = nullptr;
  std::int64_t size = 0;  ///< with holes
};

/// Rounded after every operation, so that every device finds the same neighbours.
SEXTANT_HD inline float squared_distance(const Vec3f& a, const Vec3f& b) {
  const Vec3f d = a - b;
#if defined(__CUDA_ARCH__)
  return __fadd_rn(__fadd_rn(__fmul_rn(d.x, d.x), __fmul_rn(d.y, d.y)), __fmul_rn(d.z, d.z));
#else
  return d.x * d.x + d.y * d.y + d.z * d.z;
#endif
}

namespace detail {

SEXTANT_HD inline int count_bits(std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return __popcll(bits);
#else
  return __builtin_popcountll(bits);
#endif
}

/// Monotone in the coordinate, which all proofs of completeness rest on. The cells at the rim reach
/// to infinity.
SEXTANT_HD inline int cell_along(float coordinate, float low, float inverse_cell, int cells) {
  const float at = (coordinate - low) * inverse_cell;
  return static_cast<int>(clamp(at, 0.0f, static_cast<float>(cells - 1)));
}
SEXTANT_HD inline Vec3i cell_of(const GridFrame& frame, const Vec3f& p) {
  return {cell_along(p.x, frame.low.x, frame.inverse_cell, frame.cells.x),
          cell_along(p.y, frame.low.y, frame.inverse_cell, frame.cells.y),
          cell_along(p.z, frame.low.z, frame.inverse_cell, frame.cells.z)};
}

/// The box without what lies outside the grid.
SEXTANT_HD inline CellBox clipped(const GridFrame& frame, const CellBox& box) {
  return {{max_of(box.low.x, 0), max_of(box.low.y, 0), max_of(box.low.z, 0)},
          {min_of(box.high.x, frame.cells.x - 1), min_of(box.high.y, frame.cells.y - 1),
           min_of(box.high.z, frame.cells.z - 1)}};
}

/// The cells at most `reach` cells away from the cell.
SEXTANT_HD inline CellBox cells_around(const GridFrame& frame, const Vec3i& cell, int reach) {
  return clipped(frame, {{cell.x - reach, cell.y - reach, cell.z - reach},
                         {cell.x + reach, cell.y + reach, cell.z + reach}});
}

/// Every cell that can hold a point whose computed squared distance is at most distance_sq. The
/// distance and its end points are rounded outwards: 4e-7 is more than six roundings.
SEXTANT_HD inline CellBox cells_within(const GridFrame& frame, const Vec3f& p, float distance_sq) {
  constexpr float kSlack = 4e-7f;
  constexpr float kLeastReach = 1e-22f;  // squares of less are not normal numbers
  const float reach = std::sqrt(distance_sq) * (1.0f + kSlack) + kLeastReach;
  const Vec3f r{reach + (std::abs(p.x) + reach) * kSlack, reach + (std::abs(p.y) + reach) * kSlack,
                reach + (std::abs(p.z) + reach) * kSlack};
  return clipped(frame, {cell_of(frame, p - r), cell_of(frame, p + r)});
}

SEXTANT_HD inline bool contains(const CellBox& outer, const CellBox& inner) {
  return outer.low.x <= inner.low.x && outer.low.y <= inner.low.y && outer.low.z <= inner.low.z &&
         outer.high.x >= inner.high.x && outer.high.y >= inner.high.y &&
         outer.high.z >= inner.high.z;
}

SEXTANT_HD inline bool is_whole_grid(const GridFrame& frame, const CellBox& box) {
  return contains(box, {{0, 0, 0}, {frame.cells.x - 1, frame.cells.y - 1, frame.cells.z - 1}});
}

SEXTANT_HD inline int bricks_along(int cells) { return (cells + kBrickEdge - 1) / kBrickEdge; }

SEXTANT_HD inline std::uint64_t brick_number(const GridFrame& frame, const Vec3i& brick) {
  const std::uint64_t nx = static_cast<std::uint64_t>(bricks_along(frame.cells.x));
  const std::uint64_t ny = static_cast<std::uint64_t>(bricks_along(frame.cells.y));
  return static_cast<std::uint64_t>(brick.x) +
         nx * (static_cast<std::uint64_t>(brick.y) + ny * static_cast<std::uint64_t>(brick.z));
}

SEXTANT_HD inline std::uint32_t hash_of(std::uint64_t number) {
  return static_cast<std::uint32_t>((number * 0x9E3779B97F4A7C15u) >> 32);
}

/// The occupied brick, or null.
SEXTANT_HD inline const GridBrick* find_brick(const NeighbourGridView& grid, std::uint64_t number) {
  const std::uint32_t mask = grid.frame->table_mask;
  for (std::uint32_t slot = hash_of(number) & mask;; slot = (slot + 1) & mask) {
    const std::int32_t at = grid.table[slot];
    if (at < 0) return nullptr;
    if (grid.bricks[at].number == number) return grid.bricks + at;
  }
}

/// Calls f(begin, end) for the runs of grid.points in those cells of one brick that lie in the box.
template <class Function>
SEXTANT_HD void for_each_run_in_brick(const NeighbourGridView& grid, const GridBrick& brick,
                                      const Vec3i& at, const CellBox& box, Function& f) {
  const int x0 = max_of(box.low.x - at.x * kBrickEdge, 0);
  const int y0 = max_of(box.low.y - at.y * kBrickEdge, 0);
  const int z0 = max_of(box.low.z - at.z * kBrickEdge, 0);
  const int x1 = min_of(box.high.x - at.x * kBrickEdge, kBrickEdge - 1);
  const int y1 = min_of(box.high.y - at.y * kBrickEdge, kBrickEdge - 1);
  const int z1 = min_of(box.high.z - at.z * kBrickEdge, kBrickEdge - 1);
  if (x0 > x1) return;
  const std::uint64_t row = ((std::uint64_t{2} << (x1 - x0)) - 1) << x0;
  for (int z = z0; z <= z1; ++z) {
    for (int y = y0; y <= y1; ++y) {
      const int shift = kBrickEdge * (y + kBrickEdge * z);
      const std::uint64_t chosen = brick.mask & (row << shift);
      if (chosen == 0) continue;
      const std::uint64_t below = (std::uint64_t{1} << (shift + x0)) - 1;
      const std::uint32_t* first = grid.cell_first + brick.first_cell +
                                   static_cast<std::uint32_t>(count_bits(brick.mask & below));
      f(first[0], first[count_bits(chosen)]);
    }
  }
}

/// Calls f(begin, end) for runs of grid.points that together are the points in a clipped box, each
/// once, in an order that depends on grid and box alone.
template <class Function>
SEXTANT_HD void for_each_run(const NeighbourGridView& grid, const CellBox& box, Function&& f) {
  const GridFrame& frame = *grid.frame;
  if (box.low.x > box.high.x || box.low.y > box.high.y || box.low.z > box.high.z) return;
  const Vec3i low{box.low.x / kBrickEdge, box.low.y / kBrickEdge, box.low.z / kBrickEdge};
  const Vec3i high{box.high.x / kBrickEdge, box.high.y / kBrickEdge, box.high.z / kBrickEdge};
  const float volume = static_cast<float>(high.x - low.x + 1) *
                       static_cast<float>(high.y - low.y + 1) *
                       static_cast<float>(high.z - low.z + 1);
  if (volume > static_cast<float>(frame.bricks) + 8.0f) {
    // A box that is mostly empty: its occupied bricks are found faster in the list of all.
    const std::uint64_t nx = static_cast<std::uint64_t>(bricks_along(frame.cells.x));
    const std::uint64_t ny = static_cast<std::uint64_t>(bricks_along(frame.cells.y));
    for (std::int32_t i = 0; i < frame.bricks; ++i) {
      const GridBrick& brick = grid.bricks[i];
      const std::uint64_t yz = brick.number / nx;
      const Vec3i at{static_cast<int>(brick.number % nx), static_cast<int>(yz % ny),
                     static_cast<int>(yz / ny)};
      for_each_run_in_brick(grid, brick, at, box, f);
    }
    return;
  }
  for (int z = low.z; z <= high.z; ++z) {
    for (int y = low.y; y <= high.y; ++y) {
      for (int x = low.x; x <= high.x; ++x) {
        const GridBrick* brick = find_brick(grid, brick_number(frame, {x, y, z}));
        if (brick) for_each_run_in_brick(grid, *brick, {x, y, z}, box, f);
      }
    }
  }
}

}  // namespace detail

/// Calls f(const GridPoint& neighbour, float distance_sq) for every point of the grid whose squared
/// distance from `p` is at most radius_m * radius_m, `p` itself included when it is one of them.
/// The order depends on the grid and on p alone. Nothing is stored: voting, descriptors and normals
/// run in the memory of their result. `p` is finite.
template <class Function>
SEXTANT_HD void for_each_neighbour(const NeighbourGridView& grid, const Vec3f& p, float radius_m,
                                   Function&& f) {
  const float radius_sq = radius_m * radius_m;
  detail::for_each_run(grid, detail::cells_within(*grid.frame, p, radius_sq),
                       [&](std::uint32_t begin, std::uint32_t end) {
                         for (std::uint32_t i = begin; i < end; ++i) {
                           const GridPoint neighbour = grid.points[i];
                           const float distance_sq = squared_distance(neighbour.position, p);
                           if (distance_sq <= radius_sq) f(neighbour, distance_sq);
                         }
                       });
}

}  // namespace sextant
