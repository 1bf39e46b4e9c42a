// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "sextant/core/cuda_check.h"
#include "sextant/core/device.h"
#include "sextant/match/descriptors/byte_products.cuh"
#include "sextant/match/descriptors/job.h"
#include "sextant/match/descriptors/lists.cuh"
#include "sextant/match/descriptors/parts.cuh"

// The search among rows of bytes: one comparison tells whether a row can be among the nearest.

namespace sextant::detail::descriptors {

using namespace bytes;

namespace {

constexpr int kBlocksPerMultiprocessor = 3;
constexpr int kFirstTiles = 8;  // that are met twice, so that limits are known from the start

constexpr std::int32_t kFarthest = std::numeric_limits<std::int32_t>::max();

/// What a product must pass for its key, even or odd, to be below a limit.
__device__ std::int32_t product_limit(std::int32_t key_limit) { return -key_limit >> 1; }

struct ByteSearch : ByteOperands {
  const std::int32_t* segment_ends;
  std::int64_t query_rows;
  std::int64_t base_rows;
  int parts;
  int k;
  Neighbour<std::int32_t>* partial;  ///< [segment][part][query][k]
  /// [segment][query]: the smallest key that is the last of a part's list. What is above it is not
  /// among the nearest, so that parts save each other work; results do not depend on when they
  /// learn of it.
  std::int32_t* shared_limits;
};

/// A warp copies a row, with zeros behind its end, and adds up its squares.
__global__ void pad_bytes_kernel(const std::uint8_t* rows, int length, std::int64_t count,
                                 std::int64_t padded, std::uint8_t* to, std::int32_t* norms_sq) {
  const std::int64_t row = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / kWarp;
  if (row >= padded) return;
  std::uint32_t word = 0;
  std::int32_t sum = 0;
  for (int b = 0; b < 4; ++b) {
    const int i = 4 * lane_index() + b;
    const std::uint32_t byte = row < count && i < length ? rows[row * length + i] : 0u;
    word |= byte << (8 * b);
    sum += static_cast<std::int32_t>(byte * byte);
  }
  reinterpret_cast<std::uint32_t*>(to + row * kRowBytes)[lane_index()] = word;
  sum = warp_sum(sum);
  if (lane_index() == 0) norms_sq[row] = sum;
}

/// What a warp knows of its rows: their lists, and what a product must pass to get into them.
struct WarpLists {
  Neighbour<std::int32_t>* lists;  ///< [row][k]
  int k;
  std::int32_t limits[kRowTiles][2];
  std::int32_t* shared_limits;  ///< of the warp's rows

  __device__ static int row(int m, int half) { return m * 16 + half * 8 + lane_index() / 4; }
  __device__ Neighbour<std::int32_t>* of(int m, int half) const { return lists + row(m, half) * k; }
  __device__ void learn_limits() {
    SEXTANT_UNROLL
    for (int m = 0; m < kRowTiles; ++m) {
      SEXTANT_UNROLL
      for (int half = 0; half < 2; ++half) tighten(m, half, __ldcg(shared_limits + row(m, half)));
    }
  }
  /// Keys of up to `key` may still be among the nearest.
  __device__ void tighten(int m, int half, std::int32_t key) {
    if (key < kFarthest) limits[m][half] = max(limits[m][half], product_limit(key + 1));
  }
};

__device__ void take_products(const ByteSearch& search, const TileProducts& products,
                              std::int32_t column, WarpLists& found) {
  const auto neighbour = [&](std::int32_t product, std::int32_t limit, std::int32_t row) {
    if (!(product > limit)) return Neighbour<std::int32_t>{kFarthest, kFarthest};
    return Neighbour<std::int32_t>{-2 * product + (search.base_norms_sq[row] & 1), row};
  };
  SEXTANT_UNROLL
  for (int m = 0; m < kRowTiles; ++m) {
    SEXTANT_UNROLL
    for (int half = 0; half < 2; ++half) {
      const std::int32_t limit = found.limits[m][half];
      const std::int32_t p0 = products[m][2 * half];
      const std::int32_t p1 = products[m][2 * half + 1];
      if (!__any_sync(kAllLanes, p0 > limit || p1 > limit)) continue;
      const std::int32_t last =
          take_two(neighbour(p0, limit, column), neighbour(p1, limit, column + 1),
                   found.of(m, half), found.k);
      found.limits[m][half] = max(limit, product_limit(last));
      if (last < kFarthest && lane_index() % 4 == 0) {
        atomicMin(found.shared_limits + WarpLists::row(m, half), last);
      }
    }
  }
}

__device__ void visit_tile(const ByteSearch& search, const Tile& tile, std::int32_t first,
                           const Queries& a, WarpLists& found) {
  for (int n = 0; n < kTileRows; n += 8) {
    TileProducts products;
    multiply_rows(tile, n, a, products);
    bool nearer = false;
    SEXTANT_UNROLL
    for (int m = 0; m < kRowTiles; ++m) {
      SEXTANT_UNROLL
      for (int i = 0; i < 4; ++i) nearer |= products[m][i] > found.limits[m][i / 2];
    }
    if (__any_sync(kAllLanes, nearer)) {
      take_products(search, products, first + n + lane_index() % 4 * 2, found);
    }
  }
}

/// The largest product of each query with the columns that a lane holds.
__device__ void visit_tile_first(const Tile& tile, const Queries& a, TileProducts& largest) {
  for (int n = 0; n < kTileRows; n += 8) {
    TileProducts products;
    multiply_rows(tile, n, a, products);
    SEXTANT_UNROLL
    for (int m = 0; m < kRowTiles; ++m) {
      SEXTANT_UNROLL
      for (int i = 0; i < 4; ++i) largest[m][i] = max(largest[m][i], products[m][i]);
    }
  }
}

/// A quad holds eight sets of columns (k is at most 8). The k-th largest of their largest products
/// is one that k rows reach, so that nothing below it is among the nearest.
__device__ void learn_first_limits(const TileProducts& largest, WarpLists& found) {
  SEXTANT_UNROLL
  for (int m = 0; m < kRowTiles; ++m) {
    SEXTANT_UNROLL
    for (int half = 0; half < 2; ++half) {
      std::int32_t keys[2];
      SEXTANT_UNROLL
      for (int c = 0; c < 2; ++c) {
        const std::int32_t product = largest[m][2 * half + c];
        keys[c] = product > product_limit(kFarthest) ? -2 * product + 1 : kFarthest;
      }
      const std::int32_t key = quad_ranked(keys, found.k, kFarthest);
      found.tighten(m, half, key);
      if (key < kFarthest && lane_index() % 4 == 0) {
        atomicMin(found.shared_limits + WarpLists::row(m, half), key);
      }
    }
  }
}

__global__ void __launch_bounds__(kThreads, kBlocksPerMultiprocessor)
    search_bytes_kernel(const ByteSearch search) {
  __shared__ Shared shared;
  extern __shared__ char list_memory[];
  const std::int64_t segment = blockIdx.x / search.parts;
  const Segment range =
      part_of(segment_at(search.segment_ends, segment, search.base_rows),
              static_cast<int>(blockIdx.x % search.parts), search.parts, kTileRows);
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const std::int64_t first_query = std::int64_t{blockIdx.y} * kBlockQueries + warp * kWarpQueries;

  WarpLists found;
  found.k = search.k;
  found.shared_limits = search.shared_limits + segment * gridDim.y * kBlockQueries + first_query;
  found.lists =
      reinterpret_cast<Neighbour<std::int32_t>*>(list_memory) + warp * kWarpQueries * search.k;
  for (int i = lane_index(); i < kWarpQueries * search.k; i += kWarp) {
    found.lists[i] = {kFarthest, kFarthest};
  }
  __syncwarp();
  SEXTANT_UNROLL
  for (int m = 0; m < kRowTiles; ++m) {
    SEXTANT_UNROLL
    for (int half = 0; half < 2; ++half) found.limits[m][half] = product_limit(kFarthest);
  }
  Queries a;
  load_queries(search, first_query, a);

  const int tiles = (range.end - range.begin + kTileRows - 1) / kTileRows;
  TileProducts largest;
  SEXTANT_UNROLL
  for (int m = 0; m < kRowTiles; ++m) {
    SEXTANT_UNROLL
    for (int i = 0; i < 4; ++i) largest[m][i] = kNoStart;
  }
  for_each_tile(search, range, min(tiles, kFirstTiles), shared,
                [&](const Tile& tile, int) { visit_tile_first(tile, a, largest); });
  learn_first_limits(largest, found);
  for_each_tile(search, range, tiles, shared, [&](const Tile& tile, int t) {
    found.learn_limits();
    visit_tile(search, tile, range.begin + t * kTileRows, a, found);
  });
  __syncwarp();
  for (int i = lane_index(); i < kWarpQueries * search.k; i += kWarp) {
    const std::int64_t query = first_query + i / search.k;
    if (query >= search.query_rows) continue;
    search.partial[(blockIdx.x * search.query_rows + query) * search.k + i % search.k] =
        found.lists[i];
  }
}

/// A thread for each query and segment brings the lists of its parts together.
__global__ void merge_bytes_kernel(const ByteSearch search, const std::int32_t* query_norms_sq,
                                   std::int64_t results, std::int32_t* indices,
                                   float* distances_sq) {
  const std::int64_t result = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (result >= results) return;
  const std::int64_t segment = result / search.query_rows;
  const std::int64_t query = result % search.query_rows;
  Neighbour<std::int32_t> best[kMostNearestDescriptors];
  for (int i = 0; i < search.k; ++i) best[i] = {kFarthest, kFarthest};
  for (int part = 0; part < search.parts; ++part) {
    const Neighbour<std::int32_t>* list =
        search.partial + ((segment * search.parts + part) * search.query_rows + query) * search.k;
    for (int i = 0; i < search.k; ++i) insert(best, search.k, list[i]);
  }
  for (int i = 0; i < search.k; ++i) {
    const bool exists = best[i].distance < kFarthest;
    indices[result * search.k + i] = exists ? best[i].index : -1;
    distances_sq[result * search.k + i] =
        exists ? static_cast<float>(query_norms_sq[query] + best[i].distance) : INFINITY;
  }
}

}  // namespace

PaddedBytes bytes::pad_bytes(const Context& context, const DescriptorRows<std::uint8_t>& from,
                             std::int64_t whole, Workspace& workspace) {
  const std::int64_t padded = (from.rows() + whole - 1) / whole * whole;
  const PaddedBytes to{workspace.take<std::uint8_t>(context, padded * kRowBytes),
                       workspace.take<std::int32_t>(context, padded)};
  if (padded == 0) return to;
  pad_bytes_kernel<<<blocks_for(padded * kWarp), kForEachBlock, 0, cuda_stream(context)>>>(
      from.values.data, from.length, from.rows(), padded, to.rows.data, to.norms_sq.data);
  check_launch("pad_bytes_kernel");
  return to;
}

void search_cuda(const Context& context, const Job<std::uint8_t>& job, Workspace& workspace) {
  const cudaStream_t stream = cuda_stream(context);
  const std::int64_t queries = job.queries.rows();
  const std::int64_t segments = job.segment_ends.size;
  const PaddedBytes query_rows = pad_bytes(context, job.queries, kBlockQueries, workspace);
  const PaddedBytes base_rows = pad_bytes(context, job.base, 1, workspace);

  const PartPlan plan = plan_parts(context, queries, kBlockQueries, segments, job.base.rows(),
                                   kTileRows, kBlocksPerMultiprocessor);
  ByteSearch search{};
  search.queries = query_rows.rows.data;
  search.base = base_rows.rows.data;
  search.base_norms_sq = base_rows.norms_sq.data;
  search.segment_ends = job.segment_ends.data;
  search.query_rows = queries;
  search.base_rows = job.base.rows();
  search.parts = plan.parts;
  search.k = job.k;
  search.partial =
      workspace.take<Neighbour<std::int32_t>>(context, segments * plan.parts * queries * job.k)
          .data;
  const std::int64_t limits = segments * plan.grid.y * kBlockQueries;
  search.shared_limits = workspace.take<std::int32_t>(context, limits).data;
  for_each(context, limits, Fill{kFarthest, search.shared_limits});
  const std::size_t list_bytes = sizeof(Neighbour<std::int32_t>) * kBlockQueries * job.k;
  search_bytes_kernel<<<plan.grid, kThreads, list_bytes, stream>>>(search);
  check_launch("search_bytes_kernel");
  const std::int64_t results = segments * queries;
  merge_bytes_kernel<<<blocks_for(results), kForEachBlock, 0, stream>>>(
      search, query_rows.norms_sq.data, results, job.indices.data, job.distances_sq.data);
  check_launch("merge_bytes_kernel");
}

}  // namespace sextant::detail::descriptors
