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

/// The sums of curved.h over the window whose first pixel these are; the filter's are the squares.
template <int kRadius_px>
__device__ Bend<float> bend_of(const NormalsJob& job, const float4* window, const float* filtered,
                               int stride, float count, float spread) {
  const int radius = kRadius_px > 0 ? kRadius_px : job.radius_px;
  const CurvedWeights& weights = job.curved;
  const auto odd = [](const float* of, int i) { return i < 0 ? -of[-i] : of[i]; };
  const float4* middle = window + radius * stride;
  Bend<float> bend;
  float rough = 0;
  for (int j = -radius; j <= radius; ++j) {
    const float4* row = middle + j * stride;
    float sum = 0, cubic = 0, mixed = 0, bowl = 0;
#pragma unroll
    for (int i = -radius; i <= radius; ++i) {
      const float z = row[radius + i].z - middle[radius].z;
      sum += z;
      cubic += odd(weights.cubic, i) * z;
      mixed += odd(weights.mixed, i) * z;
      bowl += weights.bowl[i < 0 ? -i : i] * z;
    }
    bend.x += cubic + weights.bowl[j < 0 ? -j : j] * mixed;
    bend.middle += bowl + weights.bowl[j < 0 ? -j : j] * sum;
    bend.y += odd(weights.cubic, j) * sum + odd(weights.mixed, j) * bowl;
    if (j == -radius || j == radius) continue;
    for (int i = 1 - radius; i < radius; ++i) {
      rough += filtered[(radius + j) * stride + radius + i];
    }
  }
  const float4 left = middle[0], right = middle[2 * radius];
  const float4 above = window[radius], below = window[2 * radius * stride + radius];
  const WindowSpan<float> span{right.x - left.x, right.y - left.y, below.x - above.x,
                               below.y - above.y};
  return in_ray_coordinates(believed(bend, rough, weights), span, count, spread, weights);
}

/// The normal of the window whose first pixel `window` is.
template <NormalsMethod kMethod, int kRadius_px>
__device__ Vec3f normal_of(const NormalsJob& job, const Moments<float>& m, const float4& centre,
                           const float4* window, const float* filtered, int stride) {
  const Vec3f nothing{NAN, NAN, NAN};
  if (!(m.count >= kLeastNormalsPoints)) return nothing;
  const Sym3f scatter = scatter_about_mean(m);
  const Vec3f point{centre.x, centre.y, centre.z};
  if constexpr (kMethod == NormalsMethod::kPca) {
    return oriented_towards(Vec3f{}, point, plane_normal(scatter));
  } else {
    const Vec3f mean = point + m.sum * inverse_count(m);
    RayPlane<float> plane;
    if constexpr (kMethod == NormalsMethod::kCurved) {
      const Bend<float> bend =
          bend_of<kRadius_px>(job, window, filtered, stride, m.count, scatter.xx + scatter.yy);
      plane = ray_plane(scatter, mean, bend);
    } else {
      plane = ray_plane(scatter, mean);
    }
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
  float* filtered = reinterpret_cast<float*>(tile + rows * stride);
  if constexpr (kMethod == NormalsMethod::kCurved) {
    for (int row = 1 + threadIdx.y; row < rows - 1; row += kBlockRows) {
      for (int column = 1 + threadIdx.x; column < stride - 1; column += kBlockWidth) {
        const float4* here = tile + row * stride + column;
        const auto bend = [&](int k) {
          return second_difference(here[k - stride].z, here[k].z, here[k + stride].z);
        };
        const float value = second_difference(bend(-1), bend(0), bend(1));
        filtered[row * stride + column] = value * value;
      }
    }
    __syncthreads();
  }

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
  const int first = row * stride + column;
  job.normals(u, v) =
      normal_of<kMethod, kRadius_px>(job, of_upper, upper, tile + first, filtered + first, stride);
  if (v + 1 >= job.points.height) return;
  job.normals(u, v + 1) = normal_of<kMethod, kRadius_px>(
      job, of_lower, lower, tile + first + stride, filtered + first + stride, stride);
}

template <NormalsMethod kMethod>
void launch(const Context& context, const NormalsJob& job) {
  const dim3 block(kBlockWidth, kBlockRows);
  const dim3 grid =
      blocks_for_tiles(job.points.width, job.points.height, kBlockWidth, kTileHeight, "points");
  const std::size_t pixel_bytes =
      sizeof(float4) + (kMethod == NormalsMethod::kCurved ? sizeof(float) : 0);
  const std::size_t bytes = pixel_bytes * (kBlockWidth + 2 * job.radius_px) *
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
  } else if (job.method == NormalsMethod::kCurved) {
    launch<NormalsMethod::kCurved>(context, job);
  } else {
    launch<NormalsMethod::kRay>(context, job);
  }
}

}  // namespace sextant::detail::normals
