// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/tensor_block.cuh"

// Which triangles of an organised surface count for a tensor: those that meet its cube and, when it
// grows, are connected with the pair. Bitmaps of a window, two bits a cell. For .cu files only.

namespace sextant::detail {

/// Words of the bitmaps that a window may have in shared memory: 256 × 128 cells. With the defaults
/// a cube sees some 40 × 40.
constexpr int kSharedWords = 1024;

/// The corners of the triangle at a bit of a word.
struct LocalTriangle {
  Vec3f a, b, c;
};
__device__ inline LocalTriangle triangle_at(const TensorJob& job, const TensorCube& cube, int u,
                                            int v, int second) {
  const ImageView<const Vec3f>& points = job.surface.points;
  const Vec3f right = cube.local(points(u + 1, v));
  const Vec3f below = cube.local(points(u, v + 1));
  if (second) return {right, below, cube.local(points(u + 1, v + 1))};
  return {cube.local(points(u, v)), below, right};
}

/// The triangles of a cell that meet the cube, and those of them that have an end of the pair.
struct CellTriangles {
  bool first = false, second = false;
  bool first_seed = false, second_seed = false;
};
__device__ inline CellTriangles triangles_of(const TensorJob& job, const TensorCube& cube,
                                             const PointPair& pair, int u, int v) {
  CellTriangles found;
  const std::uint8_t cell = job.surface.cells(u, v);
  if ((cell & 3) == 0) return found;
  const int width = job.surface.points.width;
  const std::int32_t here = v * width + u;
  const auto is_end = [&](std::int32_t point) { return point == pair.p || point == pair.q; };
  const bool shared_seed = is_end(here + 1) || is_end(here + width);
  if (cell & 1) {
    const LocalTriangle t = triangle_at(job, cube, u, v, 0);
    found.first = cube.meets(t.a, t.b, t.c);
    found.first_seed = found.first && (shared_seed || is_end(here));
  }
  if (cell & 2) {
    const LocalTriangle t = triangle_at(job, cube, u, v, 1);
    found.second = cube.meets(t.a, t.b, t.c);
    found.second_seed = found.second && (shared_seed || is_end(here + width + 1));
  }
  return found;
}

/// The same of the lanes of a warp, a bit each.
struct WarpTriangles {
  unsigned first, second, first_seed, second_seed;

  __device__ explicit WarpTriangles(const CellTriangles& own)
      : first(__ballot_sync(kAllLanes, own.first)),
        second(__ballot_sync(kAllLanes, own.second)),
        first_seed(__ballot_sync(kAllLanes, own.first_seed)),
        second_seed(__ballot_sync(kAllLanes, own.second_seed)) {}

  /// Two bits a cell, of the cells in `lanes` from lane `begin` on.
  __device__ std::uint64_t open(int begin, unsigned lanes) const {
    return spread_bits(first >> begin & lanes) | spread_bits(second >> begin & lanes) << 1;
  }
  __device__ std::uint64_t seeds(int begin, unsigned lanes) const {
    return spread_bits(first_seed >> begin & lanes) | spread_bits(second_seed >> begin & lanes)
                                                          << 1;
  }
};

/// A warp makes a word: lane u looks at cell u.
__device__ inline void find_in_window(const TensorJob& job, const TensorCube& cube,
                                      const PointPair& pair, const CellWindow& window,
                                      std::uint64_t* open, std::uint64_t* reached) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  const int words = window.words();
  for (int i = threadIdx.x / kWarpLanes; i < window.rows() * words; i += kTensorWarps) {
    const int u = window.u0 + i % words * kCellsPerWord + lane;
    const int v = window.v0 + i / words;
    const WarpTriangles found(u < window.u1 ? triangles_of(job, cube, pair, u, v)
                                            : CellTriangles{});
    if (lane == 0) {
      open[i] = found.open(0, kAllLanes);
      reached[i] = job.mode == TensorMode::kAll ? open[i] : found.seeds(0, kAllLanes);
    }
  }
}

/// A warp takes a tile (group · kTilesPerGroup + tile), four of its rows at a time. Tiles begin at
/// multiples of their width, and so does the window: the cells of a row lie in one word.
__device__ inline void find_in_tiles(const TensorJob& job, const TensorCube& cube,
                                     const PointPair& pair, const CellWindow& window,
                                     const int* tiles, int count, std::uint64_t* open,
                                     std::uint64_t* reached) {
  constexpr int kRowsAtOnce = kWarpLanes / kTileCells;
  constexpr unsigned kRowLanes = (1u << kTileCells) - 1;
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  const int words = window.words();
  for (int i = threadIdx.x; i < window.rows() * words; i += kTensorThreads) {
    open[i] = 0;
    reached[i] = 0;
  }
  __syncthreads();
  for (int i = threadIdx.x / kWarpLanes; i < count; i += kTensorWarps) {
    const CellWindow cells = job.tile_window(tiles[i] / kTilesPerGroup, tiles[i] % kTilesPerGroup);
    for (int top = cells.v0; top < cells.v1; top += kRowsAtOnce) {
      const int u = cells.u0 + lane % kTileCells;
      const int v = top + lane / kTileCells;
      const bool inside = u < cells.u1 && v < cells.v1;
      const WarpTriangles found(inside ? triangles_of(job, cube, pair, u, v) : CellTriangles{});
      const int row = top + lane;
      if (lane >= kRowsAtOnce || row >= cells.v1) continue;
      const std::uint64_t all = found.open(lane * kTileCells, kRowLanes);
      if (all == 0) continue;
      const int column = cells.u0 - window.u0;
      const int word = (row - window.v0) * words + column / kCellsPerWord;
      const int shift = 2 * (column % kCellsPerWord);
      const std::uint64_t seeds =
          job.mode == TensorMode::kAll ? all : found.seeds(lane * kTileCells, kRowLanes);
      using Word = unsigned long long;  // as atomicOr has it
      atomicOr(reinterpret_cast<Word*>(open + word), static_cast<Word>(all << shift));
      if (seeds)
        atomicOr(reinterpret_cast<Word*>(reached + word), static_cast<Word>(seeds << shift));
    }
  }
}

/// What word i has reached after one more step.
__device__ inline std::uint64_t grown_word(const CellWindow& window, const std::uint64_t* open,
                                           const volatile std::uint64_t* reached, int i) {
  const int words = window.words();
  const int all = window.rows() * words;
  const int column = i % words;
  const std::uint64_t from =
      reached_from(i >= words ? reached[i - words] : 0, i + words < all ? reached[i + words] : 0,
                   column > 0 ? reached[i - 1] : 0, column + 1 < words ? reached[i + 1] : 0);
  return filled_runs(open[i], reached[i] | from);
}

/// Until nothing more is reached, with the bitmaps in shared memory: all read, then all write.
__device__ inline void grow_in_steps(const CellWindow& window, const std::uint64_t* open,
                                     std::uint64_t* reached) {
  constexpr int kWordsPerThread = kSharedWords / kTensorThreads;
  const int all = window.rows() * window.words();
  int changed = 1;
  while (changed) {
    std::uint64_t grown[kWordsPerThread];
#pragma unroll
    for (int k = 0; k < kWordsPerThread; ++k) {
      const int i = static_cast<int>(threadIdx.x) + k * kTensorThreads;
      grown[k] = i < all ? grown_word(window, open, reached, i) : 0;
    }
    __syncthreads();
    changed = 0;
#pragma unroll
    for (int k = 0; k < kWordsPerThread; ++k) {
      const int i = static_cast<int>(threadIdx.x) + k * kTensorThreads;
      if (i >= all || reached[i] == grown[k]) continue;
      reached[i] = grown[k];
      changed = 1;
    }
    changed = __syncthreads_or(changed);
  }
}

/// The same in global memory. Words are changed while others read them: a thread may see the old or
/// the new one, and what is reached in the end is the same.
__device__ inline void grow_at_once(const CellWindow& window, const std::uint64_t* open,
                                    volatile std::uint64_t* reached) {
  const int all = window.rows() * window.words();
  int changed = 1;
  while (changed) {
    changed = 0;
    for (int i = threadIdx.x; i < all; i += kTensorThreads) {
      const std::uint64_t grown = grown_word(window, open, reached, i);
      if (grown == reached[i]) continue;
      reached[i] = grown;
      changed = 1;
    }
    changed = __syncthreads_or(changed);
  }
}

}  // namespace sextant::detail
