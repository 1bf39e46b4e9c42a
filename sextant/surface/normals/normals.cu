// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/cuda/tiles.cuh"
#include "sextant/core/cuda_check.h"
#include "sextant/surface/normals/job.h"
#include "sextant/surface/normals/math.h"

namespace sextant::detail::normals {

namespace {

/// A warp covers a row; each thread makes the normals of two pixels, one above the other, whose
/// windows share all rows but one each: half the reads from shared memory.
constexpr int kBlockWidth = 32;
constexpr int kBlockRows = 8;
constexpr int kTileHeight = 2 * kBlockRows;

/// The coordinates to fit and the depth, NaN where there is no point.
template <NormalsMethod kMethod>
__device__ float4 load_point(const NormalsJob& job, int u, int v) {
  const float4 nothing{NAN, NAN, NAN, NAN};
  if (!job.points.contains(u, v)) return nothing;
  const Vec3f p = job.points(u, v);
  if (!is_finite(p)) return nothing;
  if constexpr (kMethod == NormalsMethod::kPca) return {p.x, p.y, p.z, p.z};
  if (!(p.z > 0.0f)) return nothing;
  const Vec3f q = ray_coordinates(p);
  return {q.x, q.y, q.z, p.z};
}

__device__ void add_point(Moments<float>& m, const float4& centre, float gate, const float4& q) {
  if (fabsf(q.w - centre.w) <= gate) {
    accumulate(m, Vec3f{q.x - centre.x, q.y - centre.y, q.z - centre.z});
  }
}

template <NormalsMethod kMethod>
__device__ Vec3f normal_of(const Moments<float>& m, const float4& centre) {
  const Vec3f nothing{NAN, NAN, NAN};
  if (!(m.count >= kLeastNormalsPoints)) return nothing;
  const Sym3f scatter = scatter_about_mean(m);
  const Vec3f point{centre.x, centre.y, centre.z};
  if constexpr (kMethod == NormalsMethod::kPca) {
    return oriented_towards(Vec3f{}, point, plane_normal(scatter));
  } else {
    const RayPlane<float> plane = ray_plane(scatter, point + m.sum * inverse_count(m));
    if (!(plane.certainty > 0.0f)) return nothing;
    return oriented_towards(Vec3f{}, Vec3f{centre.x, centre.y, 1.0f}, plane.normal);
  }
}

/// With kRadius_px = 0 the window's size is known at run time only.
template <NormalsMethod kMethod, int kRadius_px>
__global__ void __launch_bounds__(kBlockWidth* kBlockRows) normals_kernel(const NormalsJob job) {
  extern __shared__ float4 tile[];
  const int radius = kRadius_px > 0 ? kRadius_px : job.radius_px;
  const int stride = kBlockWidth + 2 * radius;
  const int rows = kTileHeight + 2 * radius;
  const int left = blockIdx.x * kBlockWidth;
  const int top = blockIdx.y * kTileHeight;
  for (int row = threadIdx.y; row < rows; row += kBlockRows) {
    for (int column = threadIdx.x; column < stride; column += kBlockWidth) {
      tile[row * stride + column] =
          load_point<kMethod>(job, left - radius + column, top - radius + row);
    }
  }
  __syncthreads();

  const int column = threadIdx.x;
  const int row = 2 * threadIdx.y;
  const int u = left + column;
  const int v = top + row;
  if (u >= job.points.width || v >= job.points.height) return;
  const float4 upper = tile[(row + radius) * stride + column + radius];
  const float4 lower = tile[(row + 1 + radius) * stride + column + radius];
  // NaN gates let nothing pass.
  const float upper_gate = upper.w == upper.w ? job.depth_gate(upper.w) : NAN;
  const float lower_gate = lower.w == lower.w ? job.depth_gate(lower.w) : NAN;
  Moments<float> of_upper;
  Moments<float> of_lower;
  const int window = 2 * radius + 1;
#pragma unroll 1
  for (int dv = 0; dv <= window; ++dv) {
    const float4* points = tile + (row + dv) * stride + column;
#pragma unroll
    for (int du = 0; du < window; ++du) {
      const float4 q = points[du];
      if (dv < window) add_point(of_upper, upper, upper_gate, q);
      if (dv > 0) add_point(of_lower, lower, lower_gate, q);
    }
  }
  job.normals(u, v) = normal_of<kMethod>(of_upper, upper);
  if (v + 1 < job.points.height) job.normals(u, v + 1) = normal_of<kMethod>(of_lower, lower);
}

template <NormalsMethod kMethod>
void launch(const Context& context, const NormalsJob& job) {
  const dim3 block(kBlockWidth, kBlockRows);
  const dim3 grid =
      blocks_for_tiles(job.points.width, job.points.height, kBlockWidth, kTileHeight, "points");
  const std::size_t bytes = sizeof(float4) * (kBlockWidth + 2 * job.radius_px) *
                            static_cast<std::size_t>(kTileHeight + 2 * job.radius_px);
  const cudaStream_t stream = cuda_stream(context);
  if (job.radius_px == 3) {
    normals_kernel<kMethod, 3><<<grid, block, bytes, stream>>>(job);
  } else {
    normals_kernel<kMethod, 0><<<grid, block, bytes, stream>>>(job);
  }
  check_launch("estimate_normals");
}

}  // namespace

void estimate_normals_cuda(const Context& context, const NormalsJob& job) {
  if (job.method == NormalsMethod::kPca) {
    launch<NormalsMethod::kPca>(context, job);
  } else {
    launch<NormalsMethod::kRay>(context, job);
  }
}

}  // namespace sextant::detail::normals
