// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/cuda/matrix.cuh"
#include "sextant/core/cuda/warp.cuh"
#include "sextant/match/descriptors/job.h"

// The search among rows of bytes on tensor cores. A warp keeps 64 queries in registers, and tiles
// of the base pass through shared memory. Products begin at -floor(|t|² / 2), so that one
// comparison tells whether a row can be among the nearest: |q - t|² - |q|² = |t|² - 2 q t
// = -2 (q t - floor(|t|² / 2)) + |t|² % 2.

namespace sextant::detail::descriptors::bytes {

inline constexpr int kRowBytes = kMostDescriptorBytes;
inline constexpr int kWarps = 4;
inline constexpr int kThreads = kWarps * kWarp;
inline constexpr int kWarpQueries = 64;  // 64 registers of a lane hold them
inline constexpr int kBlockQueries = kWarps * kWarpQueries;
inline constexpr int kTileRows = 64;
inline constexpr int kStages = 3;
inline constexpr int kChunks = kRowBytes / 16;
inline constexpr int kSteps = kRowBytes / 32;  // of a product
inline constexpr int kRowTiles = kWarpQueries / 16;

/// So small that no limit lets it pass, whatever product is added.
inline constexpr std::int32_t kNoStart = -1200000000;

struct ByteOperands {
  const std::uint8_t* queries;  ///< rows of kRowBytes; zeros behind the last
  const std::uint8_t* base;
  const std::int32_t* base_norms_sq;
};

struct PaddedBytes {
  View<std::uint8_t> rows;
  View<std::int32_t> norms_sq;
};

/// Copies rows to rows of kRowBytes, and adds up their squares; rows of zeros are added until there
/// are whole times `whole`.
PaddedBytes pad_bytes(const Context& context, const DescriptorRows<std::uint8_t>& from,
                      std::int64_t whole, Workspace& workspace);

struct Tile {
  alignas(16) std::uint8_t rows[kTileRows * kRowBytes];
  std::int32_t starts[kTileRows];
};
struct Shared {
  Tile tiles[kStages];
};

/// Chunks of 16 bytes change places within a row so that eight rows lie in different banks.
__device__ inline int chunk_place(int row, int chunk) {
  return row * kRowBytes + (chunk ^ (row % kChunks)) * 16;
}

__device__ inline void begin_tile(const ByteOperands& search, const Segment& range,
                                  std::int32_t first, Tile& tile) {
  for (int i = static_cast<int>(threadIdx.x); i < kTileRows * kChunks; i += kThreads) {
    const int row = i / kChunks;
    const bool exists = first + row < range.end;
    const std::int64_t from = exists ? first + row : 0;
    copy_16_bytes(tile.rows + chunk_place(row, i % kChunks),
                  search.base + from * kRowBytes + i % kChunks * 16, exists);
  }
  for (int row = static_cast<int>(threadIdx.x); row < kTileRows; row += kThreads) {
    tile.starts[row] =
        first + row < range.end ? -(search.base_norms_sq[first + row] >> 1) : kNoStart;
  }
}

using Queries = std::uint32_t[kRowTiles][kSteps][4];
using TileProducts = std::int32_t[kRowTiles][4];

/// The queries of a warp as matrices: rows of 16, steps of 32 bytes.
__device__ inline void load_queries(const ByteOperands& search, std::int64_t first, Queries& a) {
  const int lane = lane_index();
  SEXTANT_UNROLL
  for (int m = 0; m < kRowTiles; ++m) {
    SEXTANT_UNROLL
    for (int s = 0; s < kSteps; ++s) {
      SEXTANT_UNROLL
      for (int i = 0; i < 4; ++i) {
        const std::int64_t row = first + m * 16 + (i % 2) * 8 + lane / 4;
        a[m][s][i] = *reinterpret_cast<const std::uint32_t*>(search.queries + row * kRowBytes +
                                                             s * 32 + (i / 2) * 16 + lane % 4 * 4);
      }
    }
  }
}

/// The products of the warp's queries with rows n .. n + 7 of a tile.
__device__ inline void multiply_rows(const Tile& tile, int n, const Queries& a,
                                     TileProducts& products) {
  const int lane = lane_index();
  const std::uint32_t rows = shared_address(tile.rows);
  std::uint32_t b[kSteps / 2][4];
  SEXTANT_UNROLL
  for (int s = 0; s < kSteps / 2; ++s) {
    load_matrices(rows + chunk_place(n + lane % 8, s * 4 + lane / 8), b[s]);
  }
  const std::int32_t c0 = tile.starts[n + lane % 4 * 2];
  const std::int32_t c1 = tile.starts[n + lane % 4 * 2 + 1];
  const std::int32_t start[4] = {c0, c1, c0, c1};
  // Products that do not wait for each other follow each other.
  SEXTANT_UNROLL
  for (int m = 0; m < kRowTiles; ++m) {
    multiply_bytes(a[m][0], b[0][0], b[0][1], start, products[m]);
  }
  SEXTANT_UNROLL
  for (int s = 1; s < kSteps; ++s) {
    SEXTANT_UNROLL
    for (int m = 0; m < kRowTiles; ++m) {
      multiply_bytes(a[m][s], b[s / 2][s % 2 * 2], b[s / 2][s % 2 * 2 + 1], products[m],
                     products[m]);
    }
  }
}

/// Calls visit(tile, number) for tiles of a part, while the next ones are on their way.
template <class Visit>
__device__ inline void for_each_tile(const ByteOperands& search, const Segment& range, int tiles,
                                     Shared& shared, const Visit& visit) {
  __syncthreads();  // nobody reads tiles of an earlier round
  for (int ahead = 0; ahead < kStages - 1; ++ahead) {
    if (ahead < tiles) {
      begin_tile(search, range, range.begin + ahead * kTileRows, shared.tiles[ahead]);
    }
    end_copy_group();
  }
  for (int t = 0; t < tiles; ++t) {
    wait_for_copy_groups<kStages - 2>();
    __syncthreads();
    const int ahead = t + kStages - 1;
    if (ahead < tiles) {
      begin_tile(search, range, range.begin + ahead * kTileRows, shared.tiles[ahead % kStages]);
    }
    end_copy_group();
    visit(shared.tiles[t % kStages], t);
  }
  wait_for_copy_groups<0>();
}

}  // namespace sextant::detail::descriptors::bytes
