// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/cuda/tiles.cuh"
#include "sextant/core/cuda_check.h"
#include "sextant/core/for_each/pixels.h"
#include "sextant/surface/curvature/fit.h"
#include "sextant/surface/curvature/rim.h"

namespace sextant::detail::curvature {

namespace {

/// One thread a pixel and a warp a row, so that neighbouring lanes read neighbouring banks. Blocks
/// of four rows: small enough that the last round of blocks leaves few processors idle, and a tile
/// of 37 × 37 patches takes 33 kB.
constexpr int kBlockWidth = 32;
constexpr int kBlockRows = 4;
/// The 27 sums and the fit stay in registers: 96 of them, for 20 warps on a multiprocessor.
constexpr int kLeastBlocks = 5;
/// A launch may use so much shared memory as it is, and so much, on every device, once the kernel's
/// limit is raised. Patches with larger tiles are read from global memory.
constexpr std::size_t kFreeTileBytes = 48 * 1024;
constexpr std::size_t kMostTileBytes = 64 * 1024;

/// The cells of an image, zero beyond its border.
struct CellImage {
  const float4* cells;
  int width;
  int height;

  __device__ float4 at(int u, int v) const {
    const bool inside = u >= 0 && v >= 0 && u < width && v < height;
    return inside ? __ldg(cells + std::int64_t{v} * width + u) : float4{0, 0, 0, 0};
  }
};

__device__ Cell<float> cell_of(const float4& c) { return {{c.x, c.y, c.z}, c.w}; }

struct MakeCell {
  ImageView<const Vec3f> points;
  CurvatureOptions options;
  float4* cells;

  SEXTANT_HD Vec3f measured(int u, int v) const {
    return points.contains(u, v) ? measured_point(points(u, v)) : Vec3f{};
  }

  SEXTANT_HD void operator()(int u, int v) const {
    Vec3f near[9];
    SEXTANT_UNROLL
    for (int i = 0; i < 9; ++i) near[i] = measured(u + i % 3 - 1, v + i / 3 - 1);
    const auto at = [&](int du, int dv) {
      const bool is_near = du >= -1 && du <= 1 && dv >= -1 && dv <= 1;
      return is_near ? near[(dv + 1) * 3 + du + 1] : measured(u + du, v + dv);
    };
    const Cell<float> cell = make_cell<float>(options, at);
    cells[std::int64_t{v} * points.width + u] =
        float4{cell.point.x, cell.point.y, cell.point.z, cell.signed_pitch};
  }
};

/// The rim that each cell makes.
struct MakeRim {
  const float4* cells;
  int width, height;
  const noise::FrameNoise* noise;
  std::uint8_t* rims;

  SEXTANT_HD void operator()(int u, int v) const {
    const std::int64_t here = std::int64_t{v} * width + u;
    const auto depth = [&](int du, int dv) {
      const bool inside = u + du >= 0 && v + dv >= 0 && u + du < width && v + dv < height;
      if (!inside) return -1.0f;
      const float4 other = cells[here + std::int64_t{dv} * width + du];
      return other.w != 0.0f ? other.z : 0.0f;
    };
    const Cell<float> cell{{0, 0, cells[here].z}, cells[here].w};
    rims[here] = static_cast<std::uint8_t>(rim_at(*noise, cell.point.z, cell.pitch_rad(), depth));
  }
};

/// Negates the depth of a cell that lies in a rim.
struct MarkRim {
  const std::uint8_t* rims;
  int width, height;
  float4* cells;

  SEXTANT_HD void operator()(int u, int v) const {
    const int left = max_of(u - kMostRim_px + 1, 0), right = min_of(u + kMostRim_px, width);
    const int top = max_of(v - kMostRim_px + 1, 0), bottom = min_of(v + kMostRim_px, height);
    bool is_rim = false;
    for (int y = top; y < bottom; ++y) {
      for (int x = left; x < right; ++x) {
        const int rim = rims[std::int64_t{y} * width + x];
        is_rim = is_rim || is_in_rim(rim, x - u, y - v);
      }
    }
    float& z = cells[std::int64_t{v} * width + u].z;
    if (is_rim && z > 0.0f) z = depth_in_rim(z);
  }
};

/// What is the same for every pixel.
struct FitJob {
  CellImage cells;
  ImageView<const Vec3f> normals;
  CurvatureOptions options;
  CurvatureViews out;
  PatchGrid grid;  ///< of patches in pixels
  const noise::FrameNoise* noise;

  __device__ DepthNoise noise_at(float z_m) const {
    return noise != nullptr ? DepthNoise::at(*noise, z_m) : DepthNoise{};
  }
  __device__ PatchMiddle<float> middle_of(const PatchGrid& patch, const Cell<float>& cell,
                                          float radius_px, const DepthNoise& depth_noise) const {
    auto middle = PatchMiddle<float>::of(options, patch, cell, radius_px);
    middle.pixel_noise_m = depth_noise.pixel_m;
    middle.density_m = depth_noise.density_m;
    return middle;
  }
};

__device__ void write_nothing(const FitJob& job, int u, int v) {
  write_pixel(job.out, u, v, Vec3f{}, PatchResult<float>{{}, 0.0f});
}

/// Patches in pixels, from a tile in shared memory: the block's pixels and a margin of the patch's
/// reach, x y z after each other (three words from lane to lane meet 32 different banks).
template <class Mode>
__global__ void __launch_bounds__(kBlockWidth* kBlockRows, kLeastBlocks)
    tile_kernel(const FitJob job) {
  extern __shared__ float tile[];
  const int reach = job.grid.reach_px();
  const int stride = kBlockWidth + 2 * reach;
  const int rows = kBlockRows + 2 * reach;
  const int left = static_cast<int>(blockIdx.x) * kBlockWidth;
  const int top = static_cast<int>(blockIdx.y) * kBlockRows;
  for (int row = static_cast<int>(threadIdx.y); row < rows; row += kBlockRows) {
    for (int column = static_cast<int>(threadIdx.x); column < stride; column += kBlockWidth) {
      const float4 c = job.cells.at(left - reach + column, top - reach + row);
      float* to = tile + 3 * (row * stride + column);
      to[0] = c.x;
      to[1] = c.y;
      to[2] = c.z;
    }
  }
  __syncthreads();

  const int u = left + static_cast<int>(threadIdx.x);
  const int v = top + static_cast<int>(threadIdx.y);
  if (u >= job.cells.width || v >= job.cells.height) return;
  const Cell<float> cell = cell_of(job.cells.at(u, v)).middle();
  if (!(cell.pitch_rad() > 0.0f)) return write_nothing(job, u, v);
  const auto middle = job.middle_of(job.grid, cell, 0.0f, job.noise_at(cell.point.z));
  const float* here = tile + 3 * ((static_cast<int>(threadIdx.y) + reach) * stride +
                                  static_cast<int>(threadIdx.x) + reach);
  const auto load = [&](int du, int dv) {
    const float* p = here + 3 * (dv * stride + du);
    return Vec3f{p[0], p[1], p[2]};
  };
  const PatchResult<float> result =
      fit_patch<Mode>(job.options, job.grid, middle, cell.start(job.normals(u, v)), 1.0f, load);
  write_pixel(job.out, u, v, middle.point, result);
}

/// Patches of any reach, from global memory through the caches. Where a patch in metres is not good
/// a smaller one is tried.
template <class Mode>
__global__ void __launch_bounds__(kBlockWidth* kBlockRows, kLeastBlocks)
    gather_kernel(const FitJob job) {
  const int u = static_cast<int>(blockIdx.x) * kBlockWidth + static_cast<int>(threadIdx.x);
  const int v = static_cast<int>(blockIdx.y) * kBlockRows + static_cast<int>(threadIdx.y);
  if (u >= job.cells.width || v >= job.cells.height) return;
  const Cell<float> cell = cell_of(job.cells.at(u, v)).middle();
  if (!(cell.pitch_rad() > 0.0f)) return write_nothing(job, u, v);
  const DepthNoise depth_noise = job.noise_at(cell.point.z);
  const Vec3f normal = cell.start(job.normals(u, v));
  const auto load = [&](int du, int dv) {
    const float4 c = job.cells.at(u + du, v + dv);
    return Vec3f{c.x, c.y, c.z};
  };
  PatchResult<float> result{{}, 0.0f};
  PatchGrid grid = job.grid;
  float radius_px = 0.0f;
  for (int size = 0; size < (Mode::kMetric ? kPatchSizes : 1); ++size) {
    if constexpr (Mode::kMetric) {
      radius_px = rounded_radius_px(
          patch_radius_px(job.options, depth_noise, cell.point.z, cell.pitch_rad(), size));
      if (radius_px == 0.0f) break;
      grid = metric_patch(job.options, radius_px);
    }
    const auto middle = job.middle_of(grid, cell, radius_px, depth_noise);
    result = fit_patch<Mode>(job.options, grid, middle, normal, 1.0f, load);
    if (result.good > 0.0f) break;
  }
  write_pixel(job.out, u, v, cell.point, result);
}

template <class Mode>
void launch(const Context& context, const FitJob& job) {
  const dim3 block(kBlockWidth, kBlockRows);
  const dim3 blocks =
      blocks_for_tiles(job.cells.width, job.cells.height, kBlockWidth, kBlockRows, "points");
  const cudaStream_t stream = cuda_stream(context);
  const auto reach = static_cast<std::size_t>(job.grid.reach_px());
  const std::size_t bytes =
      3 * sizeof(float) * (kBlockWidth + 2 * reach) * (kBlockRows + 2 * reach);
  if constexpr (Mode::kMetric) {
    gather_kernel<Mode><<<blocks, block, 0, stream>>>(job);
  } else if (bytes > kMostTileBytes) {
    gather_kernel<Mode><<<blocks, block, 0, stream>>>(job);
  } else {
    if (bytes > kFreeTileBytes) {
      check_cuda(
          cudaFuncSetAttribute(tile_kernel<Mode>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(kMostTileBytes)),
          "cudaFuncSetAttribute");
    }
    tile_kernel<Mode><<<blocks, block, bytes, stream>>>(job);
  }
  check_launch("estimate_curvature");
}

}  // namespace

void estimate_curvature_cuda(const Context& context, const CurvatureJob& job,
                             Workspace& workspace) {
  const int width = job.points.width;
  const int height = job.points.height;
  // Allocations are aligned to far more than the 16 bytes of a cell.
  float4* data = workspace.take<float4>(context, std::int64_t{width} * height).data;
  for_each_pixel(context, width, height, MakeCell{job.points, job.options, data});
  if (leaves_out_rims(job.options)) {
    std::uint8_t* rims = workspace.take<std::uint8_t>(context, std::int64_t{width} * height).data;
    for_each_pixel(context, width, height, MakeRim{data, width, height, job.noise, rims});
    for_each_pixel(context, width, height, MarkRim{rims, width, height, data});
  }
  const FitJob fit{{data, width, height},    job.normals, job.options, job.out,
                   pixel_patch(job.options), job.noise};
  const auto run = [&](auto mode) { launch<decltype(mode)>(context, fit); };
  if (job.options.stride_px > 0) {
    with_fit_mode<false>(job.options, run);
  } else {
    with_fit_mode<true>(job.options, run);
  }
}

}  // namespace sextant::detail::curvature
