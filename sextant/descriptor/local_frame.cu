// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/cuda_check.h"
#include "sextant/descriptor/shot_warp.cuh"

namespace sextant::detail {

namespace {

__global__ void __launch_bounds__(kWarp* kWarpsPerBlock) local_frames(const LocalFrameJob job) {
  __shared__ std::uint32_t lists[kWarpsPerBlock][kListRoom];
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const std::int64_t query = std::int64_t{blockIdx.x} * kWarpsPerBlock + warp;
  if (query >= job.count) return;
  const GridPoint keypoint = job.queries[query];
  LocalFrame frame;
  if (is_finite(keypoint.position)) {
    WarpNeighbourhood neighbours(job.grid, lists[warp]);
    neighbours.find(keypoint.position, job.radius_m);
    frame = warp_frame(neighbours, job.grid, keypoint.position, job.radius_m);
  }
  if (lane_index() == 0) store_frame(frame, job.frames + 3 * std::int64_t{keypoint.index});
}

}  // namespace

void compute_local_frames_cuda(const Context& context, const LocalFrameJob& job) {
  if (job.count == 0) return;
  const auto blocks = static_cast<unsigned>((job.count + kWarpsPerBlock - 1) / kWarpsPerBlock);
  local_frames<<<blocks, kWarp * kWarpsPerBlock, 0, cuda_stream(context)>>>(job);
  check_launch("local_frames");
}

}  // namespace sextant::detail
