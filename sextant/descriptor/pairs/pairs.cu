// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA gives the bits of the CPU.
#include "sextant/core/cuda/warp.cuh"
#include "sextant/core/cuda_check.h"
#include "sextant/core/for_each/anywhere.h"
#include "sextant/descriptor/pairs/math.h"

namespace sextant::detail::pairs {

namespace {

constexpr int kSampleWarps = 4;

/// A warp searches the window of one point: each lane keeps its own three nearest, of which the
/// nearest of all are taken three times.
__global__ void __launch_bounds__(kWarp* kSampleWarps) sampled_partners_kernel(const PairsJob job) {
  const std::int64_t row = std::int64_t{blockIdx.x} * kSampleWarps + threadIdx.x / kWarp;
  if (row >= job.lookers.samples) return;
  const int lane = lane_index();
  const int point = static_cast<int>(job.lookers.point_of(row));
  const PairTest test(job.limits, job.statistics->resolution_m);
  Partners partners(test);
  search_window(job, test, point % job.points.width, point / job.points.width, lane, kWarp,
                partners);
  for (int k = 0; k < kPartnersPerPoint; ++k) {
    float nearest = partners.distance_sq[0];
    std::int32_t index = partners.index[0];
    for (int offset = kWarp / 2; offset > 0; offset /= 2) {
      const float other = __shfl_xor_sync(kAllLanes, nearest, offset);
      const std::int32_t other_index = __shfl_xor_sync(kAllLanes, index, offset);
      if (Partners::before(other, other_index, nearest, index)) {
        nearest = other;
        index = other_index;
      }
    }
    if (lane == 0) job.partners[row * kPartnersPerPoint + k] = index == kNobody ? -1 : index;
    if (index != kNobody && partners.index[0] == index) {
      partners.distance_sq[0] = partners.distance_sq[1];
      partners.index[0] = partners.index[1];
      partners.distance_sq[1] = partners.distance_sq[2];
      partners.index[1] = partners.index[2];
      partners.distance_sq[2] = test.most_sq;
      partners.index[2] = kNobody;
    }
  }
}

}  // namespace

void find_partners_cuda(const Context& context, const PairsJob& job) {
  if (job.lookers.samples == 0) return;
  const cudaStream_t stream = cuda_stream(context);
  if (job.lookers.samples < job.lookers.points) {
    const std::int64_t blocks = (job.lookers.samples + kSampleWarps - 1) / kSampleWarps;
    sampled_partners_kernel<<<static_cast<unsigned>(blocks), kWarp * kSampleWarps, 0, stream>>>(
        job);
    check_launch("sampled_partners");
    return;
  }
  find_partners_dense_cuda(context, job);
}

}  // namespace sextant::detail::pairs

namespace sextant::detail {
SEXTANT_FOR_EACH_ON_CUDA(pairs::CountListed)
SEXTANT_FOR_EACH_ON_CUDA(pairs::WriteListed)
SEXTANT_FOR_EACH_ON_CUDA(pairs::KeyPair)
SEXTANT_FOR_EACH_ON_CUDA(pairs::TakePair)
}  // namespace sextant::detail
