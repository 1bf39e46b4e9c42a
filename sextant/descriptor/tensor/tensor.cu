// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA gives the bits of the CPU.
#include "sextant/core/cuda_check.h"
#include "sextant/descriptor/tensor/areas.cuh"

namespace sextant::detail::tensor {

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

/// A block makes the seventeen boxes of a group; each tile has sixteen threads.
__global__ void __launch_bounds__(kBoxThreads)
    surface_boxes_kernel(const TensorJob job, Bounds* boxes) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *job.large = 0;
  const int group = static_cast<int>(blockIdx.x);
  const int tile = static_cast<int>(threadIdx.x) / kThreadsPerTile;
  const int thread = static_cast<int>(threadIdx.x) % kThreadsPerTile;
  const CellWindow cells = job.cells_of(job.tile_place(group, tile));
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
  if (threadIdx.x >= kWarp) return;
  box = threadIdx.x < kTilesPerGroup ? to[1 + threadIdx.x] : Bounds{};
  box = joined_over(box, kWarp);
  if (threadIdx.x == 0) to[0] = box;
}

// A tensor has some 40 warps of triangles to cut. Four blocks of eight warps run at a time: while
// one lists tiles or grows, which keeps few threads busy, the others cut.
constexpr int kTensorThreads = 256;
constexpr int kTensorWarps = kTensorThreads / kWarp;
constexpr int kTensorBlocks = 4;  // on a multiprocessor

/// What the tables in shared memory have room for. With the defaults a cube may meet some 50 tiles
/// in a window of some 600.
constexpr int kMostTiles = 192;
constexpr int kMostPlaces = 2048;

struct SharedTensor {
  BlockSums sums;
  TilesFound found;
  int length;
  int counts[4];
  TilePlace tile[kMostTiles];
  int counting[kMostTiles];
  TileBits open[kMostTiles];
  TileBits reached[kMostTiles];
  union {  // one after the other
    int listed[kTensorThreads];
    std::uint8_t sides[kTensorWarps * kTileCorners];
    int place[kMostPlaces];
    TileBatch batch;
  };
};
static_assert(sizeof(SharedTensor) <= 48 * 1024);

/// Computes tensor t. Returns false when the tables are too small; then only the frame is written.
__device__ bool compute_tensor(const TensorJob& job, std::int64_t t, SharedTensor& shared,
                               const TileTables& tables) {
  TilesFound& found = shared.found;
  if (threadIdx.x == 0) {
    job.out.frames[t] = job.frame(t);
    found.clear();
  }
  shared.sums.clear();
  __syncthreads();
  const TensorFrame frame = job.out.frames[t];
  if (!isnan(frame.angle_rad)) {
    const TensorCube cube(frame, job.out.bins);
    list_tiles(job, cube, shared.listed, &shared.length, found, tables);
    if (found.tiles > 0) {
      if (found.tiles > tables.most_tiles || found.places() > tables.most_places) return false;
      find_triangles(job, cube, found, shared.sides, tables);
      __syncthreads();
      if (job.mode == TensorMode::kGrow) {
        fill_places(found, tables);
        __syncthreads();
        reach_pair(job, frame.pair, found, tables);
        __syncthreads();
        grow_over_tiles(found, tables);
      }
      add_areas(job, t, tables, found, shared.counts, shared.batch, shared.sums);
    }
  }
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
  const TileTables tables{shared.tile,    shared.counting, shared.place, shared.open,
                          shared.reached, kMostTiles,      kMostPlaces};
  const bool done = compute_tensor(job, t, shared, tables);
  // They are listed in any order, as each writes its own tensor.
  if (!done && threadIdx.x == 0) {
    job.large[1 + atomicAdd(job.large, 1)] = static_cast<std::int32_t>(t);
  }
}

/// Computes the few whose tiles are too many, with tables in global memory.
__global__ void __launch_bounds__(kTensorThreads, kTensorBlocks)
    large_tensor_kernel(const TensorJob job) {
  __shared__ SharedTensor shared;
  const int large = *job.large;
  const std::int64_t tiles = job.tiles();
  std::uint64_t* own = job.tables + std::int64_t{blockIdx.x} * kTableWords * tiles;
  auto* bits = reinterpret_cast<TileBits*>(own);
  auto* places = reinterpret_cast<TilePlace*>(own + 4 * tiles);
  auto* numbers = reinterpret_cast<int*>(own + 5 * tiles);
  const TileTables tables{places,       numbers,     numbers + tiles, bits,
                          bits + tiles, job.tiles(), job.tiles()};
  for (int i = static_cast<int>(blockIdx.x); i < large; i += static_cast<int>(gridDim.x)) {
    compute_tensor(job, job.large[1 + i], shared, tables);
    __syncthreads();
  }
}

}  // namespace

void surface_boxes_cuda(const Context& context, const OrganisedSurface& surface, Bounds* boxes,
                        std::int32_t* large) {
  TensorJob job;
  job.surface = surface;
  job.large = large;
  if (job.groups() == 0) return;
  surface_boxes_kernel<<<static_cast<unsigned>(job.groups()), kBoxThreads, 0,
                         cuda_stream(context)>>>(job, boxes);
  check_launch("surface_boxes");
}

void compute_tensors_cuda(const Context& context, const TensorJob& job) {
  const cudaStream_t stream = cuda_stream(context);
  // There is one block even without room, to write the count.
  const std::int64_t blocks = max_of<std::int64_t>(1, min_of(job.pairs.size, job.out.capacity));
  tensor_kernel<<<static_cast<unsigned>(blocks), kTensorThreads, 0, stream>>>(job);
  check_launch("tensor");
  if (job.tiles() <= kMostTiles) return;
  large_tensor_kernel<<<static_cast<unsigned>(job.large_blocks), kTensorThreads, 0, stream>>>(job);
  check_launch("large_tensor");
}

}  // namespace sextant::detail::tensor
