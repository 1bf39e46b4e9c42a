// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA finds the places of the CPU.
#include "sextant/core/cuda_check.h"
#include "sextant/core/for_each/pixels.h"
#include "sextant/descriptor/sift/grey.h"
#include "sextant/descriptor/sift/steps.cuh"
#include "sextant/descriptor/sift/tiles.h"

namespace sextant::detail::sift {

namespace {

template <class T>
__global__ void __launch_bounds__(kPixelBlockColumns* kPixelBlockRows)
    grey_kernel(const T* pixels, std::int64_t pixel_stride, int width, int height, float* to,
                std::int64_t stride, unsigned long long* bad_pixel) {
  const int u = static_cast<int>(blockIdx.x * kPixelBlockColumns + threadIdx.x);
  if (u >= width) return;
  for (std::int64_t v = blockIdx.y * kPixelBlockRows + threadIdx.y; v < height;
       v += gridDim.y * kPixelBlockRows) {
    float value = ToGrey{}(pixels[v * pixel_stride + u]);
    if constexpr (std::is_same_v<T, float>) {
      if (!is_usable(value)) {
        atomicMin(bad_pixel, static_cast<unsigned long long>(v * width + u));
        value = 0;  // what follows sees numbers; the host throws at the end
      }
    }
    to[v * stride + u] = value;
  }
}

template <class T>
void make_grey(const Context& context, const SiftJob& job, const GreyPlane& to) {
  constexpr int kMostBlocks = 65535;
  const int rows = (to.height + kPixelBlockRows - 1) / kPixelBlockRows;
  const dim3 grid(static_cast<unsigned>((to.width + kPixelBlockColumns - 1) / kPixelBlockColumns),
                  static_cast<unsigned>(rows < kMostBlocks ? rows : kMostBlocks));
  grey_kernel<<<grid, dim3(kPixelBlockColumns, kPixelBlockRows), 0, cuda_stream(context)>>>(
      static_cast<const T*>(job.photo.data), job.photo.stride, to.width, to.height,
      const_cast<float*>(to.data), to.stride, &job.counts->bad_pixel);
  check_launch("grey_kernel");
}

void make_grey(const Context& context, const SiftJob& job, const GreyPlane& to) {
  switch (job.photo.pixel) {
    case PhotoView::Pixel::kGrey8:
      return make_grey<std::uint8_t>(context, job, to);
    case PhotoView::Pixel::kGrey16:
      return make_grey<std::uint16_t>(context, job, to);
    case PhotoView::Pixel::kFloat:
      return make_grey<float>(context, job, to);
    case PhotoView::Pixel::kRgb8:
      return make_grey<Rgb8>(context, job, to);
    case PhotoView::Pixel::kRgb16:
      return make_grey<Vec3<std::uint16_t>>(context, job, to);
  }
}

/// A block makes one tile of the result. Lanes take rows of the lines, so that their results go
/// through the lines once more to be written side by side.
template <class Block, class Kernel>
__global__ void __launch_bounds__(kBlockThreads)
    block_kernel(const GreyPlane from, const Kernel kernel, const BlockTarget to) {
  __shared__ float lines[kBlockRows * Block::kStride];
  const int columns = (to.width + kBlockColumns - 1) / kBlockColumns;
  const int tile = static_cast<int>(blockIdx.x);
  const Block block{from, kernel, tile % columns * kBlockColumns, tile / columns * kBlockRows};
  const int thread = static_cast<int>(threadIdx.x);
  for (int item = thread; item < Block::kItems; item += kBlockThreads) block.sum_rows(item, lines);
  __syncthreads();
  const int lane = thread % kBlockRows, column = thread / kBlockRows * kTogether;
  float sums[kTogether];
  block.sum_line(lane, column, lines, sums);
  __syncthreads();
  SEXTANT_UNROLL
  for (int i = 0; i < kTogether; ++i) lines[lane * Block::kStride + column + i] = sums[i];
  __syncthreads();
  for (int i = thread; i < kBlockRows * kBlockColumns; i += kBlockThreads) {
    const int u = i % kBlockColumns, v = i / kBlockColumns;
    to.write(block.u + u, block.v + v, lines[v * Block::kStride + u]);
  }
  if (to.half == nullptr) return;
  for (int i = thread; i < kBlockRows * kBlockColumns / 4; i += kBlockThreads) {
    const int u = i % (kBlockColumns / 2) * 2, v = i / (kBlockColumns / 2) * 2;
    to.write_half(block.u + u, block.v + v, lines[v * Block::kStride + u]);
  }
}
static_assert(kBlockThreads / kBlockRows * kTogether == kBlockColumns);

template <class Block, class FixedKernel>
void launch_block(const Context& context, const GreyPlane& from, const FixedKernel& kernel,
                  const BlockTarget& to) {
  const std::int64_t columns = (to.width + kBlockColumns - 1) / kBlockColumns;
  const std::int64_t blocks = columns * ((to.height + kBlockRows - 1) / kBlockRows);
  require(blocks <= INT32_MAX, "photo: ", to.width, " x ", to.height, " px are too many");
  block_kernel<Block>
      <<<static_cast<unsigned>(blocks), kBlockThreads, 0, cuda_stream(context)>>>(from, kernel, to);
  check_launch("block_kernel");
}

struct SumColumns {
  GreyPlane from;
  Kernel kernel;
  float* to;  ///< with the strides of `from`
  SEXTANT_HD void operator()(int u, int v) const {
    to[v * from.stride + u] = sum_column(from, kernel, u, v);
  }
};
struct SumRows {
  GreyPlane from;
  Kernel kernel;
  BlockTarget to;
  SEXTANT_HD void operator()(int u, int v) const {
    const float value = sum_row(from, kernel, u, v);
    to.write(u, v, value);
    if (to.half != nullptr && u % 2 == 0 && v % 2 == 0) to.write_half(u, v, value);
  }
};

constexpr int kWidestBlock = 25;  ///< the radius of a sigma of 3.2 with three layers and more

/// `spare` has the size of `from`; filters too wide for a block go through it.
void blur(const Context& context, const Kernel& kernel, const GreyPlane& from,
          const BlockTarget& to, float* spare) {
  const auto launch = [&](auto radius) {
    constexpr int kRadius = decltype(radius)::value;
    launch_block<BlurBlock<kRadius>>(context, from, FixedKernel<kRadius>(kernel), to);
  };
  const int radius = kernel.radius;
  if (radius <= 5) return launch(std::integral_constant<int, 5>{});
  if (radius <= 6) return launch(std::integral_constant<int, 6>{});
  if (radius <= 8) return launch(std::integral_constant<int, 8>{});
  if (radius <= 10) return launch(std::integral_constant<int, 10>{});
  if (radius <= 13) return launch(std::integral_constant<int, 13>{});
  if (radius <= 18) return launch(std::integral_constant<int, 18>{});
  if (radius <= kWidestBlock) return launch(std::integral_constant<int, kWidestBlock>{});
  for_each_pixel(context, from.width, from.height, SumColumns{from, kernel, spare});
  GreyPlane lines = from;
  lines.data = spare;
  for_each_pixel(context, from.width, from.height, SumRows{lines, kernel, to});
}

void double_photo(const Context& context, const DoublingKernel& kernel, const GreyPlane& from,
                  const BlockTarget& to) {
  constexpr int kNarrow = 4, kWide = 8;  // a sigma of 1.6, and of 3.2
  require(kernel.radius <= kWide, "sigma_px: a blur of radius ", kernel.radius, " is too wide");
  if (kernel.radius <= kNarrow) {
    launch_block<DoublingBlock<kNarrow>>(context, from, FixedDoublingKernel<kNarrow>(kernel), to);
  } else {
    launch_block<DoublingBlock<kWide>>(context, from, FixedDoublingKernel<kWide>(kernel), to);
  }
}

GreyPlane plane_of(const PyramidOctave& octave, int scale) {
  return {octave.row(scale, 0), octave.stride, octave.width_px, octave.height_px};
}
BlockTarget target_of(const PyramidOctave& octave, int scale) {
  return {const_cast<float*>(octave.row(scale, 0)),
          octave.stride,
          octave.width_px,
          octave.height_px,
          nullptr,
          0,
          0,
          0};
}

}  // namespace

void make_scales_cuda(const Context& context, const SiftJob& job, const ScalePlan& plan,
                      Workspace& workspace) {
  const Pyramid& pyramid = job.pyramid;
  const std::int64_t stride = stride_for(job.photo.width);
  const View<float> grey = workspace.take<float>(context, stride * job.photo.height);
  const GreyPlane photo{grey.data, stride, job.photo.width, job.photo.height};
  bool wide = !plan.doubled && plan.base.radius > kWidestBlock;
  for (int s = 1; s < plan.scales(); ++s) wide = wide || plan.step[s - 1].radius > kWidestBlock;
  const PyramidOctave& largest = pyramid.octave[0];
  float* const spare =
      workspace.take<float>(context, wide ? largest.stride * largest.height_px : 0).data;
  make_grey(context, job, photo);
  if (plan.doubled) {
    double_photo(context, plan.doubling, photo, target_of(largest, 0));
  } else {
    blur(context, plan.base, photo, target_of(largest, 0), spare);
  }
  for (int o = 0; o < pyramid.octaves; ++o) {
    const PyramidOctave& octave = pyramid.octave[o];
    for (int s = 1; s < pyramid.scales(); ++s) {
      BlockTarget to = target_of(octave, s);
      if (s == pyramid.layers && o + 1 < pyramid.octaves) {
        const PyramidOctave& next = pyramid.octave[o + 1];
        to.half = const_cast<float*>(next.row(0, 0));
        to.half_stride = next.stride;
        to.half_width = next.width_px;
        to.half_height = next.height_px;
      }
      blur(context, plan.step[s - 1], plane_of(octave, s - 1), to, spare);
    }
  }
}

}  // namespace sextant::detail::sift
