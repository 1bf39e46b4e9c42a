// SPDX-License-Identifier: Apache-2.0
#include <cfloat>

#include "sextant/core/cuda_check.h"
#include "sextant/surface/resolution/math.h"

namespace sextant::detail::resolution {

namespace {

constexpr int kThreads = 256;

/// Links to the right and down, counted per block in shared memory and then added: sums of integers
/// do not depend on the order.
__global__ void __launch_bounds__(kThreads) count_links_kernel(const StatisticsJob job) {
  __shared__ std::uint32_t counts[kLinkBins];
  for (int bin = threadIdx.x; bin < kLinkBins; bin += kThreads) counts[bin] = 0;
  __syncthreads();
  const int pixels = static_cast<int>(job.points.pixels());
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < pixels; i += gridDim.x * kThreads) {
    const int v = i / job.points.width;
    const int u = i - v * job.points.width;
    const Vec3f p = job.points(u, v);
    if (u + 1 < job.points.width) {
      const float length = distance_between(p, job.points(u + 1, v));
      if (length <= FLT_MAX) atomicAdd(counts + link_bin(length), 1u);
    }
    if (v + 1 < job.points.height) {
      const float length = distance_between(p, job.points(u, v + 1));
      if (length <= FLT_MAX) atomicAdd(counts + link_bin(length), 1u);
    }
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < kLinkBins; bin += kThreads) {
    if (counts[bin] != 0) atomicAdd(job.histogram + bin, counts[bin]);
  }
}

/// The median that every block works out for itself from the finished histogram.
__device__ float median_of_histogram(const std::uint32_t* histogram) {
  constexpr int kBinsEach = kLinkBins / kThreads;
  __shared__ std::uint64_t below[kThreads + 1];
  __shared__ float median;
  const int first = threadIdx.x * kBinsEach;
  std::uint64_t own = 0;
  for (int k = 0; k < kBinsEach; ++k) own += histogram[first + k];
  if (threadIdx.x == 0) {
    below[0] = 0;
    median = NAN;
  }
  below[threadIdx.x + 1] = own;
  for (int stride = 1; stride < kThreads; stride *= 2) {
    __syncthreads();
    const bool far_enough = static_cast<int>(threadIdx.x) + 1 > stride;
    const std::uint64_t earlier = far_enough ? below[threadIdx.x + 1 - stride] : 0;
    __syncthreads();
    below[threadIdx.x + 1] += earlier;
  }
  __syncthreads();
  const std::uint64_t all = below[kThreads];
  const bool before = 2 * below[threadIdx.x] >= all && below[threadIdx.x] > 0;
  if (!before && 2 * below[threadIdx.x + 1] >= all && below[threadIdx.x + 1] > 0) {
    std::uint64_t reached = below[threadIdx.x];
    for (int k = 0; k < kBinsEach; ++k) {
      reached += histogram[first + k];
      if (2 * reached >= all && reached > 0) {
        median = link_length_of_bin(first + k);
        break;
      }
    }
  }
  __syncthreads();
  return median;
}

__device__ PixelLinks<float> links_of(const StatisticsJob& job, int u, int v, float longest_m) {
  PixelLinks<float> links;
  const Vec3f p = job.points(u, v);
  const Vec3f n = job.normals(u, v);
  const int du[4] = {-1, 1, 0, 0};
  const int dv[4] = {0, 0, -1, 1};
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int other_u = u + du[k];
    const int other_v = v + dv[k];
    if (!job.points.contains(other_u, other_v)) continue;
    add_link(links, p, job.points(other_u, other_v), n, job.normals(other_u, other_v), longest_m);
  }
  return links;
}

/// The sum over the block, along a fixed tree; valid in thread 0.
__device__ StatisticsSums block_sum(const StatisticsSums& own) {
  __shared__ StatisticsSums lane[kThreads];
  lane[threadIdx.x] = own;
  for (int stride = kThreads / 2; stride > 0; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride) lane[threadIdx.x] = lane[threadIdx.x] + lane[threadIdx.x + stride];
  }
  return lane[0];
}

/// The block that finishes last adds up what all have left, always in the same order.
__global__ void __launch_bounds__(kThreads) sum_links_kernel(const StatisticsJob job) {
  __shared__ bool last;
  const bool robust = job.mode == StatisticsMode::kRobust;
  const float median_m = robust ? median_of_histogram(job.histogram) : NAN;
  const float longest_m = robust ? kLongestLinkInMedians * median_m : FLT_MAX;
  StatisticsSums sums;
  const int pixels = static_cast<int>(job.points.pixels());
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < pixels; i += gridDim.x * kThreads) {
    const int v = i / job.points.width;
    add_pixel(sums, links_of(job, i - v * job.points.width, v, longest_m));
  }
  sums = block_sum(sums);
  if (threadIdx.x == 0) {
    job.partial[blockIdx.x] = sums;
    __threadfence();
    last = atomicAdd(job.histogram + kLinkBins, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  sums = {};
  for (int block = threadIdx.x; block < static_cast<int>(gridDim.x); block += kThreads) {
    sums = sums + job.partial[block];
  }
  sums = block_sum(sums);
  if (threadIdx.x == 0) *job.result = finished_statistics(sums, median_m);
}

}  // namespace

void surface_statistics_cuda(const Context& context, const StatisticsJob& job) {
  const cudaStream_t stream = cuda_stream(context);
  check_cuda(cudaMemsetAsync(job.histogram, 0, (kLinkBins + 1) * sizeof(std::uint32_t), stream),
             "surface_statistics");
  if (job.mode == StatisticsMode::kRobust) {
    count_links_kernel<<<job.blocks, kThreads, 0, stream>>>(job);
    check_launch("surface_statistics: count_links");
  }
  sum_links_kernel<<<job.blocks, kThreads, 0, stream>>>(job);
  check_launch("surface_statistics: sum_links");
}

}  // namespace sextant::detail::resolution
