// SPDX-License-Identifier: Apache-2.0
#include "bench/tensor_voxel.h"

#include "sextant/core/cuda_check.h"
#include "sextant/descriptor/tensor/math.h"

namespace sextant::measure {

namespace {

using detail::tensor::ClipPolygon;

constexpr int kBins = 10;
constexpr int kVoxels = kBins * kBins * kBins;
constexpr int kThreads = 1024;
constexpr int kBatch = 512;  ///< triangles that lie in shared memory at a time

struct Corners {
  float v[9];
};

__device__ float component(const Corners& t, int corner, int axis) {
  return t.v[3 * corner + axis];
}

template <int kAxis>
__device__ bool clip_to_bin(ClipPolygon& polygon, float floor) {
  ClipPolygon part;
  detail::tensor::clip<kAxis, true>(polygon, floor, part);
  if (part.count < 3) return false;
  detail::tensor::clip<kAxis, false>(part, floor + 1.0f, polygon);
  return polygon.count >= 3;
}

__device__ float area_in_bin(const Corners& t, const float (&floor)[3]) {
  for (int axis = 0; axis < 3; ++axis) {
    const float a = component(t, 0, axis), b = component(t, 1, axis), c = component(t, 2, axis);
    const float low = min_of(a, min_of(b, c));
    const float high = max_of(a, max_of(b, c));
    if (!(low < floor[axis] + 1.0f && high >= floor[axis])) return 0.0f;
    // In the plane between two bins: the upper one has it.
    if (low == high && low >= floor[axis] + 1.0f) return 0.0f;
  }
  ClipPolygon polygon;
  polygon.count = 3;
  for (int corner = 0; corner < 3; ++corner) {
    polygon.corner[corner] = {component(t, corner, 0), component(t, corner, 1),
                              component(t, corner, 2)};
  }
  if (!clip_to_bin<2>(polygon, floor[2])) return 0.0f;
  if (!clip_to_bin<1>(polygon, floor[1])) return 0.0f;
  if (!clip_to_bin<0>(polygon, floor[0])) return 0.0f;
  return detail::tensor::area_from(detail::tensor::area_units(polygon));
}

__global__ void __launch_bounds__(kThreads)
    voxel_kernel(const OrganisedSurface surface, const TensorFrame* frames, int reach_px,
                 float* dense) {
  __shared__ Corners triangles[kBatch];
  __shared__ int count;
  const TensorFrame frame = frames[blockIdx.x];
  const detail::tensor::TensorCube cube(frame, kBins);
  const int width = surface.points.width;
  const int u = (frame.pair.p % width + frame.pair.q % width) / 2;
  const int v = (frame.pair.p / width + frame.pair.q / width) / 2;
  const int u0 = max_of(0, u - reach_px), u1 = min_of(surface.cells.width, u + reach_px);
  const int v0 = max_of(0, v - reach_px), v1 = min_of(surface.cells.height, v + reach_px);
  const int bin = static_cast<int>(threadIdx.x);
  const float floor[3] = {static_cast<float>(bin % kBins), static_cast<float>(bin / kBins % kBins),
                          static_cast<float>(bin / kBins / kBins)};
  float sum = 0.0f;
  const int slots = (u1 - u0) * (v1 - v0) * 2;
  for (int begin = 0; begin < slots; begin += kBatch) {
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    for (int slot = begin + static_cast<int>(threadIdx.x); slot < min_of(begin + kBatch, slots);
         slot += kThreads) {
      const int cu = u0 + slot / 2 % (u1 - u0), cv = v0 + slot / 2 / (u1 - u0);
      if ((surface.cells(cu, cv) >> (slot % 2) & 1) == 0) continue;
      const Vec3f right = cube.local(surface.points(cu + 1, cv));
      const Vec3f below = cube.local(surface.points(cu, cv + 1));
      const Vec3f third = cube.local(surface.points(cu + slot % 2, cv + slot % 2));
      if (!cube.meets(right, below, third)) continue;
      triangles[atomicAdd(&count, 1)] = {
          {right.x, right.y, right.z, below.x, below.y, below.z, third.x, third.y, third.z}};
    }
    __syncthreads();
    if (bin < kVoxels) {
      for (int i = 0; i < count; ++i) sum += area_in_bin(triangles[i], floor);
    }
    __syncthreads();
  }
  if (bin < kVoxels) dense[std::int64_t{blockIdx.x} * kVoxels + bin] = sum;
}

}  // namespace

void voxel_tensors(const Context& context, const OrganisedSurface& surface,
                   View<const TensorFrame> frames, std::int64_t tensors, int reach_px,
                   View<float> dense) {
  if (tensors == 0) return;
  voxel_kernel<<<static_cast<unsigned>(tensors), kThreads, 0, cuda_stream(context)>>>(
      surface, frames.data, reach_px, dense.data);
  check_launch("voxel_tensors");
}

}  // namespace sextant::measure
