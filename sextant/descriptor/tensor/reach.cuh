// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/tensor/block.cuh"
#include "sextant/descriptor/tensor/tile_math.h"

// Which triangles of an organised surface count for a tensor: those that meet its cube and, when it
// grows, are connected with the pair. Each tile that may meet the cube has two words of bits. For
// .cu files only.

namespace sextant::detail::tensor {

/// A block's tables of tiles, in shared or in global memory.
struct TileTables {
  TilePlace* tile;    ///< that may meet the cube; in any order
  int* counting;      ///< places in the tables of tiles with triangles that count; in any order
  int* place;         ///< in the tables, of each tile in a window of tiles; -1 of others
  TileBits* open;     ///< triangles that meet the cube
  TileBits* reached;  ///< those that count
  int most_tiles;
  int most_places;
};

/// Which tiles the tables have, and the window around them.
struct TilesFound {
  int tiles, counting;
  int column0, row0, column1, row1;

  __device__ void clear() {
    tiles = counting = 0;
    column0 = row0 = INT32_MAX;
    column1 = row1 = 0;
  }
  __device__ int across() const { return column1 - column0; }
  __device__ std::int64_t places() const { return std::int64_t{across()} * (row1 - row0); }
  __device__ bool has(int column, int row) const {
    return column >= column0 && column < column1 && row >= row0 && row < row1;
  }
  __device__ int place_of(int column, int row) const {
    return (row - row0) * across() + column - column0;
  }
};

/// Lists the tiles that may meet the cube; all threads of the block call it. Tiles without room are
/// counted alone.
__device__ inline void list_tiles(const TensorJob& job, const TensorCube& cube, int* listed,
                                  int* length, TilesFound& found, const TileTables& tables) {
  for_each_box(cube, job.boxes, job.groups(), listed, length, [&](int group, int tile) {
    const TilePlace place = job.tile_place(group, tile);
    atomicMin(&found.column0, place.column);
    atomicMin(&found.row0, place.row);
    atomicMax(&found.column1, place.column + 1);
    atomicMax(&found.row1, place.row + 1);
    const int at = atomicAdd(&found.tiles, 1);
    if (at < tables.most_tiles) tables.tile[at] = place;
  });
}

inline constexpr int kCornersAlong = kTileCells + 1;
inline constexpr int kTileCorners = kCornersAlong * kCornersAlong;

/// A corner of the cells of a tile, row by row. Outside the image it is one of the border, and no
/// triangle has it.
__device__ inline Vec3f corner_of(const TensorJob& job, const CellWindow& cells, int corner) {
  return job.surface.points(min_of(cells.u0 + corner % kCornersAlong, cells.u1),
                            min_of(cells.v0 + corner / kCornersAlong, cells.v1));
}

/// A warp takes a tile: it finds first the sides of the cube on which its corners lie, then its
/// triangles. `sides` has room for kTileCorners of each warp.
__device__ inline void find_triangles(const TensorJob& job, const TensorCube& cube,
                                      const TilesFound& found, std::uint8_t* sides,
                                      const TileTables& tables) {
  constexpr int kCellTurns = kTileCells * kTileCells / kWarp;
  constexpr int kCornerTurns = (kTileCorners + kWarp - 1) / kWarp;
  const int lane = lane_index();
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const bool all = job.mode == TensorMode::kAll;
  std::uint8_t* own = sides + warp * kTileCorners;
  for (int i = warp; i < found.tiles; i += block_warps()) {
    const CellWindow cells = job.cells_of(tables.tile[i]);
    // All reads from global memory come first, so that they are waited for once. Cells outside the
    // image have no triangles.
    unsigned exists[kCellTurns];
#pragma unroll
    for (int turn = 0; turn < kCellTurns; ++turn) {
      const int cell = turn * kWarp + lane;
      const int u = cells.u0 + cell % kTileCells;
      const int v = cells.v0 + cell / kTileCells;
      exists[turn] = u < cells.u1 && v < cells.v1 ? job.surface.cells(u, v) : 0u;
    }
    Vec3f points[kCornerTurns];
#pragma unroll
    for (int turn = 0; turn < kCornerTurns; ++turn) {
      points[turn] = corner_of(job, cells, min_of(turn * kWarp + lane, kTileCorners - 1));
    }
#pragma unroll
    for (int turn = 0; turn < kCornerTurns; ++turn) {
      const int corner = turn * kWarp + lane;
      const unsigned on = sides_of(cube, cube.local(points[turn]));
      if (corner < kTileCorners) own[corner] = static_cast<std::uint8_t>(on);
    }
    __syncwarp();
    TileBits open{0, 0};
#pragma unroll
    for (int turn = 0; turn < kCellTurns; ++turn) {
      const int cell = turn * kWarp + lane;
      const std::uint8_t* here = own + cell / kTileCells * kCornersAlong + cell % kTileCells;
      const unsigned right = here[1], below = here[kCornersAlong];
      const bool first = (exists[turn] & 1) && meets_cube(here[0], below, right);
      const bool second = (exists[turn] & 2) && meets_cube(right, below, here[kCornersAlong + 1]);
      open.first |= std::uint64_t{__ballot_sync(kAllLanes, first)} << (turn * kWarp);
      open.second |= std::uint64_t{__ballot_sync(kAllLanes, second)} << (turn * kWarp);
    }
    if (lane == 0) {
      tables.open[i] = open;
      tables.reached[i] = all ? open : TileBits{0, 0};
    }
    __syncwarp();  // the next tile's sides come to the same place
  }
}

/// Says of each tile of the window where it is in the tables.
__device__ inline void fill_places(const TilesFound& found, const TileTables& tables) {
  const int places = static_cast<int>(found.places());
  for (int i = threadIdx.x; i < places; i += block_threads()) tables.place[i] = -1;
  __syncthreads();
  for (int i = threadIdx.x; i < found.tiles; i += block_threads()) {
    const TilePlace tile = tables.tile[i];
    tables.place[found.place_of(tile.column, tile.row)] = i;
  }
}

/// Reaches the triangles around both ends of the pair: eight threads, a cell each.
__device__ inline void reach_pair(const TensorJob& job, const PointPair& pair,
                                  const TilesFound& found, const TileTables& tables) {
  if (threadIdx.x >= 8) return;
  const std::int32_t point = threadIdx.x < 4 ? pair.p : pair.q;
  const int left = static_cast<int>(threadIdx.x) & 1, up = static_cast<int>(threadIdx.x) >> 1 & 1;
  const int u = point % job.surface.points.width - left;
  const int v = point / job.surface.points.width - up;
  if (u < 0 || v < 0 || !found.has(u / kTileCells, v / kTileCells)) return;
  const int at = tables.place[found.place_of(u / kTileCells, v / kTileCells)];
  if (at < 0) return;
  using Word = unsigned long long;  // as atomicOr has it
  const Word bit = Word{1} << (v % kTileCells * kTileCells + u % kTileCells);
  // The point is a corner of the first triangle but below and to the right, of the second but above
  // and to the left.
  if (!(left && up)) {
    atomicOr(reinterpret_cast<Word*>(&tables.reached[at].first), bit & tables.open[at].first);
  }
  if (left || up) {
    atomicOr(reinterpret_cast<Word*>(&tables.reached[at].second), bit & tables.open[at].second);
  }
}

/// Grows until nothing more is reached. A thread floods a tile; all read before any writes.
__device__ inline void grow_over_tiles(const TilesFound& found, const TileTables& tables) {
  int changed = 1;
  while (changed) {
    changed = 0;
    for (int begin = 0; begin < found.tiles; begin += block_threads()) {
      const int i = begin + static_cast<int>(threadIdx.x);
      TileBits before{0, 0}, after{0, 0};
      if (i < found.tiles) {
        const auto [column, row] = tables.tile[i];
        const auto tile_at = [&](int c, int r) {
          const int at = found.has(c, r) ? tables.place[found.place_of(c, r)] : -1;
          return at < 0 ? TileBits{0, 0} : tables.reached[at];
        };
        before = tables.reached[i];
        const TileBits from = reached_across(tile_at(column - 1, row), tile_at(column + 1, row),
                                             tile_at(column, row - 1), tile_at(column, row + 1));
        after = flooded(tables.open[i], {before.first | from.first, before.second | from.second});
      }
      __syncthreads();
      if (!(after == before)) {
        tables.reached[i] = after;
        changed = 1;
      }
      __syncthreads();
    }
    changed = __syncthreads_or(changed);
  }
}

}  // namespace sextant::detail::tensor
