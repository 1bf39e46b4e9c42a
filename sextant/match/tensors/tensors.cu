// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that correlations have the bits of the CPU
#include "sextant/core/cuda/warp.cuh"
#include "sextant/core/cuda_check.h"
#include "sextant/core/for_each/anywhere.h"
#include "sextant/match/tensors/best.cuh"
#include "sextant/match/tensors/blocks_math.h"

// The search by correlation. A block compares one tensor of the scene with 256 neighbouring ones of
// the library, as it is and flipped: a thread for each counts common bins, and those that overlap
// enough are correlated by a thread each. The best of every block are merged by a warp for each
// tensor of the scene.

namespace sextant::detail {

SEXTANT_FOR_EACH_ON_CUDA(tensors::ListAngles)
SEXTANT_FOR_EACH_ON_CUDA(tensors::ArrangeTensor)
SEXTANT_FOR_EACH_ON_CUDA(tensors::FixArea)
SEXTANT_FOR_EACH_ON_CUDA(tensors::ArrangeBlocks)

namespace tensors {

namespace {

constexpr int kBlock = 256;
constexpr int kMostBins = kMostTensorBins * kMostTensorBins * kMostTensorBins;

struct CudaMatch {
  MatchJob job;
  Window* windows;       ///< [scene]
  TensorMatch* partial;  ///< [scene][block][k]
  int blocks;            ///< of a tensor of the scene
};

__global__ void windows_kernel(const CudaMatch match) {
  const std::int64_t t = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const MatchJob& job = match.job;
  if (t >= job.scene.capacity) return;
  match.windows[t] = window_of(job, t);
}

/// A pair that overlaps enough: the place in the library relative to the block's first, twice, and
/// whether it is flipped.
struct Survivor {
  int place;
  float overlap;
};

/// The correlation of the library's tensor with the scene's, by one thread: its bins follow each
/// other in memory, and there is nothing to add up among threads.
__device__ float correlate(const MatchJob& job, std::int64_t place, const std::uint32_t* scene) {
  CorrelationSums sums;
  const std::int64_t first = job.library.first[place];
  const int size = job.library.sizes[place];
  const std::uint16_t* indices = job.library.indices + first;
  const std::uint32_t* areas = job.library.areas + first;
#pragma unroll 4
  for (int e = 0; e < size; ++e) {
    const std::uint32_t q = scene[indices[e]];
    if (q > 0) sums.add(areas[e], q);
  }
  return sums.correlation();
}

__global__ void __launch_bounds__(kBlock) match_kernel(const CudaMatch match) {
  __shared__ std::uint32_t areas[2][kMostBins];  ///< as it is and flipped
  __shared__ TensorMask masks[2];
  __shared__ Survivor survivors[2 * kBlock];
  __shared__ TensorMatch found[2 * kBlock];
  __shared__ int count;
  const MatchJob& job = match.job;
  const std::int64_t t = blockIdx.y;
  TensorMatch* to = match.partial + (t * match.blocks + blockIdx.x) * job.options.k;
  const Window window = match.windows[t];
  const std::int64_t begin = window.begin + std::int64_t{blockIdx.x} * kBlock;
  if (begin >= window.end) return;  // merge_kernel does not read what this block would write

  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) count = 0;
  if (thread < 2 * kMaskWords) {
    masks[thread / kMaskWords].words[thread % kMaskWords] =
        job.scene.masks[2 * t + thread / kMaskWords].words[thread % kMaskWords];
  }
  for (int i = thread; i < job.scene.all_bins(); i += kBlock) {
    areas[0][i] = job.scene.areas[2 * t * job.scene.all_bins() + i];
    areas[1][i] = job.scene.areas[(2 * t + 1) * job.scene.all_bins() + i];
  }
  __syncthreads();

  const std::int64_t place = begin + thread;
  if (place < window.end) {
    int common[2] = {0, 0};
    const ulonglong2* words = reinterpret_cast<const ulonglong2*>(job.library.masks[place].words);
    SEXTANT_UNROLL
    for (int w = 0; w < kMaskWords / 2; ++w) {
      const ulonglong2 mine = words[w];
      SEXTANT_UNROLL
      for (int f = 0; f < 2; ++f) {
        common[f] +=
            __popcll(mine.x & masks[f].words[2 * w]) + __popcll(mine.y & masks[f].words[2 * w + 1]);
      }
    }
    for (int f = 0; f < 2; ++f) {
      const float overlap = overlap_of(common[f], job.library.sizes[place], job.scene.sizes[t]);
      if (overlap < job.options.least_overlap) continue;
      // In any order: the best are chosen by what they are.
      survivors[atomicAdd(&count, 1)] = {2 * thread + f, overlap};
    }
  }
  __syncthreads();

  for (int i = thread; i < count; i += kBlock) {
    const Survivor survivor = survivors[i];
    const std::int64_t model = begin + survivor.place / 2;
    const float correlation = correlate(job, model, areas[survivor.place % 2]);
    const bool accepted = correlation >= job.options.least_correlation;
    found[i] = {accepted ? static_cast<std::int32_t>(job.library.order[model]) : -1,
                survivor.place % 2, correlation, survivor.overlap};
  }
  __syncthreads();
  if (thread < kWarp) select_best(found, count, job.options.k, to);
}

/// A warp for each tensor of the scene.
__global__ void merge_kernel(const CudaMatch match) {
  const std::int64_t t = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / kWarp;
  if (t >= match.job.scene.capacity) return;
  const int k = match.job.options.k;
  const Window window = match.windows[t];
  const std::int64_t blocks = (window.end - window.begin + kBlock - 1) / kBlock;
  select_best(match.partial + t * match.blocks * k, static_cast<int>(blocks) * k, k,
              match.job.matches + t * k);
}

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>((threads + kBlock - 1) / kBlock);
}

}  // namespace

void correlate_cuda(const Context& context, const MatchJob& job, Workspace& workspace) {
  const cudaStream_t stream = cuda_stream(context);
  const std::int64_t capacity = job.scene.capacity;
  require(capacity <= 65535, "scene: ", capacity, " tensors; at most 65535 are matched at once");
  const std::int64_t blocks = std::max<std::int64_t>((job.library.size + kBlock - 1) / kBlock, 1);
  CudaMatch match{job, workspace.take<Window>(context, capacity).data,
                  workspace.take<TensorMatch>(context, capacity * blocks * job.options.k).data,
                  static_cast<int>(blocks)};
  windows_kernel<<<blocks_for(capacity), kBlock, 0, stream>>>(match);
  check_launch("windows_kernel");
  match_kernel<<<dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(capacity)), kBlock, 0,
                 stream>>>(match);
  check_launch("match_kernel");
  merge_kernel<<<blocks_for(capacity * kWarp), kBlock, 0, stream>>>(match);
  check_launch("merge_kernel");
}

}  // namespace tensors

}  // namespace sextant::detail
