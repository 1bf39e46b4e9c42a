// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that distances in double precision have the bits of the CPU
#include <cuda_fp16.h>

#include "sextant/core/cuda/matrix.cuh"
#include "sextant/core/cuda_check.h"
#include "sextant/match/descriptors/job.h"
#include "sextant/match/descriptors/lists.cuh"
#include "sextant/match/descriptors/parts.cuh"

// The search among rows of floats on tensor cores. Each number, scaled by a power of two, becomes
// the sum of two of half precision, and the product of two rows three products of such: right to
// some 2⁻²¹ of the norms and what the sums of the hardware lose. Lists hold a few more rows than
// are asked for. Those that the error lets be among the nearest are then measured in double
// precision, and where a list may have lost one, the query meets every row again.

namespace sextant::detail::descriptors {

namespace {

constexpr int kWarps = 4;
constexpr int kThreads = kWarps * kWarp;
constexpr int kTile = 128;              // queries and rows of a block
constexpr int kWarpTile = 64;           // of a warp: two by two warps
constexpr int kStep = 32;               // numbers of a row that are in shared memory at a time
constexpr int kStepChunks = kStep / 8;  // of 16 bytes
constexpr int kRowTiles = kWarpTile / 16;
constexpr int kColumnTiles = kWarpTile / 8;
constexpr int kColumnWarps = kTile / kWarpTile;
constexpr int kSpare = 2;  // rows in a list beyond those asked for
constexpr int kBlocksPerMultiprocessor = 2;
constexpr std::int32_t kNobody = INT32_MAX;
constexpr std::int32_t kInfinityBits = 0x7f800000;

/// Rows as pairs of halves.
struct SplitRows {
  const __half* high;
  const __half* low;
};

struct FloatSearch {
  SplitRows queries;
  SplitRows base;
  const float* query_values;
  const float* base_values;
  const float* query_norms_sq;  ///< infinite for rows that take no part
  const float* base_norms_sq;
  const float* query_largest;  ///< the largest finite norm squared, one element
  const float* base_largest;
  const std::int32_t* segment_ends;
  std::int64_t query_rows;
  std::int64_t base_rows;
  int length;
  int padded_length;  ///< a multiple of kStep
  int parts;
  int k;
  int list;                   ///< length of the lists: k + kSpare
  Neighbour<float>* partial;  ///< [segment][part][column warp][query][list]
  /// [segment][query]: the smallest key that is the last of a list, as an ordered integer. What is
  /// above it by twice the error is not among the nearest, so that parts save each other work;
  /// results do not depend on when they learn of it.
  std::int32_t* shared_limits;
  std::uint8_t* undecided;  ///< [segment][query]
  std::int32_t* indices;
  float* distances_sq;
};

/// The power of two that brings the largest norm below 1, as far as the square of what it scales by
/// is a number, too.
__device__ float scale_for(float largest_norm_sq) {
  constexpr int kMostExponent = 60;
  if (!(largest_norm_sq > 0.0f)) return 1.0f;
  return ldexpf(1.0f, min(-(ilogbf(largest_norm_sq) + 1) / 2 - 1, kMostExponent));
}

/// How far a key, |t|² - 2 q t, may be from the truth.
__device__ float key_error(const FloatSearch& search) {
  const float products = static_cast<float>(3 * search.padded_length / 16 + 16);
  const float scaled =
      products * 0x1p-21f + sqrtf(static_cast<float>(search.padded_length)) * 0x1p-22f;
  const float q = *search.query_largest;
  const float t = *search.base_largest;
  return 2.0f * scaled / (scale_for(q) * scale_for(t)) + 0x1p-20f * (q + t);
}

/// Integers in the order of floats.
__device__ std::int32_t ordered(float value) {
  const std::int32_t bits = __float_as_int(value);
  return bits ^ (bits >> 31 & 0x7fffffff);
}
__device__ float from_ordered(std::int32_t number) {
  return __int_as_float(number ^ (number >> 31 & 0x7fffffff));
}

/// A warp for each row.
__global__ void norms_kernel(const float* rows, int length, std::int64_t count, float* norms_sq,
                             int* largest) {
  const std::int64_t row = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / kWarp;
  if (row >= count) return;
  double sum = 0.0;
#pragma unroll 8
  for (int i = lane_index(); i < length; i += kWarp) {
    const double x = static_cast<double>(rows[row * length + i]);
    sum += x * x;
  }
  sum = warp_sum(sum);
  if (lane_index() != 0) return;
  const bool usable = sum <= 1e36;
  norms_sq[row] = usable ? static_cast<float>(sum) : INFINITY;
  if (usable) atomicMax(largest, __float_as_int(static_cast<float>(sum)));
}

/// A warp for each row, with zeros behind the ends; rows that take no part become zeros.
__global__ void split_kernel(const float* rows, int length, std::int64_t count, int padded_length,
                             std::int64_t padded_count, const float* norms_sq, const float* largest,
                             __half* high, __half* low) {
  const std::int64_t row = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / kWarp;
  if (row >= padded_count) return;
  const bool usable = row < count && norms_sq[row] < INFINITY;
  const float scale = scale_for(*largest);
#pragma unroll 8
  for (int i = lane_index(); i < padded_length; i += kWarp) {
    const float value = usable && i < length ? rows[row * length + i] * scale : 0.0f;
    const __half upper = __float2half_rn(value);
    high[row * padded_length + i] = upper;
    low[row * padded_length + i] = __float2half_rn(value - __half2float(upper));
  }
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

/// The exact distance of two rows; all lanes of a warp add it up and get it.
__device__ double warp_distance_sq(const float* a, const float* b, int length) {
  double sum = partial_distance_sq(a, b, length, lane_index());
  for (int half = kWarp / 2; half > 0; half /= 2) sum += __shfl_down_sync(kAllLanes, sum, half);
  return __shfl_sync(kAllLanes, sum, 0);
}

struct ExactList {
  Neighbour<double> nearest[kMostNearestDescriptors];

  __device__ explicit ExactList(int k) {
    for (int i = 0; i < k; ++i) nearest[i] = {INFINITY, kNobody};
  }
};

__device__ void write(const FloatSearch& search, std::int64_t result, const ExactList& found) {
  for (int i = 0; i < search.k; ++i) {
    const bool exists = found.nearest[i].distance < INFINITY;
    search.indices[result * search.k + i] = exists ? found.nearest[i].index : -1;
    search.distances_sq[result * search.k + i] =
        exists ? static_cast<float>(found.nearest[i].distance) : INFINITY;
  }
}

/// The lists of a query in a segment, seen as one.
struct ListsOfQuery {
  const Neighbour<float>* first;
  std::int64_t stride;  ///< from one list to the next
  int lists;
  int size;

  __device__ int count() const { return lists * size; }
  __device__ Neighbour<float> at(int i) const { return first[i / size * stride + i % size]; }
};

/// The key of the k-th nearest by the hardware's products.
__device__ float kth_key(const ListsOfQuery& lists, int k) {
  Neighbour<float> before{-INFINITY, -1};
  for (int round = 0; round < k; ++round) {
    Neighbour<float> next{INFINITY, kNobody};
    for (int i = lane_index(); i < lists.count(); i += kWarp) {
      const Neighbour<float> candidate = lists.at(i);
      if (before < candidate && candidate < next) next = candidate;
    }
    for (int step = kWarp / 2; step > 0; step /= 2) {
      const Neighbour<float> other = shuffle_xor(next, step);
      if (other < next) next = other;
    }
    before = next;
  }
  return before.distance;
}

/// A warp for each query and segment measures what may be among the nearest.
__global__ void measure_kernel(const FloatSearch search, std::int64_t results) {
  const std::int64_t result = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / kWarp;
  if (result >= results) return;
  const std::int64_t segment = result / search.query_rows;
  const std::int64_t query = result % search.query_rows;
  const std::int64_t per_list = search.query_rows * search.list;
  const int lists_per_segment = search.parts * kColumnWarps;
  const ListsOfQuery lists{
      search.partial + segment * lists_per_segment * per_list + query * search.list, per_list,
      lists_per_segment, search.list};
  ExactList found(search.k);
  bool complete = true;
  const float norm_sq = search.query_norms_sq[query];
  if (norm_sq < INFINITY) {
    const float error = key_error(search);
    const float farthest = kth_key(lists, search.k) + 2.0f * error;
    for (int i = 0; i < lists.count(); ++i) {
      const Neighbour<float> candidate = lists.at(i);
      if (!(candidate.distance <= farthest) || candidate.index == kNobody) continue;
      const double distance_sq = warp_distance_sq(
          search.query_values + query * search.length,
          search.base_values + std::int64_t{candidate.index} * search.length, search.length);
      insert(found.nearest, search.k, {distance_sq, candidate.index});
      // What fell out of a full list is no nearer than its last element.
      if (i % search.list == search.list - 1) complete = false;
    }
  }
  if (lane_index() != 0) return;
  search.undecided[result] = complete ? 0 : 1;
  if (complete) write(search, result, found);
}

/// A block for each query and segment; those that are undecided meet every row again.
__global__ void measure_all_kernel(const FloatSearch search) {
  __shared__ Neighbour<double> lists[kForEachBlock / kWarp][kMostNearestDescriptors];
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const std::int64_t segment = blockIdx.y;
  const std::int64_t query = blockIdx.x;
  const std::int64_t place = segment * search.query_rows + query;
  if (search.undecided[place] == 0) return;
  const Segment range = segment_at(search.segment_ends, segment, search.base_rows);
  ExactList found(search.k);
  for (std::int32_t row = range.begin + warp; row < range.end; row += kForEachBlock / kWarp) {
    if (!(search.base_norms_sq[row] < INFINITY)) continue;
    const double distance_sq =
        warp_distance_sq(search.query_values + query * search.length,
                         search.base_values + std::int64_t{row} * search.length, search.length);
    insert(found.nearest, search.k, {distance_sq, row});
  }
  if (lane_index() == 0) {
    for (int i = 0; i < search.k; ++i) lists[warp][i] = found.nearest[i];
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < kForEachBlock / kWarp; ++w) {
    for (int i = 0; i < search.k; ++i) insert(found.nearest, search.k, lists[w][i]);
  }
  write(search, place, found);
}

struct PreparedFloats {
  SplitRows split;
  const float* norms_sq;
  const float* largest;
};

PreparedFloats prepare(const Context& context, const DescriptorRows<float>& from, int padded_length,
                       std::int64_t whole, Workspace& workspace) {
  const cudaStream_t stream = cuda_stream(context);
  const std::int64_t rows = from.rows();
  const std::int64_t padded = (rows + whole - 1) / whole * whole;
  const View<float> norms_sq = workspace.take<float>(context, rows);
  const View<float> largest = workspace.take<float>(context, 1);
  const View<__half> high = workspace.take<__half>(context, padded * padded_length);
  const View<__half> low = workspace.take<__half>(context, padded * padded_length);
  check_cuda(cudaMemsetAsync(largest.data, 0, sizeof(float), stream), "cudaMemsetAsync");
  if (rows > 0) {
    norms_kernel<<<blocks_for(rows * kWarp), kForEachBlock, 0, stream>>>(
        from.values.data, from.length, rows, norms_sq.data, reinterpret_cast<int*>(largest.data));
    check_launch("norms_kernel");
    split_kernel<<<blocks_for(padded * kWarp), kForEachBlock, 0, stream>>>(
        from.values.data, from.length, rows, padded_length, padded, norms_sq.data, largest.data,
        high.data, low.data);
    check_launch("split_kernel");
  }
  return {{high.data, low.data}, norms_sq.data, largest.data};
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

void search_cuda(const Context& context, const Job<float>& job, Workspace& workspace) {
  const cudaStream_t stream = cuda_stream(context);
  const std::int64_t queries = job.queries.rows();
  const std::int64_t segments = job.segment_ends.size;
  require(segments <= 65535, "segment_ends: ", segments, " segments; at most 65535 are possible");
  FloatSearch search{};
  search.length = job.base.length;
  search.padded_length = (job.base.length + kStep - 1) / kStep * kStep;
  const PreparedFloats query_rows =
      prepare(context, job.queries, search.padded_length, kTile, workspace);
  const PreparedFloats base_rows = prepare(context, job.base, search.padded_length, 1, workspace);
  const PartPlan plan = plan_parts(context, queries, kTile, segments, job.base.rows(), kTile,
                                   kBlocksPerMultiprocessor);
  search.queries = query_rows.split;
  search.base = base_rows.split;
  search.query_values = job.queries.values.data;
  search.base_values = job.base.values.data;
  search.query_norms_sq = query_rows.norms_sq;
  search.base_norms_sq = base_rows.norms_sq;
  search.query_largest = query_rows.largest;
  search.base_largest = base_rows.largest;
  search.segment_ends = job.segment_ends.data;
  search.query_rows = queries;
  search.base_rows = job.base.rows();
  search.parts = plan.parts;
  search.k = job.k;
  search.list = job.k + kSpare;
  search.partial = workspace
                       .take<Neighbour<float>>(
                           context, segments * plan.parts * kColumnWarps * queries * search.list)
                       .data;
  const std::int64_t limits = segments * plan.grid.y * kTile;
  search.shared_limits = workspace.take<std::int32_t>(context, limits).data;
  for_each(context, limits, Fill{kInfinityBits, search.shared_limits});
  search.undecided = workspace.take<std::uint8_t>(context, segments * queries).data;
  search.indices = job.indices.data;
  search.distances_sq = job.distances_sq.data;

  launch_search(context, search, plan.grid);
  measure_kernel<<<blocks_for(segments * queries * kWarp), kForEachBlock, 0, stream>>>(
      search, segments * queries);
  check_launch("measure_kernel");
  measure_all_kernel<<<dim3(static_cast<unsigned>(queries), static_cast<unsigned>(segments)),
                       kForEachBlock, 0, stream>>>(search);
  check_launch("measure_all_kernel");
}

}  // namespace sextant::detail::descriptors
