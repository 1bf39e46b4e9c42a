// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstring>
#include <utility>

#include "sextant/core/for_each.h"
#include "sextant/surface/segment_steps.h"

// The steps in their order. Compiled by nvcc for CUDA and by the host's compiler for the CPU.

namespace sextant::detail::segmentation {

/// Owns what SegmentState points to.
class SegmentMemory {
 public:
  SegmentMemory(const Context& context, std::int64_t points, std::int64_t most_regions)
      : flags_(context, points),
        integers_(context, kIntegerArrays * (points + 1)),
        words_(context, 2 * points),
        region_integers_(context, 2 * (most_regions + 1) + slots_for(points, most_regions)),
        partial_(context, slots_for(points, most_regions) * kMostRegionSums),
        fits_(context, most_regions),
        ranking_(context, most_regions),
        ranked_(context, most_regions) {
    const auto array = [&](int index) { return integers_.data() + index * (points + 1); };
    s_.n = static_cast<std::int32_t>(points);
    s_.most = static_cast<std::int32_t>(most_regions);
    s_.slots = static_cast<std::int32_t>(slots_for(points, most_regions));
    s_.flags = flags_.data();
    s_.parent = array(0);
    s_.counts = array(1);
    s_.source = array(2);
    s_.source_before = array(3);
    s_.heads = array(4);
    s_.ranks = array(5);
    s_.region_of_root = array(6);
    s_.keys = words_.data();
    s_.order = words_.data() + points;
    s_.region_first = region_integers_.data();
    s_.numbers = s_.region_first + most_regions + 1;
    s_.slot_region = s_.numbers + most_regions + 1;
    s_.partial = partial_.data();
    s_.fits = fits_.data();
    s_.ranking = ranking_.data();
    s_.ranked = ranked_.data();
  }
  const SegmentState& state() const { return s_; }
  void swap_sources() { std::swap(s_.source, s_.source_before); }

 private:
  static constexpr int kIntegerArrays = 7;
  static std::int64_t slots_for(std::int64_t points, std::int64_t regions) {
    return regions + points / kSliceLength + 2;
  }

  Buffer<std::uint8_t> flags_;
  Buffer<std::int32_t> integers_;
  Buffer<std::uint32_t> words_;
  Buffer<std::int32_t> region_integers_;
  Buffer<double> partial_;
  Buffer<RegionFit> fits_;
  Buffer<std::uint64_t> ranking_;
  Buffer<std::uint32_t> ranked_;
  SegmentState s_;
};

#if SEXTANT_CUDA_COMPILER
inline constexpr int kSliceThreads = 128;  // 16 points each in a full slice

/// A block a slice: each thread adds up its points, then warps and block add up along a fixed tree.
template <class Step>
__global__ void __launch_bounds__(kSliceThreads)
    sum_slices_kernel(const Step step, const SegmentState s) {
  using Sums = typename Step::Sums;
  constexpr int kSums = sizeof(Sums) / sizeof(double);
  constexpr int kWarps = kSliceThreads / 32;
  __shared__ double of_warp[kWarps][kSums];
  for (int slot = static_cast<int>(blockIdx.x); slot < s.slots; slot += gridDim.x) {
    const std::int32_t r = s.slot_region[slot];
    if (r < 0 || !step.wanted(r)) continue;  // the same for the whole block
    Sums own;
    const auto region = step.region(r);
    const SliceRange range = slice_range(s, slot, r);
    for (std::int32_t j = range.begin + static_cast<std::int32_t>(threadIdx.x); j < range.end;
         j += kSliceThreads) {
      step.add(region, static_cast<std::int32_t>(s.order[j]), own);
    }
    double* sums = reinterpret_cast<double*>(&own);
#pragma unroll
    for (int k = 0; k < kSums; ++k) {
      double value = sums[k];
      for (int stride = 16; stride > 0; stride /= 2) {
        value += __shfl_down_sync(0xffffffffu, value, stride);
      }
      if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32][k] = value;
    }
    __syncthreads();
    if (threadIdx.x < kSums) {
      double value = 0;
      for (int warp = 0; warp < kWarps; ++warp) value += of_warp[warp][threadIdx.x];
      s.partial[std::int64_t{slot} * kMostRegionSums + threadIdx.x] = value;
    }
    __syncthreads();
  }
}
#endif

/// The sums of every slice of every region.
template <class Step, bool kCuda = SEXTANT_CUDA_COMPILER>
void sum_slices(const Context& context, const Step& step, const SegmentState& s) {
#if SEXTANT_CUDA_COMPILER
  constexpr int kMostBlocks = 2112;  // 16 for each of 132 multiprocessors
  const int blocks = s.slots < kMostBlocks ? s.slots : kMostBlocks;
  sum_slices_kernel<<<static_cast<unsigned>(blocks), kSliceThreads, 0, cuda_stream(context)>>>(step,
                                                                                               s);
  check_launch("segment: sum_slices");
#else
  for_each_chunk(context, s.slots, 1, [&](std::int64_t begin, std::int64_t) {
    const std::int32_t slot = static_cast<std::int32_t>(begin);
    const std::int32_t r = s.slot_region[slot];
    if (r < 0 || !step.wanted(r)) return;
    typename Step::Sums sums;
    const auto region = step.region(r);
    const SliceRange range = slice_range(s, slot, r);
    for (std::int32_t j = range.begin; j < range.end; ++j) {
      step.add(region, static_cast<std::int32_t>(s.order[j]), sums);
    }
    std::memcpy(s.partial + std::int64_t{slot} * kMostRegionSums, &sums, sizeof(sums));
  });
#endif
}

template <class Step, bool kCuda = SEXTANT_CUDA_COMPILER>
void sum_and_finish(const Context& context, const Step& step, const SegmentState& s) {
  sum_slices<Step, kCuda>(context, step, s);
  for_each(context, s.most, FinishRegion<Step>{step, s});
}

/// Brings the points of each region together and finds its moments.
template <class Surface, bool kFinal, bool kCuda = SEXTANT_CUDA_COMPILER>
void gather_regions(const Context& context, const Surface& surface, const SegmentState& s) {
  const Device device = context.device();
  for_each(context, s.n, KeyPoint{s});
  const int bits = std::bit_width(static_cast<std::uint32_t>(s.n));
  sort_pairs<std::uint32_t>(context, {s.keys, s.n, device}, {s.order, s.n, device}, {0, bits});
  for_each(context, s.n, FindHead{s});
  exclusive_scan<std::int32_t>(context, {s.heads, s.n, device}, {s.ranks, s.n + 1, device});
  for_each(context, s.n, PlaceRegion{s});
  for_each(context, s.slots, ClearSlot{s});
  for_each(context, s.most, PlaceSlots{s});
  sum_and_finish<MomentsOfPoint<Surface, kFinal>, kCuda>(
      context, MomentsOfPoint<Surface, kFinal>{surface, s}, s);
}

/// Labels, regions and their number; nothing waits.
template <class Surface, bool kCuda = SEXTANT_CUDA_COMPILER>
void run_segmentation(const Context& context, const Surface& surface, int min_points,
                      int attach_rounds, double merge_angle_rad, ImageView<std::int32_t> labels,
                      View<SurfaceRegion> regions, View<std::int32_t> count) {
  const std::int64_t n = surface.size();
  SegmentMemory memory(context, n, regions.size);
  const auto each_point = [&](const auto& step) { for_each(context, n, step); };
  each_point(FindValid<Surface>{surface, memory.state()});
  each_point(FlagPoint<Surface>{surface, memory.state()});
  each_point(LinkPoint<Surface>{surface, memory.state()});
  each_point(FlattenPoint{memory.state()});
  each_point(CountPoint{memory.state()});
  each_point(StartSource{memory.state(), min_points});
  for (int round = 0; round < attach_rounds; ++round) {
    memory.swap_sources();
    each_point(AttachPoint<Surface>{surface, memory.state()});
  }
  const SegmentState& s = memory.state();
  gather_regions<Surface, false, kCuda>(context, surface, s);
  each_point(KeyPoint{s});  // keys by point again, which sorting has moved
  each_point(MergePoint<Surface>{surface, s, std::cos(merge_angle_rad)});
  each_point(FlattenPoint{s});
  gather_regions<Surface, true, kCuda>(context, surface, s);
  constexpr int kSteps = 3;  // two steps, and the residuals that they leave
  for (int step = 0; step < kSteps; ++step) {
    sum_and_finish<ResidualsOfPoint<Surface>, kCuda>(context, ResidualsOfPoint<Surface>{surface, s},
                                                     s);
  }
  for_each(context, s.most, RankRegion{s});
  sort_pairs<std::uint64_t>(context, {s.ranking, s.most, context.device()},
                            {s.ranked, s.most, context.device()});
  for_each(context, s.most, WriteRegion{s, regions, count});
  each_point(WriteLabel{s, labels});
}

/// An image, whose pixels are measured first.
template <bool kCuda = SEXTANT_CUDA_COMPILER>
void run_segmentation(const Context& context, PixelSurface surface, ImageView<std::int32_t> labels,
                      View<SurfaceRegion> regions, View<std::int32_t> count) {
  Buffer<PixelPitch> pitch(context, 1);
  Buffer<PixelSize> pixel(context, 1);
  transform_reduce(context, surface.size(),
                   PixelPitchAt{surface.points, surface.width, surface.height}, Add{}, PixelPitch{},
                   pitch.view());
  for_each(context, 1, FinishPitch{pitch.data(), pixel.data()});
  surface.pixel = pixel.data();
  const SegmentOptions& options = surface.options;
  run_segmentation<PixelSurface, kCuda>(context, surface, options.min_points, options.attach_px,
                                        double{options.merge_angle_rad}, labels, regions, count);
}

/// A cloud, whose labels are one row.
template <bool kCuda = SEXTANT_CUDA_COMPILER>
void run_segmentation(const Context& context, const CloudSurface& surface,
                      View<std::int32_t> labels, View<SurfaceRegion> regions,
                      View<std::int32_t> count) {
  const CloudSegmentOptions& options = surface.options;
  const int width = static_cast<int>(labels.size);
  run_segmentation<CloudSurface, kCuda>(
      context, surface, options.min_points, options.attach_rounds, double{options.merge_angle_rad},
      {labels.data, width, 1, width, labels.device}, regions, count);
}

}  // namespace sextant::detail::segmentation
