// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA gives the bits of the CPU.
#include "sextant/core/cuda_check.h"
#include "sextant/core/for_each/anywhere.h"
#include "sextant/descriptor/mesh_tensor/math.h"
#include "sextant/descriptor/tensor/block.cuh"

namespace sextant::detail::mesh_tensor {

namespace {

// Cutting triangles waits for memory more than it computes, so few tensors have many warps each.
constexpr int kMeshThreads = 512;
constexpr int kMeshWarps = kMeshThreads / kWarp;

struct SharedMeshTensor {
  tensor::BlockSums sums;
  int listed[kMeshThreads];
  int length;
  int leaves;
};

/// A block's memory: which leaves may meet the cube, and a word of triangles for each leaf of the
/// mesh.
struct MeshScratch {
  std::uint64_t* leaves;
  std::uint64_t* open;
  std::uint64_t* reached;
};

/// A warp makes the words of a leaf; each lane looks at two of its triangles.
__device__ void find_triangles(const MeshTensorJob& job, const tensor::TensorCube& cube,
                               const PointPair& pair, const MeshScratch& scratch, int leaves) {
  const int lane = lane_index();
  for (int i = threadIdx.x / kWarp; i < leaves; i += kMeshWarps) {
    const std::int64_t leaf = static_cast<std::int64_t>(scratch.leaves[i]);
    std::uint64_t open = 0, reached = 0;
    for (int half = 0; half < 2; ++half) {
      const std::int64_t t = leaf * kLeafTriangles + half * kWarp + lane;
      bool meets = false, counts = false;
      if (t < job.triangles.size) {
        const MeshTriangle triangle(job, cube, t);
        meets = cube.meets(triangle.a, triangle.b, triangle.c);
        counts = meets && (job.mode == TensorMode::kAll || triangle.is_at(pair));
      }
      open |= std::uint64_t{__ballot_sync(kAllLanes, meets)} << (half * kWarp);
      reached |= std::uint64_t{__ballot_sync(kAllLanes, counts)} << (half * kWarp);
    }
    if (lane == 0) {
      scratch.open[leaf] = open;
      scratch.reached[leaf] = reached;
    }
  }
}

__device__ bool has_reached_neighbour(const MeshTensorJob& job, std::int64_t t,
                                      const volatile std::uint64_t* reached) {
  for (std::int64_t edge = 3 * t; edge < 3 * t + 3; ++edge) {
    const std::int32_t end = job.edge_end[edge];
    for (std::int32_t i = job.edge_first[edge]; i < end; ++i) {
      const std::int64_t other = job.edge_order[i] / 3;
      if (reached[other / kLeafTriangles] >> (other % kLeafTriangles) & 1) return true;
    }
  }
  return false;
}

/// Grows until nothing more is reached; only a leaf's own warp changes its word.
__device__ void grow(const MeshTensorJob& job, const MeshScratch& scratch, int leaves) {
  const int lane = lane_index();
  volatile std::uint64_t* reached = scratch.reached;
  int changed = 1;
  while (changed) {
    changed = 0;
    for (int i = threadIdx.x / kWarp; i < leaves; i += kMeshWarps) {
      const std::int64_t leaf = static_cast<std::int64_t>(scratch.leaves[i]);
      const std::uint64_t old = reached[leaf];
      const std::uint64_t left = scratch.open[leaf] & ~old;
      if (left == 0) continue;
      std::uint64_t more = 0;
      for (int half = 0; half < 2; ++half) {
        const int place = half * kWarp + lane;
        const bool found = (left >> place & 1) != 0 &&
                           has_reached_neighbour(job, leaf * kLeafTriangles + place, reached);
        more |= std::uint64_t{__ballot_sync(kAllLanes, found)} << (half * kWarp);
      }
      if (more == 0) continue;
      changed = 1;
      if (lane == 0) reached[leaf] = old | more;
      __syncwarp();
    }
    changed = __syncthreads_or(changed);
  }
}

/// Adds the areas and leaves no bit set behind.
__device__ void add_areas(const MeshTensorJob& job, const tensor::TensorCube& cube,
                          const MeshScratch& scratch, int leaves, tensor::BlockSums& sums) {
  const int lane = lane_index();
  for (int i = threadIdx.x / kWarp; i < leaves; i += kMeshWarps) {
    const std::int64_t leaf = static_cast<std::int64_t>(scratch.leaves[i]);
    const std::uint64_t bits = scratch.reached[leaf];
    const int count = __popcll(bits);
    for (int n = lane; n < count; n += kWarp) {
      const MeshTriangle triangle(job, cube, leaf * kLeafTriangles + tensor::nth_bit(bits, n));
      tensor::add_triangle(
          triangle.a, triangle.b, triangle.c, job.out.bins,
          [&](int bin, std::uint32_t area) { sums.add(bin, area); },
          [&](const Vec3f& a, const Vec3f& b, const Vec3f& c) {
            tensor::add_long(a, b, c, job.out.bins, sums);
          });
    }
    __syncwarp();
    if (lane == 0) scratch.reached[leaf] = 0;
  }
}

__global__ void __launch_bounds__(kMeshThreads, kMeshBlocksAtOnce)
    mesh_tensor_kernel(const MeshTensorJob job) {
  __shared__ SharedMeshTensor shared;
  const std::int64_t tensors = job.tensors();
  if (blockIdx.x == 0 && threadIdx.x == 0) *job.out.count = static_cast<std::int32_t>(tensors);
  if (blockIdx.x >= tensors) return;
  const std::int64_t all = job.leaves();
  std::uint64_t* own = job.scratch + std::int64_t{blockIdx.x} * kScratchWords * all;
  const MeshScratch scratch{own, own + all, own + 2 * all};
  for (std::int64_t leaf = threadIdx.x; leaf < all; leaf += kMeshThreads) {
    scratch.reached[leaf] = 0;
  }
  for (std::int64_t t = blockIdx.x; t < tensors; t += gridDim.x) {
    const TensorFrame frame = job.frame(t);
    __syncthreads();  // the tensor before is written
    shared.sums.clear();
    if (threadIdx.x == 0) {
      job.out.frames[t] = frame;
      shared.leaves = 0;
    }
    __syncthreads();
    if (!isnan(frame.angle_rad)) {
      const tensor::TensorCube cube(frame, job.out.bins);
      tensor::for_each_box(cube, job.boxes, job.groups(), shared.listed, &shared.length,
                           [&](int group, int tile) {
                             scratch.leaves[atomicAdd(&shared.leaves, 1)] =
                                 static_cast<std::uint64_t>(group) * tensor::kTilesPerGroup + tile;
                           });
      const int leaves = shared.leaves;
      find_triangles(job, cube, frame.pair, scratch, leaves);
      __syncthreads();
      if (job.mode == TensorMode::kGrow) grow(job, scratch, leaves);
      add_areas(job, cube, scratch, leaves, shared.sums);
    }
    __syncthreads();
    shared.sums.write(job.out, t);
  }
}

}  // namespace

void compute_mesh_tensors_cuda(const Context& context, const MeshTensorJob& job) {
  mesh_tensor_kernel<<<static_cast<unsigned>(job.blocks), kMeshThreads, 0, cuda_stream(context)>>>(
      job);
  check_launch("mesh_tensor");
}

}  // namespace sextant::detail::mesh_tensor

namespace sextant::detail {
SEXTANT_FOR_EACH_ON_CUDA(mesh_tensor::CurvePlace)
SEXTANT_FOR_EACH_ON_CUDA(mesh_tensor::TakeTriangle)
SEXTANT_FOR_EACH_ON_CUDA(mesh_tensor::EdgeKey)
SEXTANT_FOR_EACH_ON_CUDA(mesh_tensor::EdgeRange)
SEXTANT_FOR_EACH_ON_CUDA(mesh_tensor::LeafBox)
SEXTANT_FOR_EACH_ON_CUDA(mesh_tensor::GroupBox)
}  // namespace sextant::detail
