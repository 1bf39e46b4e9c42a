// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA gives the counts of the CPU.
#include "sextant/core/cuda/warp.cuh"
#include "sextant/core/cuda_check.h"
#include "sextant/evaluate/visible_surface/math.h"

namespace sextant::detail::visible_surface {

namespace {

constexpr int kBlock = 256;  ///< threads; eight warps add up their counts
constexpr int kStrips = 48;  ///< blocks that share a pair, for frames with few pairs

__device__ void sum_into(std::int32_t value, std::int32_t* to) {
  const std::int32_t sum = warp_sum(value);
  if (lane_index() == 0 && sum != 0) atomicAdd(to, sum);
}
__device__ void min_into(std::int32_t value, std::int32_t* to) {
  const std::int32_t least = warp_min(value);
  if (lane_index() == 0) atomicMin(to, least);
}
__device__ void max_into(std::int32_t value, std::int32_t* to) {
  // The lowest number of all is its own opposite; no pixel has it.
  const std::int32_t most = -warp_min(value == INT32_MIN ? INT32_MAX : -value);
  if (lane_index() == 0 && most != -INT32_MAX) atomicMax(to, most);
}
__device__ void box_into(const PixelBox& box, PixelBox* to) {
  min_into(box.left, &to->left);
  min_into(box.top, &to->top);
  max_into(box.right, &to->right);
  max_into(box.bottom, &to->bottom);
}

/// Calls visit(u, v) for the pixels of a box that belong to this thread.
template <class Visit>
__device__ void walk(const PixelBox& box, const Visit& visit) {
  if (box.empty()) return;
  const std::int64_t width = box.right - box.left;
  const std::int64_t pixels = width * (box.bottom - box.top);
  for (std::int64_t i = std::int64_t{blockIdx.x} * kBlock + threadIdx.x; i < pixels;
       i += std::int64_t{kStrips} * kBlock) {
    visit(box.left + static_cast<int>(i % width), box.top + static_cast<int>(i / width));
  }
}

__global__ void clear_pairs(View<SurfaceCounts> counts) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i < counts.size) counts[i] = SurfaceCounts{};
}

__global__ void clear_views(View<VisibleCounts> counts) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i >= counts.size) return;
  counts[i] = VisibleCounts{};
  counts[i].box = counts[i].visible_box = VisibleJob::nothing();
}

__global__ void __launch_bounds__(kBlock)
    count_pairs(const PairJob job, View<const SurfacePair> pairs, View<SurfaceCounts> counts) {
  const SurfacePair pair = pairs[blockIdx.y];
  SurfaceCounts mine;
  walk(pair.box, [&](int u, int v) { job.add(pair, u, v, mine); });
  SurfaceCounts& total = counts[blockIdx.y];
  sum_into(mine.union_px, &total.union_px);
  sum_into(mine.common_px, &total.common_px);
  for (int i = 0; i < kVsdTolerances; ++i) sum_into(mine.within_px[i], &total.within_px[i]);
}

__global__ void __launch_bounds__(kBlock)
    count_views(const VisibleJob job, View<const PixelBox> boxes, View<VisibleCounts> counts) {
  VisibleCounts mine;
  mine.box = mine.visible_box = VisibleJob::nothing();
  const int view = static_cast<int>(blockIdx.y);
  walk(boxes[view], [&](int u, int v) { job.add(view, u, v, mine); });
  VisibleCounts& total = counts[view];
  sum_into(mine.all_px, &total.all_px);
  sum_into(mine.valid_px, &total.valid_px);
  sum_into(mine.visible_px, &total.visible_px);
  box_into(mine.box, &total.box);
  box_into(mine.visible_box, &total.visible_box);
}

/// blockIdx.y holds 65535 at most.
constexpr std::int64_t kMostRows = 65535;

unsigned blocks_for(std::int64_t count) {
  return static_cast<unsigned>((count + kBlock - 1) / kBlock);
}

}  // namespace

void compare_on_cuda(const Context& context, const PairJob& job, View<const SurfacePair> pairs,
                     View<SurfaceCounts> counts) {
  require(pairs.size <= kMostRows, "pairs: ", pairs.size, " are more than ", kMostRows);
  const cudaStream_t stream = cuda_stream(context);
  clear_pairs<<<blocks_for(pairs.size), kBlock, 0, stream>>>(counts);
  check_launch("clear_pairs");
  const dim3 grid(kStrips, static_cast<unsigned>(pairs.size));
  count_pairs<<<grid, kBlock, 0, stream>>>(job, pairs, counts);
  check_launch("count_pairs");
}

void measure_on_cuda(const Context& context, const VisibleJob& job, View<const PixelBox> boxes,
                     View<VisibleCounts> counts) {
  require(boxes.size <= kMostRows, "poses: ", boxes.size, " are more than ", kMostRows);
  const cudaStream_t stream = cuda_stream(context);
  clear_views<<<blocks_for(boxes.size), kBlock, 0, stream>>>(counts);
  check_launch("clear_views");
  const dim3 grid(kStrips, static_cast<unsigned>(boxes.size));
  count_views<<<grid, kBlock, 0, stream>>>(job, boxes, counts);
  check_launch("count_views");
}

}  // namespace sextant::detail::visible_surface
