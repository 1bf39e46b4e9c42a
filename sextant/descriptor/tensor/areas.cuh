// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/tensor/reach.cuh"

// Adds up the areas of the triangles that count for a tensor. For .cu files only.

namespace sextant::detail::tensor {

/// Tiles whose triangles are added together. With the defaults a tensor has some 17 that count.
inline constexpr int kBatchTiles = 24;

/// The corners of the tiles of a batch in the frame of the tensor, and its triangles by what there
/// is to do for them, so that the lanes of a warp do the same. They stand in any order, as the sums
/// do not depend on it.
struct TileBatch {
  static constexpr int kTriangles = 2 * kTileCells * kTileCells;  ///< of a tile
  static constexpr int kRoom = kBatchTiles * kTriangles;
  float x[kBatchTiles * kTileCorners];
  float y[kBatchTiles * kTileCorners];
  float z[kBatchTiles * kTileCorners];
  // Kinds 0 and 1, and 2 and 3, wait in one list each, from its begin and from its end.
  std::uint16_t waiting[2 * kRoom];  ///< tile · kTriangles + second · 64 + cell

  __device__ static int place_of(int kind, int n) {
    return kind / 2 * kRoom + (kind % 2 == 0 ? n : kRoom - 1 - n);
  }
  __device__ Vec3f corner(int i) const { return {x[i], y[i], z[i]}; }
};

/// The corners of a triangle of a batch.
struct LocalTriangle {
  Vec3f a, b, c;

  __device__ LocalTriangle(const TileBatch& batch, int triangle) {
    const int cell = triangle % 64;
    const int second = triangle / 64 % 2;
    const int here = triangle / TileBatch::kTriangles * kTileCorners +
                     cell / kTileCells * kCornersAlong + cell % kTileCells;
    a = batch.corner(here + second);
    b = batch.corner(here + kCornersAlong);
    c = batch.corner(here + 1 + second * kCornersAlong);
  }
};

/// Lists the tiles with triangles that count.
__device__ inline void list_counting(TilesFound& found, const TileTables& tables) {
  for (int i = threadIdx.x; i < found.tiles; i += block_threads()) {
    if (!tables.reached[i].empty()) tables.counting[atomicAdd(&found.counting, 1)] = i;
  }
}

/// Loads the corners of the tiles. The frame of tensor t is read once more, so that its registers
/// are free while triangles are cut.
__device__ inline void load_corners(const TensorJob& job, std::int64_t t, const TileTables& tables,
                                    int begin, int tiles, TileBatch& batch) {
  const TensorCube cube(job.out.frames[t], job.out.bins);
#pragma unroll 2  // several reads on their way
  for (int i = threadIdx.x; i < tiles * kTileCorners; i += block_threads()) {
    const CellWindow cells = job.cells_of(tables.tile[tables.counting[begin + i / kTileCorners]]);
    const Vec3f local = cube.local(corner_of(job, cells, i % kTileCorners));
    batch.x[i] = local.x;
    batch.y[i] = local.y;
    batch.z[i] = local.z;
  }
}

/// Puts each triangle of the batch into the list of its kind; a warp takes half a tile's first or
/// second triangles. `counts` are those of the four kinds, in shared memory.
__device__ inline void sort_triangles(const TileTables& tables, int begin, int tiles, int bins,
                                      int* counts, TileBatch& batch) {
  const int lane = lane_index();
  for (int i = threadIdx.x; i < tiles * TileBatch::kTriangles; i += block_threads()) {
    const TileBits& reached = tables.reached[tables.counting[begin + i / TileBatch::kTriangles]];
    const std::uint64_t bits = i / 64 % 2 ? reached.second : reached.first;
    const bool counts_here = bits >> (i % 64) & 1;
    if (!__any_sync(kAllLanes, counts_here)) continue;
    int kind = -1;
    if (counts_here) {
      const LocalTriangle t(batch, i);
      kind = cut_kind(t.a, t.b, t.c, bins);
    }
    unsigned same = 0, of_lane = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const unsigned lanes = __ballot_sync(kAllLanes, kind == k);
      if (kind == k) same = lanes;
      if (lane == k) of_lane = lanes;
    }
    const int first = lane < 4 ? atomicAdd(&counts[lane], __popc(of_lane)) : 0;
    const int of_kind = __shfl_sync(kAllLanes, first, kind < 0 ? 0 : kind);
    if (kind < 0) continue;
    const int n = of_kind + __popc(same & lanes_before());
    batch.waiting[TileBatch::place_of(kind, n)] = static_cast<std::uint16_t>(i);
  }
}

/// Adds those with most to do first; no warp has triangles of two kinds.
__device__ inline void add_triangles(const TileBatch& batch, const int* counts, int bins,
                                     BlockSums& sums) {
  const auto add = [&](int bin, std::uint32_t area) { sums.add(bin, area); };
  const auto padded = [](int count) { return (count + kWarp - 1) / kWarp * kWarp; };
  const int begin2 = padded(counts[3]);
  const int begin1 = begin2 + padded(counts[2]);
  const int begin0 = begin1 + padded(counts[1]);
  const int end = begin0 + counts[0];
  for (int i = threadIdx.x; i < end; i += block_threads()) {
    const int kind = i < begin2 ? 3 : i < begin1 ? 2 : i < begin0 ? 1 : 0;
    const int n = i - (kind == 3 ? 0 : kind == 2 ? begin2 : kind == 1 ? begin1 : begin0);
    if (n >= counts[kind]) continue;
    const LocalTriangle t(batch, batch.waiting[TileBatch::place_of(kind, n)]);
    if (kind == 0) {
      add_whole(t.a, t.b, t.c, bins, add);
    } else if (kind == 1) {
      add_cut_once(t.a, t.b, t.c, bins, add);
    } else if (kind == 2) {
      add_cut_twice(t.a, t.b, t.c, bins, add);
    } else {
      add_cut_further(
          t.a, t.b, t.c, bins, add,
          [&](const Vec3f& a, const Vec3f& b, const Vec3f& c) { add_long(a, b, c, bins, sums); });
    }
  }
}

/// All threads of the block call it; `counts` has room for the four kinds.
__device__ inline void add_areas(const TensorJob& job, std::int64_t t, const TileTables& tables,
                                 TilesFound& found, int* counts, TileBatch& batch,
                                 BlockSums& sums) {
  list_counting(found, tables);
  __syncthreads();
  for (int begin = 0; begin < found.counting; begin += kBatchTiles) {
    const int tiles = min_of(kBatchTiles, found.counting - begin);
    if (threadIdx.x < 4) counts[threadIdx.x] = 0;
    load_corners(job, t, tables, begin, tiles, batch);
    __syncthreads();
    sort_triangles(tables, begin, tiles, job.out.bins, counts, batch);
    __syncthreads();
    add_triangles(batch, counts, job.out.bins, sums);
    __syncthreads();
  }
}

}  // namespace sextant::detail::tensor
