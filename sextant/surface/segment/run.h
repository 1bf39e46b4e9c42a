// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "sextant/core/reduce.h"
#include "sextant/surface/segment/steps.h"

// The steps in their order. Compiled by nvcc for CUDA and by the host's compiler for the CPU.

namespace sextant::detail::segment {

/// Owns what SegmentState points to.
class SegmentMemory {
 public:
  SegmentMemory(const Context& context, std::int64_t points, std::int64_t most_regions)
      : flags_(context, points),
        integers_(context, kIntegerArrays * (points + 1)),
        words_(context, 2 * points),
        region_integers_(context, 3 * (most_regions + 1) + slots_for(points, most_regions)),
        area_m2_(context, points),
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
    s_.root = array(4);
    s_.ranks = array(5);
    s_.region_of_root = array(6);
    s_.keys = words_.data();
    s_.order = words_.data() + points;
    s_.region_first = region_integers_.data();
    s_.numbers = s_.region_first + most_regions + 1;
    s_.region_root = s_.numbers + most_regions + 1;
    s_.slot_region = s_.region_root + most_regions + 1;
    s_.area_m2 = area_m2_.data();
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
  Buffer<float> area_m2_;
  Buffer<double> partial_;
  Buffer<RegionFit> fits_;
  Buffer<std::uint64_t> ranking_;
  Buffer<std::uint32_t> ranked_;
  SegmentState s_;
};

/// The sums of all slices, then of all regions, with what follows from them.
template <class DeviceSteps, class Step>
void sum_and_finish(const Context& context, const Step& step, const SegmentState& s) {
  DeviceSteps::sum_slices(context, step, s);
  DeviceSteps::each_region(context, s, FinishRegion<Step>{step, s});
}

/// A crease that is blurred away somewhere lets a plane and its neighbour run together. Such
/// planes are found as what most points of a region lie on, and parted from the rest.
template <class DeviceSteps, class Surface>
void part_planes(const Context& context, const Surface& surface, const SegmentState& s,
                 int min_points) {
  DeviceSteps::gather(context, s);
  sum_and_finish<DeviceSteps>(context, MomentsOfPoint<Surface, false>{surface, s}, s);
  for (const double shrink : {1.0, 0.6, 0.3, 0.0}) {
    sum_and_finish<DeviceSteps>(context, SidesOfPlane<Surface>{surface, s, shrink}, s);
  }
  if (!DeviceSteps::may_part(s)) return;
  for_each(context, s.n, PartPoint<Surface>{surface, s});
  for_each(context, s.n, LinkPoint<Surface>{surface, s});
  DeviceSteps::keep_large(context, s, min_points);
}

/// Labels, regions and their number; nothing waits. `DeviceSteps` says how points are counted,
/// attached and brought together by regions, which CPU and CUDA do in their own ways with the same
/// outcome.
template <class DeviceSteps, class Surface>
void run_segmentation(const Context& context, const Surface& surface, int min_points,
                      int attach_rounds, double merge_angle_rad, ImageView<std::int32_t> labels,
                      View<SurfaceRegion> regions, View<std::int32_t> count) {
  const std::int64_t n = surface.size();
  SegmentMemory memory(context, n, regions.size);
  const SegmentState& s = memory.state();
  for_each(context, n, FindValid<Surface>{surface, s});
  for_each(context, n, FlagPoint<Surface>{surface, s});
  for_each(context, n, StartPoint<Surface>{surface, s});
  for_each(context, n, LinkPoint<Surface>{surface, s});
  DeviceSteps::keep_large(context, s, min_points);
  part_planes<DeviceSteps>(context, surface, s, min_points);
  DeviceSteps::attach(context, surface, memory, attach_rounds);
  DeviceSteps::gather(context, s);
  sum_and_finish<DeviceSteps>(context, MomentsOfPoint<Surface, false>{surface, s}, s);
  for_each(context, n, MergePoint<Surface>{surface, s, std::cos(merge_angle_rad)});
  DeviceSteps::flatten(context, s);
  DeviceSteps::gather(context, s);
  sum_and_finish<DeviceSteps>(context, MomentsOfPoint<Surface, true>{surface, s}, s);
  constexpr int kSteps = 3;  // two steps, and the residuals that they leave
  for (int step = 0; step < kSteps; ++step) {
    sum_and_finish<DeviceSteps>(context, ResidualsOfPoint<Surface>{surface, s}, s);
  }
  DeviceSteps::rank(context, s);
  DeviceSteps::each_region(context, s, WriteRegion{s, regions, count});
  for_each(context, n, WriteLabel{s, labels});
}

/// An image, whose pixels are measured first.
template <class DeviceSteps>
void segment_image(const Context& context, PixelSurface surface, ImageView<std::int32_t> labels,
                   View<SurfaceRegion> regions, View<std::int32_t> count) {
  Buffer<PixelPitch> pitch(context, 1);
  Buffer<PixelSize> pixel(context, 1);
  transform_reduce(context, surface.size(),
                   PixelPitchAt{surface.points, surface.width, surface.height}, Add{}, PixelPitch{},
                   pitch.view());
  for_each(context, 1, FinishPitch{pitch.data(), pixel.data()});
  surface.pixel = pixel.data();
  const SegmentOptions& options = surface.options;
  run_segmentation<DeviceSteps>(context, surface, options.min_points, options.attach_px,
                                double{options.merge_angle_rad}, labels, regions, count);
}

/// A cloud, whose labels are one row.
template <class DeviceSteps>
void segment_points(const Context& context, const CloudSurface& surface, View<std::int32_t> labels,
                    View<SurfaceRegion> regions, View<std::int32_t> count) {
  const CloudSegmentOptions& options = surface.options;
  const int width = static_cast<int>(labels.size);
  run_segmentation<DeviceSteps>(context, surface, options.min_points, options.attach_rounds,
                                double{options.merge_angle_rad},
                                {labels.data, width, 1, width, labels.device}, regions, count);
}

}  // namespace sextant::detail::segment
