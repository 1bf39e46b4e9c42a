// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that cosines have the bits of the CPU
#include <algorithm>

#include "sextant/core/cuda/backend.h"
#include "sextant/core/cuda_check.h"
#include "sextant/match/tensors/best.cuh"
#include "sextant/match/tensors/blocks_math.h"

// The search by cosine. First a thread for each tensor of the library bounds its cosines with all
// tensors of the scene whose window it lies in. Then a block for each tensor of the scene compares
// the pairs with the highest bounds bin by bin, learns from them how good the k best are at least,
// and compares all others whose bounds reach that.

namespace sextant::detail::tensors {

namespace {

constexpr int kBoundThreads = 256;
constexpr int kStaged = 16;  // tensors of the scene in shared memory at a time
constexpr int kThreads = 512;
constexpr int kMostBins = kMostTensorBins * kMostTensorBins * kMostTensorBins;
constexpr int kPlacesPerThread = 4;  // whose bounds are read at once
constexpr int kTile = kThreads * kPlacesPerThread;
constexpr int kMostListed = 2048;  // listed pairs are compared when there are more
constexpr int kListRoom = kMostListed + 2 * kTile;
constexpr int kFewLanes = 8;  // that compare a pair together where there are few pairs
constexpr int kFirst = 64;    // pairs, at least, that are compared first
constexpr int kStepBits = 5;
constexpr int kSteps = 640;  // of bounds, which stay below (127 + √125)² < 640 · 2⁵
constexpr std::int64_t kMostBoundBytes = std::int64_t{256} << 20;

struct CosineMatch {
  MatchJob job;
  std::int64_t first;     ///< tensor of the scene
  int tensors;            ///< of the scene in this launch
  std::int64_t stride;    ///< of a row of bounds: the places, a multiple of kPlacesPerThread
  std::uint16_t* bounds;  ///< [tensor][flipped][place]
  Window* windows;        ///< [tensor]
};

__global__ void windows_kernel(const CosineMatch match) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < match.tensors) match.windows[i] = window_of(match.job, match.first + i);
}

/// Block y of the grid takes every gridDim.y-th group of tensors of the scene.
__global__ void __launch_bounds__(kBoundThreads) bounds_kernel(const CosineMatch match) {
  __shared__ uint4 scene[kStaged][2][kBlockWords / 4];
  __shared__ Window windows[kStaged];
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t begin = std::int64_t{blockIdx.x} * kBoundThreads;
  const std::int64_t place = begin + thread;
  const bool there = place < match.job.library.size;
  std::uint32_t mine[kBlockWords];
  SEXTANT_UNROLL
  for (int w = 0; w < kBlockWords; ++w) {
    mine[w] = there ? match.job.library.blocks[word_at(place, w)] : 0u;
  }
  for (int group = static_cast<int>(blockIdx.y) * kStaged; group < match.tensors;
       group += static_cast<int>(gridDim.y) * kStaged) {
    const int staged = min(kStaged, match.tensors - group);
    __syncthreads();
    const uint4* from = reinterpret_cast<const uint4*>(match.job.scene.blocks +
                                                       2 * (match.first + group) * kBlockWords);
    for (int i = thread; i < staged * 2 * kBlockWords / 4; i += kBoundThreads) {
      (&scene[0][0][0])[i] = from[i];
    }
    if (thread < staged) windows[thread] = match.windows[group + thread];
    __syncthreads();
    for (int s = 0; s < staged; ++s) {
      const Window window = windows[s];
      if (window.end <= begin || window.begin >= begin + kBoundThreads) continue;
      SEXTANT_UNROLL
      for (int f = 0; f < 2; ++f) {
        std::uint32_t sum = 0;
        SEXTANT_UNROLL
        for (int w = 0; w < kBlockWords / 4; ++w) {
          const uint4 theirs = scene[s][f][w];
          sum = __dp4a(mine[4 * w], theirs.x, sum);
          sum = __dp4a(mine[4 * w + 1], theirs.y, sum);
          sum = __dp4a(mine[4 * w + 2], theirs.z, sum);
          sum = __dp4a(mine[4 * w + 3], theirs.w, sum);
        }
        if (there) {
          match.bounds[(2 * (group + s) + f) * match.stride + place] =
              static_cast<std::uint16_t>(sum);
        }
      }
    }
  }
}

/// What the threads of a block share while they search for one tensor of the scene.
struct Shared {
  std::uint32_t areas[2][kMostBins];                 ///< as it is and flipped
  TensorMatch found[kMostTensorMatches + kThreads];  ///< the best so far and fresh ones
  TensorMatch best[kMostTensorMatches];
  std::int32_t listed[kListRoom];  ///< place, counted from the window's begin, twice, and flipped
  int steps[kSteps];               ///< how many bounds lie in each
  int count;
  int cut;  ///< the first bounds that are looked at
};

__device__ void count_steps(const CosineMatch& match, const Window& window, Shared& shared) {
  const std::uint16_t* rows = match.bounds + 2 * std::int64_t{blockIdx.x} * match.stride;
  for (int i = static_cast<int>(threadIdx.x); i < kSteps; i += kThreads) shared.steps[i] = 0;
  __syncthreads();
  const std::int64_t begin = window.begin / kPlacesPerThread * kPlacesPerThread;
  for (std::int64_t place = begin + kPlacesPerThread * threadIdx.x; place < window.end;
       place += kTile) {
    for (int f = 0; f < 2; ++f) {
      const ushort4 bounds = *reinterpret_cast<const ushort4*>(rows + f * match.stride + place);
      const int each[4] = {bounds.x, bounds.y, bounds.z, bounds.w};
      SEXTANT_UNROLL
      for (int i = 0; i < kPlacesPerThread; ++i) {
        const bool counts = place + i >= window.begin && place + i < window.end;
        if (counts) atomicAdd(&shared.steps[min(each[i] >> kStepBits, kSteps - 1)], 1);
      }
    }
  }
  __syncthreads();
}

/// The highest bounds, at least kFirst of them where there are as many: the first of a warp finds
/// where they begin.
__device__ int cut_for_first(const Shared& shared) {
  constexpr int kEach = kSteps / kWarp;
  const int lane = lane_index();  // lane 0 has the highest steps
  int own = 0;
  for (int i = 0; i < kEach; ++i) own += shared.steps[kSteps - 1 - (lane * kEach + i)];
  int above = own;
  for (int step = 1; step < kWarp; step *= 2) {
    const int other = __shfl_up_sync(kAllLanes, above, step);
    if (lane >= step) above += other;
  }
  int cut = 0;
  int seen = above - own;
  if (seen < kFirst && above >= kFirst) {
    for (int i = 0; i < kEach && seen < kFirst; ++i) {
      cut = kSteps - 1 - (lane * kEach + i);
      seen += shared.steps[cut];
    }
  }
  for (int step = kWarp / 2; step > 0; step /= 2) {
    cut = max(cut, __shfl_xor_sync(kAllLanes, cut, step));
  }
  return cut << kStepBits;
}

/// Compares a pair with some lanes; all of them get the result.
template <int kLanes>
__device__ TensorMatch compare_pair(const MatchJob& job, std::int64_t t, std::int64_t place,
                                    int flipped, const std::uint32_t* scene) {
  const int lane = lane_index() % kLanes;
  const unsigned mask = ((1u << kLanes) - 1u) << (lane_index() - lane);
  const TensorMask& mine = job.library.masks[place];
  const TensorMask& theirs = job.scene.masks[2 * t + flipped];
  int common = 0;
  for (int w = lane; w < kMaskWords; w += kLanes) {
    common += __popcll(mine.words[w] & theirs.words[w]);
  }
  const std::uint16_t* indices = job.library.indices + job.library.first[place];
  const std::uint32_t* areas = job.library.areas + job.library.first[place];
  const int size = job.library.sizes[place];
  unsigned long long sum = 0;
#pragma unroll 4
  for (int e = lane; e < size; e += kLanes) {
    sum += std::uint64_t{areas[e]} * scene[indices[e]];
  }
  for (int step = kLanes / 2; step > 0; step /= 2) {
    common += __shfl_xor_sync(mask, common, step);
    sum += __shfl_xor_sync(mask, sum, step);
  }
  const float overlap = overlap_of(common, size, job.scene.sizes[t]);
  if (overlap < job.options.least_overlap) return {};
  const float cosine = cosine_of(sum, job.library.norms_sq[place], job.scene.norms_sq[t]);
  if (!(cosine >= job.options.least_correlation)) return {};
  return {static_cast<std::int32_t>(job.library.order[place]), flipped, cosine, overlap};
}

/// Compares listed pairs from `first` on, as many as there are threads for, and keeps the best.
template <int kLanes>
__device__ void compare_some(const CosineMatch& match, std::int64_t t, const Window& window,
                             int first, int count, Shared& shared) {
  constexpr int kCompared = kThreads / kLanes;
  const int k = match.job.options.k;
  const int thread = static_cast<int>(threadIdx.x);
  const int i = first + thread / kLanes;
  TensorMatch fresh;
  if (i < count) {
    const int listed = shared.listed[i];
    fresh = compare_pair<kLanes>(match.job, t, window.begin + listed / 2, listed % 2,
                                 shared.areas[listed % 2]);
  }
  // What is worse than the worst of the best need not be looked at again.
  const bool counts = better(fresh, shared.best[k - 1]);
  if (thread % kLanes == 0) {
    shared.found[k + thread / kLanes] = counts ? fresh : TensorMatch{};
  }
  if (thread < k) shared.found[thread] = shared.best[thread];
  if (!__syncthreads_or(counts)) return;
  if (thread < kWarp) select_best(shared.found, k + kCompared, k, shared.best);
  __syncthreads();
}

/// Compares all listed pairs, keeps the best, and empties the list.
__device__ void compare_listed(const CosineMatch& match, std::int64_t t, const Window& window,
                               Shared& shared) {
  const int count = shared.count;
  int first = 0;
  for (; count - first >= kThreads; first += kThreads) {
    compare_some<1>(match, t, window, first, count, shared);
  }
  for (; first < count; first += kThreads / kFewLanes) {
    compare_some<kFewLanes>(match, t, window, first, count, shared);
  }
  __syncthreads();
  if (threadIdx.x == 0) shared.count = 0;
  __syncthreads();
}

/// Compares all pairs whose bounds are at least `low` and below `high`.
__device__ void compare_between(const CosineMatch& match, std::int64_t t, const Window& window,
                                int low, int high, Shared& shared) {
  const std::uint16_t* rows = match.bounds + 2 * std::int64_t{blockIdx.x} * match.stride;
  const std::int64_t begin = window.begin / kPlacesPerThread * kPlacesPerThread;
  for (std::int64_t tile = begin; tile < window.end; tile += kTile) {
    const std::int64_t place = tile + kPlacesPerThread * threadIdx.x;
    for (int f = 0; f < 2 && place < window.end; ++f) {
      const ushort4 bounds = *reinterpret_cast<const ushort4*>(rows + f * match.stride + place);
      const int each[4] = {bounds.x, bounds.y, bounds.z, bounds.w};
      SEXTANT_UNROLL
      for (int i = 0; i < kPlacesPerThread; ++i) {
        if (place + i < window.begin || place + i >= window.end) continue;
        if (each[i] < low || each[i] >= high) continue;
        // In any order: the best are chosen by what they are.
        shared.listed[atomicAdd(&shared.count, 1)] =
            static_cast<std::int32_t>(2 * (place + i - window.begin) + f);
      }
    }
    __syncthreads();
    const bool full = shared.count > kMostListed;
    __syncthreads();
    if (full) compare_listed(match, t, window, shared);
  }
  compare_listed(match, t, window, shared);
}

__global__ void __launch_bounds__(kThreads) compare_kernel(const CosineMatch match) {
  extern __shared__ std::uint64_t memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const MatchJob& job = match.job;
  const std::int64_t t = match.first + blockIdx.x;
  const int thread = static_cast<int>(threadIdx.x);
  const int k = job.options.k;
  const Window window = match.windows[blockIdx.x];
  if (thread == 0) shared.count = 0;
  if (thread < k) shared.best[thread] = TensorMatch{};
  if (window.begin < window.end) {
    const int all = job.scene.all_bins();
    for (int i = thread; i < all; i += kThreads) {
      shared.areas[0][i] = job.scene.areas[2 * t * all + i];
      shared.areas[1][i] = job.scene.areas[(2 * t + 1) * all + i];
    }
    count_steps(match, window, shared);
    if (thread < kWarp) {
      const int cut = cut_for_first(shared);
      if (thread == 0) shared.cut = max(cut, least_sum(job.options.least_correlation));
    }
    __syncthreads();
    const int cut = shared.cut;
    compare_between(match, t, window, cut, INT32_MAX, shared);
    const TensorMatch worst = shared.best[k - 1];
    const int least =
        worst.model >= 0 ? least_sum(worst.correlation) : least_sum(job.options.least_correlation);
    if (least < cut) compare_between(match, t, window, least, cut, shared);
  }
  __syncthreads();
  if (thread < k) job.matches[t * k + thread] = shared.best[thread];
}

}  // namespace

void match_cosines_cuda(const Context& context, const MatchJob& job, Workspace& workspace) {
  const cudaStream_t stream = cuda_stream(context);
  const std::int64_t capacity = job.scene.capacity;
  require(capacity <= 65535, "scene: ", capacity, " tensors; at most 65535 are matched at once");
  require(job.library.size < INT32_MAX / 2, "library: ", job.library.size,
          " tensors are too many for one search");
  CosineMatch match{};
  match.job = job;
  match.stride = (job.library.size + kPlacesPerThread - 1) / kPlacesPerThread * kPlacesPerThread;
  const std::int64_t row_bytes = std::max<std::int64_t>(4 * match.stride, 1);
  const std::int64_t slice = std::clamp<std::int64_t>(kMostBoundBytes / row_bytes, 1, capacity);
  match.bounds = workspace.take<std::uint16_t>(context, 2 * slice * match.stride).data;
  match.windows = workspace.take<Window>(context, slice).data;
  // The same for every call, so that calls of several threads do not disturb each other.
  check_cuda(cudaFuncSetAttribute(compare_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(sizeof(Shared))),
             "cudaFuncSetAttribute");
  const std::int64_t library_blocks = (job.library.size + kBoundThreads - 1) / kBoundThreads;
  for (match.first = 0; match.first < capacity; match.first += slice) {
    match.tensors = static_cast<int>(std::min(slice, capacity - match.first));
    windows_kernel<<<static_cast<unsigned>((match.tensors + 127) / 128), 128, 0, stream>>>(match);
    check_launch("windows_kernel");
    if (library_blocks > 0) {
      constexpr std::int64_t kBlocksPerMultiprocessor = 8;
      const std::int64_t groups = (match.tensors + kStaged - 1) / kStaged;
      const std::int64_t wanted =
          multiprocessors(context) * kBlocksPerMultiprocessor / library_blocks + 1;
      const dim3 grid(static_cast<unsigned>(library_blocks),
                      static_cast<unsigned>(std::min(groups, wanted)));
      bounds_kernel<<<grid, kBoundThreads, 0, stream>>>(match);
      check_launch("bounds_kernel");
    }
    compare_kernel<<<static_cast<unsigned>(match.tensors), kThreads, sizeof(Shared), stream>>>(
        match);
    check_launch("compare_kernel");
  }
}

}  // namespace sextant::detail::tensors
