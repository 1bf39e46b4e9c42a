// SPDX-License-Identifier: Apache-2.0
// Compiled without fused multiply-add, so that CUDA gives the bits of the CPU.
#include "sextant/core/cuda_check.h"
#include "sextant/descriptor/tensor_block.cuh"
#include "sextant/descriptor/tensor_reach.cuh"

namespace sextant::detail {

namespace {

constexpr int kBoxThreads = 256;
constexpr int kThreadsPerTile = kBoxThreads / kTilesPerGroup;

__device__ Bounds joined_over(Bounds box, int lanes) {
  for (int offset = lanes / 2; offset > 0; offset /= 2) {
    Bounds other;
    other.low = {__shfl_down_sync(kAllLanes, box.low.x, offset, lanes),
                 __shfl_down_sync(kAllLanes, box.low.y, offset, lanes),
                 __shfl_down_sync(kAllLanes, box.low.z, offset, lanes)};
    other.high = {__shfl_down_sync(kAllLanes, box.high.x, offset, lanes),
                  __shfl_down_sync(kAllLanes, box.high.y, offset, lanes),
                  __shfl_down_sync(kAllLanes, box.high.z, offset, lanes)};
    include(box, other);
  }
  return box;
}

/// A block makes the seventeen boxes of a group, sixteen threads each tile.
__global__ void __launch_bounds__(kBoxThreads)
    surface_boxes_kernel(const TensorJob job, Bounds* boxes) {
  const int group = static_cast<int>(blockIdx.x);
  const int tile = static_cast<int>(threadIdx.x) / kThreadsPerTile;
  const int thread = static_cast<int>(threadIdx.x) % kThreadsPerTile;
  const CellWindow cells = job.tile_window(group, tile);
  Bounds box;
  for (int cell = thread; cell < kTileCells * kTileCells; cell += kThreadsPerTile) {
    const int u = cells.u0 + cell % kTileCells;
    const int v = cells.v0 + cell / kTileCells;
    if (u < cells.u1 && v < cells.v1) include_cell(job.surface, u, v, box);
  }
  box = joined_over(box, kThreadsPerTile);
  Bounds* to = boxes + std::int64_t{group} * kBoxesPerGroup;
  if (thread == 0) to[1 + tile] = box;
  __syncthreads();
  if (threadIdx.x >= kWarpLanes) return;
  box = threadIdx.x < kTilesPerGroup ? to[1 + threadIdx.x] : Bounds{};
  box = joined_over(box, kWarpLanes);
  if (threadIdx.x == 0) to[0] = box;
}

/// Tiles whose triangles are looked at one by one, and words that are not empty; of more of them,
/// all of the window is gone through.
constexpr int kMostTiles = 512;
constexpr int kMostFullWords = 512;

/// Words whose triangles are added together.
constexpr int kBatchWords = 64;

/// Triangles that are cut wait here until all of their kind are known, so that the lanes of a warp
/// have the same to do. In any order: the sums do not depend on it.
struct WaitingTriangles {
  std::uint16_t at[kBatchWords * 64];  ///< word of the batch · 64 + bit
  int count;

  __device__ void append(int triangle) {
    at[atomicAdd(&count, 1)] = static_cast<std::uint16_t>(triangle);
  }
};

struct SharedTensor {
  BlockSums sums;
  WaitingTriangles cut_once;     ///< along one axis
  WaitingTriangles cut_further;  ///< along two or three
  int listed[kTensorThreads];
  int length;
  int u0, v0, u1, v1;
  int tile[kMostTiles];  ///< that may meet the cube: group · kTilesPerGroup + tile; in any order
  int tiles;
  int full_word[kMostFullWords];  ///< with triangles that were reached; in any order
  int full_words;
  std::uint64_t open[kSharedWords];
  std::uint64_t reached[kSharedWords];
};

/// The triangle at a bit of a word.
__device__ LocalTriangle triangle_at(const TensorJob& job, const TensorCube& cube,
                                     const CellWindow& window, int word, int bit) {
  const int words = window.words();
  return triangle_at(job, cube, window.u0 + word % words * kCellsPerWord + bit / 2,
                     window.v0 + word / words, bit % 2);
}

/// Lists the words with triangles that were reached; false when there are too many.
__device__ bool list_full_words(const CellWindow& window, const std::uint64_t* reached,
                                SharedTensor& shared) {
  if (threadIdx.x == 0) shared.full_words = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < window.rows() * window.words(); i += kTensorThreads) {
    if (reached[i] == 0) continue;
    const int at = atomicAdd(&shared.full_words, 1);
    if (at < kMostFullWords) shared.full_word[at] = i;
  }
  __syncthreads();
  return shared.full_words <= kMostFullWords;
}

/// A warp takes a word, a lane each of its triangles. Those that lie in one bin are added at once,
/// then those that are cut along one axis, then the others.
__device__ void add_areas(const TensorJob& job, const TensorCube& cube, const CellWindow& window,
                          const std::uint64_t* reached, SharedTensor& shared) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  const int warp = static_cast<int>(threadIdx.x) / kWarpLanes;
  const int bins = job.out.bins;
  const bool listed = list_full_words(window, reached, shared);
  const int all = listed ? shared.full_words : window.rows() * window.words();
  const auto word_at = [&](int i) { return listed ? shared.full_word[i] : i; };
  const auto add = [&](int bin, std::uint32_t area) { shared.sums.add(bin, area); };
  for (int begin = 0; begin < all; begin += kBatchWords) {
    if (threadIdx.x == 0) shared.cut_once.count = shared.cut_further.count = 0;
    __syncthreads();
    for (int i = warp; i < min_of(kBatchWords, all - begin); i += kTensorWarps) {
      const int word = word_at(begin + i);
      const std::uint64_t bits = reached[word];
      const int count = __popcll(bits);
      for (int n = lane; n < count; n += kWarpLanes) {
        const int bit = nth_bit(bits, n);
        const LocalTriangle t = triangle_at(job, cube, window, word, bit);
        int index = 0;
        const int axes = cut_axes(t.a, t.b, t.c, bins, index);
        if (axes == 0) {
          add_whole_triangle(t.a, t.b, t.c, index, add);
        } else {
          (axes == 1 ? shared.cut_once : shared.cut_further).append(i * 64 + bit);
        }
      }
    }
    __syncthreads();
    // No warp has triangles of both kinds.
    const int once = shared.cut_once.count;
    const int padded = (once + kWarpLanes - 1) / kWarpLanes * kWarpLanes;
    for (int i = threadIdx.x; i < padded + shared.cut_further.count; i += kTensorThreads) {
      if (i >= once && i < padded) continue;
      const int at = i < once ? shared.cut_once.at[i] : shared.cut_further.at[i - padded];
      const LocalTriangle t = triangle_at(job, cube, window, word_at(begin + at / 64), at % 64);
      add_triangle(t.a, t.b, t.c, bins, add);
    }
    __syncthreads();
  }
}

/// Tensor t; false when the window has too many words for the bitmaps, and nothing was written.
__device__ bool compute_tensor(const TensorJob& job, std::int64_t t, SharedTensor& shared,
                               std::uint64_t* open, std::uint64_t* reached,
                               std::int64_t most_words) {
  const TensorFrame frame = job.frame(t);
  if (threadIdx.x == 0) {
    job.out.frames[t] = frame;
    shared.u0 = shared.v0 = INT32_MAX;
    shared.u1 = shared.v1 = 0;
    shared.tiles = 0;
  }
  shared.sums.clear();
  __syncthreads();
  if (!isnan(frame.angle_rad)) {
    const TensorCube cube(frame, job.out.bins);
    for_each_box(cube, job.boxes, job.groups(), shared.listed, &shared.length,
                 [&](int group, int tile) {
                   const CellWindow cells = job.tile_window(group, tile);
                   atomicMin(&shared.u0, cells.u0);
                   atomicMin(&shared.v0, cells.v0);
                   atomicMax(&shared.u1, cells.u1);
                   atomicMax(&shared.v1, cells.v1);
                   const int at = atomicAdd(&shared.tiles, 1);
                   if (at < kMostTiles) shared.tile[at] = group * kTilesPerGroup + tile;
                 });
    const CellWindow window{shared.u0, shared.v0, shared.u1, shared.v1};
    if (!window.empty()) {
      if (std::int64_t{window.rows()} * window.words() > most_words) return false;
      if (shared.tiles <= kMostTiles) {
        find_in_tiles(job, cube, frame.pair, window, shared.tile, shared.tiles, open, reached);
      } else {
        find_in_window(job, cube, frame.pair, window, open, reached);
      }
      __syncthreads();
      if (job.mode == TensorMode::kGrow) {
        if (open == shared.open) {
          grow_in_steps(window, open, reached);
        } else {
          grow_at_once(window, open, reached);
        }
      }
      add_areas(job, cube, window, reached, shared);
    }
  }
  __syncthreads();
  shared.sums.write(job.out, t);
  return true;
}

__global__ void __launch_bounds__(kTensorThreads, kTensorBlocks)
    tensor_kernel(const TensorJob job) {
  __shared__ SharedTensor shared;
  const std::int64_t t = blockIdx.x;
  const std::int64_t tensors = job.tensors();
  if (t == 0 && threadIdx.x == 0) *job.out.count = static_cast<std::int32_t>(tensors);
  if (t >= tensors) return;
  const bool done = compute_tensor(job, t, shared, shared.open, shared.reached, kSharedWords);
  if (threadIdx.x == 0) job.large[t] = done ? 0 : 1;
}

/// The few whose window is too large, with bitmaps in global memory.
__global__ void __launch_bounds__(kTensorThreads, kTensorBlocks)
    large_tensor_kernel(const TensorJob job, std::int64_t words) {
  __shared__ SharedTensor shared;
  std::uint64_t* open = job.bitmaps + std::int64_t{blockIdx.x} * 2 * words;
  const std::int64_t tensors = job.tensors();
  for (std::int64_t t = blockIdx.x; t < tensors; t += gridDim.x) {
    if (job.large[t] == 0) continue;
    compute_tensor(job, t, shared, open, open + words, words);
    __syncthreads();
  }
}

}  // namespace

void surface_boxes_cuda(const Context& context, const OrganisedSurface& surface, Bounds* boxes) {
  TensorJob job;
  job.surface = surface;
  if (job.groups() == 0) return;
  surface_boxes_kernel<<<static_cast<unsigned>(job.groups()), kBoxThreads, 0,
                         cuda_stream(context)>>>(job, boxes);
  check_launch("surface_boxes");
}

void compute_tensors_cuda(const Context& context, const TensorJob& job) {
  const cudaStream_t stream = cuda_stream(context);
  // One block even without room, to write the count.
  const std::int64_t blocks = max_of<std::int64_t>(1, min_of(job.pairs.size, job.out.capacity));
  tensor_kernel<<<static_cast<unsigned>(blocks), kTensorThreads, 0, stream>>>(job);
  check_launch("tensor");
  const std::int64_t words = bitmap_words(job.surface.cells);
  if (words <= kSharedWords) return;
  large_tensor_kernel<<<kLargeBlocks, kTensorThreads, 0, stream>>>(job, words);
  check_launch("large_tensor");
}

}  // namespace sextant::detail
