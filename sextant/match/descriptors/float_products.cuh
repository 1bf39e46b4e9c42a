// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/cuda/matrix.cuh"
#include "sextant/match/descriptors/float_search.cuh"
#include "sextant/match/descriptors/parts.cuh"

// Products of rows on tensor cores, and the lists of those that may be the nearest. For floats.cu
// only.

namespace sextant::detail::descriptors {

namespace {

constexpr int kWarps = 4;
constexpr int kThreads = kWarps * kWarp;
constexpr int kStepChunks = kStep / 8;  // of 16 bytes
constexpr int kRowTiles = kWarpTile / 16;
constexpr int kColumnTiles = kWarpTile / 8;
constexpr int kBlocksPerMultiprocessor = 2;

/// Integers in the order of floats.
__device__ std::int32_t ordered(float value) {
  const std::int32_t bits = __float_as_int(value);
  return bits ^ (bits >> 31 & 0x7fffffff);
}
__device__ float from_ordered(std::int32_t number) {
  return __int_as_float(number ^ (number >> 31 & 0x7fffffff));
}

struct alignas(16) Stage {
  __half high[2][kTile * kStep];  ///< of queries and of rows of the base
  __half low[2][kTile * kStep];
};

/// Chunks of 16 bytes change places so that eight rows lie in different banks.
__device__ int chunk_place(int row, int chunk) {
  return row * kStep + (chunk ^ (row / 2 % kStepChunks)) * 8;
}

__device__ void begin_stage(const FloatSearch& search, std::int64_t first_query,
                            const Segment& range, int iteration, Stage& stage) {
  const int steps = search.padded_length / kStep;
  const std::int32_t first_row = range.begin + iteration / steps * kTile;
  const int offset = iteration % steps * kStep;
  for (int i = static_cast<int>(threadIdx.x); i < kTile * kStepChunks; i += kThreads) {
    const int row = i / kStepChunks;
    const int chunk = i % kStepChunks;
    const int place = chunk_place(row, chunk);
    const std::int64_t q = (first_query + row) * search.padded_length + offset + chunk * 8;
    copy_16_bytes(stage.high[0] + place, search.queries.high + q, true);
    copy_16_bytes(stage.low[0] + place, search.queries.low + q, true);
    const bool exists = first_row + row < range.end;
    const std::int64_t t =
        std::int64_t{exists ? first_row + row : 0} * search.padded_length + offset + chunk * 8;
    copy_16_bytes(stage.high[1] + place, search.base.high + t, exists);
    copy_16_bytes(stage.low[1] + place, search.base.low + t, exists);
  }
}

using Products = float[kRowTiles][kColumnTiles][4];

__device__ void add_products(const Stage& stage, int row_warp, int column_warp, Products& sums) {
  const int lane = lane_index();
  SEXTANT_UNROLL
  for (int step = 0; step < kStep / 16; ++step) {
    std::uint32_t high[kRowTiles][4], low[kRowTiles][4];
    SEXTANT_UNROLL
    for (int m = 0; m < kRowTiles; ++m) {
      const int place =
          chunk_place(row_warp * kWarpTile + m * 16 + lane % 16, step * 2 + lane / 16);
      load_matrices(shared_address(stage.high[0] + place), high[m]);
      load_matrices(shared_address(stage.low[0] + place), low[m]);
    }
    SEXTANT_UNROLL
    for (int n = 0; n < kColumnTiles; ++n) {
      const int place =
          chunk_place(column_warp * kWarpTile + n * 8 + lane % 8, step * 2 + lane / 8 % 2);
      std::uint32_t b[4];  // two of the upper parts, two of the lower ones
      load_matrices(shared_address((lane < 16 ? stage.high[1] : stage.low[1]) + place), b);
      // Products that do not wait for each other follow each other.
      SEXTANT_UNROLL
      for (int m = 0; m < kRowTiles; ++m) multiply_add_halves(high[m], b[0], b[1], sums[m][n]);
      SEXTANT_UNROLL
      for (int m = 0; m < kRowTiles; ++m) multiply_add_halves(high[m], b[2], b[3], sums[m][n]);
      SEXTANT_UNROLL
      for (int m = 0; m < kRowTiles; ++m) multiply_add_halves(low[m], b[0], b[1], sums[m][n]);
    }
  }
}

struct WarpLists {
  Neighbour<float>* lists;
  int size;
  float limits[kRowTiles][2];   ///< only smaller keys get into a list
  std::int32_t* shared_limits;  ///< of the warp's rows
  float margin;                 ///< twice the error of a key

  __device__ static int row(int m, int half) { return m * 16 + half * 8 + lane_index() / 4; }
  __device__ Neighbour<float>* of(int m, int half) const { return lists + row(m, half) * size; }

  /// Keys of up to `key` and the margin may still be among the nearest.
  __device__ void tighten(int m, int half, float key) {
    limits[m][half] = fminf(limits[m][half], nextafterf(key + margin, INFINITY));
  }
  __device__ void publish(int m, int half, float key) {
    if (key < INFINITY && lane_index() % 4 == 0) {
      atomicMin(shared_limits + row(m, half), ordered(key));
    }
  }
  __device__ void learn_limits() {
    SEXTANT_UNROLL
    for (int m = 0; m < kRowTiles; ++m) {
      SEXTANT_UNROLL
      for (int half = 0; half < 2; ++half) {
        tighten(m, half, from_ordered(__ldcg(shared_limits + row(m, half))));
      }
    }
  }
};

/// |t|² of the two columns of a lane, infinite for those behind the end.
struct Terms {
  float term[2];
  __device__ Terms(const FloatSearch& search, const Segment& range, std::int32_t row) {
    SEXTANT_UNROLL
    for (int c = 0; c < 2; ++c) {
      term[c] = row + c < range.end ? search.base_norms_sq[row + c] : INFINITY;
    }
  }
};

/// Sums become keys.
__device__ void make_keys(const FloatSearch& search, const Segment& range, std::int32_t first_row,
                          float factor, Products& sums) {
  SEXTANT_UNROLL
  for (int n = 0; n < kColumnTiles; ++n) {
    const Terms terms(search, range, first_row + n * 8 + lane_index() % 4 * 2);
    SEXTANT_UNROLL
    for (int m = 0; m < kRowTiles; ++m) {
      SEXTANT_UNROLL
      for (int i = 0; i < 4; ++i) sums[m][n][i] = fmaf(-factor, sums[m][n][i], terms.term[i % 2]);
    }
  }
}

/// The columns of a quad fall into sixteen sets. The key of rank `size` among the smallest of each
/// is one that as many rows reach, so that nothing farther gets into a list.
__device__ void learn_first_limits(const Products& keys, WarpLists& found) {
  static_assert(16 >= kMostNearestDescriptors + kSpare);
  SEXTANT_UNROLL
  for (int m = 0; m < kRowTiles; ++m) {
    SEXTANT_UNROLL
    for (int half = 0; half < 2; ++half) {
      float least[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
      SEXTANT_UNROLL
      for (int n = 0; n < kColumnTiles; ++n) {
        SEXTANT_UNROLL
        for (int c = 0; c < 2; ++c) {
          float& set = least[n % 2 * 2 + c];
          set = fminf(set, keys[m][n][2 * half + c]);
        }
      }
      const float key = quad_ranked(least, found.size, INFINITY);
      found.tighten(m, half, key);
      found.publish(m, half, key);
    }
  }
}

/// Takes the keys of a tile that get into a list, and clears them.
__device__ void take_keys(std::int32_t first_row, Products& keys, WarpLists& found) {
  SEXTANT_UNROLL
  for (int n = 0; n < kColumnTiles; ++n) {
    const std::int32_t row = first_row + n * 8 + lane_index() % 4 * 2;
    SEXTANT_UNROLL
    for (int m = 0; m < kRowTiles; ++m) {
      SEXTANT_UNROLL
      for (int half = 0; half < 2; ++half) {
        const float limit = found.limits[m][half];
        const float key0 = keys[m][n][2 * half];
        const float key1 = keys[m][n][2 * half + 1];
        keys[m][n][2 * half] = keys[m][n][2 * half + 1] = 0.0f;
        if (!__any_sync(kAllLanes, key0 < limit || key1 < limit)) continue;
        const auto neighbour = [limit](float key, std::int32_t index) {
          return key < limit ? Neighbour<float>{key, index} : Neighbour<float>{INFINITY, kNobody};
        };
        const float last =
            take_two(neighbour(key0, row), neighbour(key1, row + 1), found.of(m, half), found.size);
        found.limits[m][half] = fminf(limit, last);
        found.publish(m, half, last);
      }
    }
  }
}

/// With kStages steps of tiles in shared memory, of which all but one are on their way.
template <int kStages>
__global__ void __launch_bounds__(kThreads, kBlocksPerMultiprocessor)
    search_floats_kernel(const FloatSearch search) {
  extern __shared__ __align__(16) char memory[];
  Stage* stages = reinterpret_cast<Stage*>(memory);
  const std::int64_t segment = blockIdx.x / search.parts;
  const Segment range = part_of(segment_at(search.segment_ends, segment, search.base_rows),
                                static_cast<int>(blockIdx.x % search.parts), search.parts, kTile);
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int row_warp = warp / kColumnWarps;
  const int column_warp = warp % kColumnWarps;
  const std::int64_t first_query = std::int64_t{blockIdx.y} * kTile;

  WarpLists found;
  found.size = search.list;
  found.margin = 2.0f * key_error(search);
  found.shared_limits =
      search.shared_limits + segment * gridDim.y * kTile + first_query + row_warp * kWarpTile;
  found.lists = reinterpret_cast<Neighbour<float>*>(memory + kStages * sizeof(Stage)) +
                warp * kWarpTile * search.list;
  for (int i = lane_index(); i < kWarpTile * search.list; i += kWarp) {
    found.lists[i] = {INFINITY, kNobody};
  }
  __syncwarp();
  SEXTANT_UNROLL
  for (int m = 0; m < kRowTiles; ++m) found.limits[m][0] = found.limits[m][1] = INFINITY;
  Products sums;
  SEXTANT_UNROLL
  for (int m = 0; m < kRowTiles; ++m) {
    SEXTANT_UNROLL
    for (int n = 0; n < kColumnTiles; ++n) {
      SEXTANT_UNROLL
      for (int i = 0; i < 4; ++i) sums[m][n][i] = 0.0f;
    }
  }
  const float factor = 2.0f / (scale_for(*search.query_largest) * scale_for(*search.base_largest));

  const int steps = search.padded_length / kStep;
  const int iterations = (range.end - range.begin + kTile - 1) / kTile * steps;
  for (int ahead = 0; ahead < kStages - 1; ++ahead) {
    if (ahead < iterations) begin_stage(search, first_query, range, ahead, stages[ahead]);
    end_copy_group();
  }
  for (int i = 0; i < iterations; ++i) {
    const int ahead = i + kStages - 1;
    if constexpr (kStages > 1) wait_for_copy_groups<(kStages > 1 ? kStages - 2 : 0)>();
    __syncthreads();
    if (ahead < iterations) begin_stage(search, first_query, range, ahead, stages[ahead % kStages]);
    end_copy_group();
    if constexpr (kStages == 1) {
      wait_for_copy_groups<0>();
      __syncthreads();
    }
    add_products(stages[i % kStages], row_warp, column_warp, sums);
    if (i % steps != steps - 1) continue;
    const std::int32_t first_row = range.begin + i / steps * kTile + column_warp * kWarpTile;
    make_keys(search, range, first_row, factor, sums);
    if (i < steps) learn_first_limits(sums, found);
    found.learn_limits();
    take_keys(first_row, sums, found);
  }
  __syncwarp();
  for (int i = lane_index(); i < kWarpTile * search.list; i += kWarp) {
    const std::int64_t query = first_query + row_warp * kWarpTile + i / search.list;
    if (query >= search.query_rows) continue;
    const std::int64_t list =
        (std::int64_t{blockIdx.x} * kColumnWarps + column_warp) * search.query_rows + query;
    search.partial[list * search.list + i % search.list] = found.lists[i];
  }
}

template <int kStages>
constexpr std::size_t kMostShared =
    kStages * sizeof(Stage) +
    sizeof(Neighbour<float>) * kWarps* kWarpTile*(kMostNearestDescriptors + kSpare);

template <int kStages>
void launch_search(const Context& context, const FloatSearch& search, dim3 grid,
                   std::integral_constant<int, kStages>) {
  const std::size_t shared_bytes =
      kStages * sizeof(Stage) + sizeof(Neighbour<float>) * kWarps * kWarpTile * search.list;
  // The same for every call, so that calls of several threads do not disturb each other.
  check_cuda(cudaFuncSetAttribute(search_floats_kernel<kStages>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(kMostShared<kStages>)),
             "cudaFuncSetAttribute");
  search_floats_kernel<kStages><<<grid, kThreads, shared_bytes, cuda_stream(context)>>>(search);
  check_launch("search_floats_kernel");
}

/// With as many stages as the shared memory of the GPU has room for.
void launch_search(const Context& context, const FloatSearch& search, dim3 grid) {
  int shared_bytes = 0;
  check_cuda(cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                    context.device().ordinal),
             "cudaDeviceGetAttribute");
  const auto room = static_cast<std::size_t>(shared_bytes);
  if (room >= kMostShared<3>) {
    launch_search(context, search, grid, std::integral_constant<int, 3>());
  } else if (room >= kMostShared<2>) {
    launch_search(context, search, grid, std::integral_constant<int, 2>());
  } else {
    launch_search(context, search, grid, std::integral_constant<int, 1>());
  }
}

}  // namespace

}  // namespace sextant::detail::descriptors
