// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/cuda_check.h"
#include "sextant/core/for_each.h"
#include "sextant/match/descriptors/byte_products.cuh"
#include "sextant/match/photo_matches/on_device.h"

// The k nearest points among all: distances of some features to all rows are written down, all rows
// of a point but the nearest are taken out, and a block looks for the k smallest of each feature.

namespace sextant::detail::photo_matches {

namespace {

using namespace descriptors::bytes;
using descriptors::Segment;

constexpr std::int32_t kNoDistance = INT32_MAX;
constexpr int kTilesOfPart = 32;  ///< so many tiles that loading the features hardly counts

/// Distances [feature][row] with whole tiles of rows; those behind the last are kNoDistance.
struct Distances {
  std::int32_t* data;
  std::int64_t stride;

  SEXTANT_HD std::int32_t* of(std::int64_t query) const { return data + query * stride; }
};

__global__ void __launch_bounds__(kThreads, 2)
    measure_kernel(const ByteOperands operands, const std::int32_t* query_norms_sq,
                   std::int64_t queries, std::int32_t rows, const Distances distances) {
  __shared__ Shared shared;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const std::int64_t first_query = std::int64_t{blockIdx.y} * kBlockQueries + warp * kWarpQueries;
  const std::int64_t begin = std::int64_t{blockIdx.x} * kTilesOfPart * kTileRows;
  const std::int64_t behind = begin + kTilesOfPart * kTileRows;
  const Segment range{static_cast<std::int32_t>(begin),
                      static_cast<std::int32_t>(behind < rows ? behind : rows)};
  Queries a;
  load_queries(operands, first_query, a);
  const auto query_of = [&](int m, int half) {
    return first_query + m * 16 + half * 8 + lane_index() / 4;
  };
  std::int32_t norms_sq[kRowTiles][2];
  SEXTANT_UNROLL
  for (int m = 0; m < kRowTiles; ++m) {
    SEXTANT_UNROLL
    for (int half = 0; half < 2; ++half) norms_sq[m][half] = query_norms_sq[query_of(m, half)];
  }
  const int tiles = (range.end - range.begin + kTileRows - 1) / kTileRows;
  for_each_tile(operands, range, tiles, shared, [&](const Tile& tile, int t) {
    for (int n = 0; n < kTileRows; n += 8) {
      TileProducts products;
      multiply_rows(tile, n, a, products);
      const std::int32_t column = range.begin + t * kTileRows + n + lane_index() % 4 * 2;
      std::int32_t odd[2];
      SEXTANT_UNROLL
      for (int c = 0; c < 2; ++c) {
        odd[c] = column + c < rows ? operands.base_norms_sq[column + c] & 1 : 0;
      }
      SEXTANT_UNROLL
      for (int m = 0; m < kRowTiles; ++m) {
        SEXTANT_UNROLL
        for (int half = 0; half < 2; ++half) {
          const std::int64_t query = query_of(m, half);
          if (query >= queries) continue;
          const std::int32_t norm_sq = norms_sq[m][half];
          int2 value;
          value.x = column < rows ? norm_sq - 2 * products[m][2 * half] + odd[0] : kNoDistance;
          value.y =
              column + 1 < rows ? norm_sq - 2 * products[m][2 * half + 1] + odd[1] : kNoDistance;
          *reinterpret_cast<int2*>(distances.of(query) + column) = value;
        }
      }
    }
  });
}

/// Leaves the nearest row of a point, of equally near ones the first.
struct DropTwins {
  Distances distances;
  const std::int32_t* rows;
  const std::int32_t* ends;
  std::int64_t points;

  SEXTANT_HD void operator()(std::int64_t i) const {
    const std::int64_t point = i % points;
    std::int32_t* const of_query = distances.of(i / points);
    std::int32_t nearest = rows[point == 0 ? 0 : ends[point - 1]];
    for (std::int32_t r = (point == 0 ? 0 : ends[point - 1]) + 1; r < ends[point]; ++r) {
      const bool nearer = of_query[rows[r]] < of_query[nearest];
      of_query[nearer ? nearest : rows[r]] = kNoDistance;
      if (nearer) nearest = rows[r];
    }
  }
};

constexpr int kSelectThreads = 256;
constexpr int kSelectWarps = kSelectThreads / kWarp;
/// Squared distances have 23 bits: the upper ones name a bin, the lower ones a place in it.
constexpr int kLowBits = 11;
constexpr int kBins = 4096;
static_assert(128 * 255 * 255 >> kLowBits < kBins && 1 << kLowBits <= kBins);

/// What a block that looks for the k smallest shares, beside the bins or the list.
struct SelectMemory {
  int sums[kSelectWarps];
  int bin, before;  ///< where the k-th lies, and how many are in the bins before
};

/// The sum of the values of all threads before this one; `total` becomes that of all.
__device__ int sum_before(int value, SelectMemory& memory, int& total) {
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  int sum = value;
  for (int step = 1; step < kWarp; step *= 2) {
    const int before = __shfl_up_sync(kAllLanes, sum, step);
    if (lane_index() >= step) sum += before;
  }
  __syncthreads();  // nobody reads the sums of an earlier call
  if (lane_index() == kWarp - 1) memory.sums[warp] = sum;
  __syncthreads();
  int before = 0;
  total = 0;
  for (int w = 0; w < kSelectWarps; ++w) {
    if (w == warp) before = total;
    total += memory.sums[w];
  }
  return before + sum - value;
}

/// Counts values of bin_of(row) from 0 to kBins - 1, others not, and finds the bin of the k-th
/// smallest; returns how many there are. Where they are fewer than k, memory.bin is kBins.
template <class BinOf>
__device__ int find_bin(std::int32_t rows, int k, int* bins, SelectMemory& memory,
                        const BinOf& bin_of) {
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < kBins; i += kSelectThreads) bins[i] = 0;
  if (thread == 0) memory.bin = kBins;
  __syncthreads();
  for (std::int32_t row = thread; row < rows; row += kSelectThreads) {
    const int bin = bin_of(row);
    if (bin >= 0 && bin < kBins) atomicAdd(bins + bin, 1);
  }
  __syncthreads();
  constexpr int kEach = kBins / kSelectThreads;
  int own = 0;
  for (int i = 0; i < kEach; ++i) own += bins[thread * kEach + i];
  int total = 0;
  int before = sum_before(own, memory, total);
  if (before < k && before + own >= k) {  // one thread
    int bin = thread * kEach;
    while (before + bins[bin] < k) before += bins[bin++];
    memory.bin = bin;
    memory.before = before;
  }
  __syncthreads();
  return total;
}

/// Sorts 2^n keys.
__device__ void sort_keys_of_block(std::uint64_t* keys, int size) {
  for (int width = 2; width <= size; width *= 2) {
    for (int step = width / 2; step > 0; step /= 2) {
      __syncthreads();
      for (int i = static_cast<int>(threadIdx.x); i < size; i += kSelectThreads) {
        const int other = i ^ step;
        if (other <= i) continue;
        const std::uint64_t a = keys[i], b = keys[other];
        const bool up = (i & width) == 0;
        if ((a > b) == up) {
          keys[i] = b;
          keys[other] = a;
        }
      }
    }
  }
  __syncthreads();
}

/// Room for 2^n keys of which k are used, and for the bins, which are needed before.
SEXTANT_HD constexpr int keys_for(int k) {
  int size = 1;
  while (size < k) size *= 2;
  return size;
}
constexpr std::size_t select_bytes(int k) {
  const std::size_t bins = sizeof(int) * kBins;
  const std::size_t keys =
      (sizeof(std::uint64_t) + sizeof(std::int32_t)) * static_cast<std::size_t>(keys_for(k));
  return bins > keys ? bins : keys;
}

/// A block finds the k nearest points of a feature, of equally near ones the first rows, and what
/// each has to beat.
__global__ void __launch_bounds__(kSelectThreads)
    select_kernel(const Distances distances, std::int32_t rows, int k, std::int32_t first_query,
                  const std::int32_t* objects, Pair* pairs) {
  extern __shared__ std::uint64_t keys[];
  __shared__ SelectMemory memory;
  int* const bins = reinterpret_cast<int*>(keys);
  const std::int32_t* const of_query = distances.of(blockIdx.x);
  const int total = find_bin(rows, k, bins, memory, [&](std::int32_t row) {
    return of_query[row] >> kLowBits;  // kNoDistance has none
  });
  std::int32_t last = kNoDistance - 1;  // the largest distance that is taken
  int equal = total;                    // and how often
  if (total > k) {
    const int high = memory.bin, before = memory.before;
    __syncthreads();
    find_bin(rows, k - before, bins, memory, [&](std::int32_t row) {
      const std::int32_t distance = of_query[row];
      return distance >> kLowBits == high ? distance & ((1 << kLowBits) - 1) : -1;
    });
    last = high << kLowBits | memory.bin;
    equal = k - before - memory.before;
  }
  const int size = total < k ? total : k;
  const int room = keys_for(k);
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < room; i += kSelectThreads) keys[i] = ~0ull;
  // The nearer ones in the order of rows, then the equal ones; they are sorted afterwards.
  int nearer_before = 0, equal_before = 0;
  for (std::int32_t slice = 0; slice < rows; slice += kSelectThreads) {
    const std::int32_t row = slice + static_cast<int>(threadIdx.x);
    const std::int32_t distance = row < rows ? of_query[row] : kNoDistance;
    const bool is_nearer = distance < last, is_equal = distance == last;
    if (!__syncthreads_or(is_nearer || is_equal)) continue;
    int both = 0;  // at most 256 of each in a slice: two numbers in one
    const int sum = sum_before((is_nearer ? 1 : 0) | (is_equal ? 1 << 16 : 0), memory, both);
    const int rank = equal_before + (sum >> 16);
    const int place = is_nearer ? nearer_before + (sum & 0xffff) : size - equal + rank;
    if (is_nearer || (is_equal && rank < equal)) {
      keys[place] = static_cast<std::uint64_t>(distance) << 32 | static_cast<std::uint32_t>(row);
    }
    nearer_before += both & 0xffff;
    equal_before += both >> 16;
  }
  sort_keys_of_block(keys, room);
  auto* const own_objects = reinterpret_cast<std::int32_t*>(keys + room);
  for (int i = static_cast<int>(threadIdx.x); i < size; i += kSelectThreads) {
    own_objects[i] = objects[static_cast<std::uint32_t>(keys[i])];
  }
  __syncthreads();
  const auto distance_of = [&](std::int32_t i) { return static_cast<std::int32_t>(keys[i] >> 32); };
  for (int i = static_cast<int>(threadIdx.x); i < k; i += kSelectThreads) {
    Pair pair{first_query + static_cast<std::int32_t>(blockIdx.x), -1, 0, -1};
    if (i < size) {
      pair.row = static_cast<std::int32_t>(static_cast<std::uint32_t>(keys[i]));
      pair.distance_sq = distance_of(i);
      pair.to_beat_sq = to_beat_in_list(
          size, i, [&](std::int32_t j) { return own_objects[j]; }, distance_of);
    }
    pairs[std::int64_t{blockIdx.x} * k + i] = pair;
  }
}

std::int64_t stride_of(const DeviceJob& job) {
  return (job.points.size + kTileRows - 1) / kTileRows * kTileRows;
}

}  // namespace

void pair_nearest_cuda(const Context& context, const DeviceJob& job, std::int64_t first,
                       std::int64_t count, const View<Pair>& pairs, Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  const cudaStream_t stream = cuda_stream(context);
  const PaddedBytes queries = pad_bytes(
      context, {job.queries.subview(first * kSiftLength, count * kSiftLength), kSiftLength},
      kBlockQueries, workspace);
  const PaddedBytes base = pad_bytes(context, {job.base, kSiftLength}, 1, workspace);
  const auto rows = static_cast<std::int32_t>(job.points.size);
  const std::int64_t stride = stride_of(job);
  const Distances distances{workspace.take<std::int32_t>(context, count * stride).data, stride};
  const std::int64_t parts = (stride / kTileRows + kTilesOfPart - 1) / kTilesOfPart;
  const dim3 grid(static_cast<unsigned>(parts),
                  static_cast<unsigned>((count + kBlockQueries - 1) / kBlockQueries));
  measure_kernel<<<grid, kThreads, 0, stream>>>(
      {queries.rows.data, base.rows.data, base.norms_sq.data}, queries.norms_sq.data, count, rows,
      distances);
  check_launch("measure_kernel");
  for_each(context, count * job.twin_ends.size,
           DropTwins{distances, job.twin_rows.data, job.twin_ends.data, job.twin_ends.size});
  const int k = job.options.k;
  static_assert(select_bytes(kMostNearestPoints) <= 64 * 1024 - sizeof(SelectMemory));
  check_cuda(cudaFuncSetAttribute(select_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(select_bytes(kMostNearestPoints))),
             "cudaFuncSetAttribute");
  select_kernel<<<static_cast<unsigned>(count), kSelectThreads, select_bytes(k), stream>>>(
      distances, rows, k, static_cast<std::int32_t>(first), job.objects.data, pairs.data);
  check_launch("select_kernel");
}

}  // namespace sextant::detail::photo_matches
