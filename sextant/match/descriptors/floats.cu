// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that distances in double precision have the bits of the CPU
#include "sextant/core/cuda_check.h"
#include "sextant/match/descriptors/float_measure.cuh"
#include "sextant/match/descriptors/float_products.cuh"

// The search among rows of floats on tensor cores. Each number, scaled by a power of two, becomes
// the sum of two of half precision, and the product of two rows three products of such: right to
// some 2⁻²¹ of the norms and what the sums of the hardware lose. Lists hold a few more rows than
// are asked for. Those that the error lets be among the nearest are then measured in double
// precision, and where a list may have lost one, the query meets every row again.

namespace sextant::detail::descriptors {

namespace {

constexpr std::int32_t kInfinityBits = 0x7f800000;

/// A warp for each row.
__global__ void norms_kernel(const float* rows, int length, std::int64_t count, float* norms_sq,
                             int* largest) {
  const std::int64_t row = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / kWarp;
  if (row >= count) return;
  const double sum = warp_sum(partial_norm_sq(rows + row * length, length, lane_index()));
  if (lane_index() != 0) return;
  const bool usable = is_usable(sum);
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
