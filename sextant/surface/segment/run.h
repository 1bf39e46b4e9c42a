// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/reduce.h"
#include "sextant/core/sort.h"
#include "sextant/surface/segment/patch_labels.h"
#include "sextant/surface/segment/steps.h"

// The steps in their order. Compiled by nvcc for CUDA and by the host's compiler for the CPU.

namespace sextant::detail::segment {

/// Where a segmentation writes.
struct SegmentOutput {
  ImageView<std::int32_t> labels;
  View<SurfaceRegion> regions;
  View<std::int32_t> count;
};

/// What images and clouds have in common among the arguments of their segmentation.
inline void check_segment_sizes(const Context& context, std::int64_t points, int min_points,
                                const View<SurfaceRegion>& regions,
                                const View<std::int32_t>& count) {
  // Indices and the sums of regions fit 32 bits.
  require(points <= INT32_MAX / 2, "points: ", points, " are too many");
  require_room(context, regions, region_capacity(points, min_points), "regions",
               "; see region_capacity");
  require_room(context, count, 1, "count");
}

/// The memory of a segmentation, which stays in the workspace until its innermost scope ends.
inline SegmentState segment_state(const Context& context, std::int64_t points,
                                  std::int64_t most_regions, Workspace& workspace) {
  const std::int64_t slots = most_regions + points / kSliceLength + 2;
  const auto integers = [&](std::int64_t count) {
    return workspace.take<std::int32_t>(context, count).data;
  };
  SegmentState s;
  s.n = static_cast<std::int32_t>(points);
  s.most = static_cast<std::int32_t>(most_regions);
  s.slots = static_cast<std::int32_t>(slots);
  s.flags = workspace.take<std::uint8_t>(context, points).data;
  s.parent = integers(points);
  s.counts = integers(points);
  s.source = integers(points);
  s.source_before = integers(points);
  s.root = integers(points);
  s.ranks = integers(points + 1);
  s.region_of_root = integers(points);
  s.keys = workspace.take<std::uint32_t>(context, points).data;
  s.order = workspace.take<std::uint32_t>(context, points).data;
  s.region_first = integers(most_regions + 1);
  s.numbers = integers(most_regions + 1);
  s.region_root = integers(most_regions);
  s.slot_region = integers(slots);
  s.area_m2 = workspace.take<float>(context, points).data;
  s.partial = workspace.take<double>(context, slots * kMostRegionSums).data;
  s.fits = workspace.take<RegionFit>(context, most_regions).data;
  s.ranking = workspace.take<std::uint64_t>(context, most_regions).data;
  s.ranked = workspace.take<std::uint32_t>(context, most_regions).data;
  return s;
}

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
                 int min_points, Workspace& workspace) {
  DeviceSteps::gather(context, s, workspace);
  sum_and_finish<DeviceSteps>(context, MomentsOfPoint<Surface, false>{surface, s}, s);
  for (const double shrink : {1.0, 0.6, 0.3, 0.0}) {
    sum_and_finish<DeviceSteps>(context, SidesOfPlane<Surface>{surface, s, shrink}, s);
  }
  if (!DeviceSteps::may_part(s)) return;
  for_each(context, s.n, PartPoint<Surface>{surface, s});
  DeviceSteps::link(context, surface, s);
  DeviceSteps::keep_large(context, s, min_points);
}

/// Labels, regions and their number; nothing waits. `DeviceSteps` says how points are counted,
/// attached and brought together by regions, which CPU and CUDA do in their own ways with the same
/// outcome.
template <class DeviceSteps, class Surface>
void run_segmentation(const Context& context, const Surface& surface, int min_points,
                      int attach_rounds, double merge_angle_rad, const SegmentOutput& out,
                      Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  const std::int64_t n = surface.size();
  SegmentState s = segment_state(context, n, out.regions.size, workspace);
  for_each(context, n, FindValid<Surface>{surface, s});
  for_each(context, n, FlagPoint<Surface>{surface, s});
  for_each(context, n, StartPoint<Surface>{surface, s});
  DeviceSteps::link(context, surface, s);
  DeviceSteps::keep_large(context, s, min_points);
  if constexpr (!Surface::kHasPatches) {
    part_planes<DeviceSteps>(context, surface, s, min_points, workspace);
  }
  DeviceSteps::attach(context, surface, attach_rounds, s);
  DeviceSteps::gather(context, s, workspace);
  sum_and_finish<DeviceSteps>(context, MomentsOfPoint<Surface, false>{surface, s}, s);
  for_each(context, n, MergePoint<Surface>{surface, s, std::cos(merge_angle_rad)});
  DeviceSteps::flatten(context, s);
  DeviceSteps::gather(context, s, workspace);
  sum_and_finish<DeviceSteps>(context, MomentsOfPoint<Surface, true>{surface, s}, s);
  constexpr int kSteps = 3;  // two steps, and the residuals that they leave
  for (int step = 0; step < kSteps; ++step) {
    sum_and_finish<DeviceSteps>(context, ResidualsOfPoint<Surface>{surface, s}, s);
  }
  DeviceSteps::rank(context, s, workspace);
  DeviceSteps::each_region(context, s, WriteRegion{s, out.regions, out.count});
  for_each(context, n, WriteLabel{s, out.labels});
}

inline PatchState patch_state(const Context& context, int width, int height, Workspace& workspace) {
  PatchState s;
  s.columns = (width + kCellPx - 1) / kCellPx;
  s.rows = (height + kCellPx - 1) / kCellPx;
  s.cells = s.columns * s.rows;
  const std::int64_t edges = 2 * std::int64_t{s.cells};
  const auto integers = [&](std::int64_t count) {
    return workspace.take<std::int32_t>(context, count).data;
  };
  s.root = integers(s.cells);
  s.changed = integers(s.cells);
  s.target = integers(s.cells);
  s.joining = integers(s.cells);
  s.joined = integers(s.cells);
  s.group = integers(s.cells);
  s.group_pixels = integers(s.cells);
  s.histogram = integers(std::int64_t{kDepthBins} * kNoiseBins);
  s.centre = workspace.take<double>(context, edges).data;
  s.own = workspace.take<double>(context, s.cells).data;
  s.best = workspace.take<std::uint64_t>(context, s.cells).data;
  s.cost = workspace.take<float>(context, edges).data;
  s.tolerance = workspace.take<float>(context, s.cells).data;
  s.pair = workspace.take<std::uint64_t>(context, edges).data;
  s.is_smooth = workspace.take<std::uint32_t>(context, edges).data;
  s.sums = workspace.take<PatchSums>(context, s.cells).data;
  s.patches = workspace.take<Patch>(context, s.cells).data;
  s.noise = workspace.take<NoiseLevels>(context, 1).data;
  return s;
}

/// Joins patches as long as one model of kTerms fits both. After some fifteen rounds there is
/// nothing left to join on any frame that we have seen; the limit is for those that we have not.
template <class DeviceSteps, int kTerms>
void join_patches(const Context& context, const PatchState& s, const PixelSize* pixel,
                  int most_rounds) {
  for (int round = 0; round < most_rounds; ++round) {
    DeviceSteps::each_cell(context, 2 * std::int64_t{s.cells}, RateEdge<kTerms>{s, pixel, round});
    DeviceSteps::each_cell(context, s.cells, ChooseTarget{s});
    if (!DeviceSteps::template add_joining<kTerms>(context, s, round)) return;
    DeviceSteps::each_cell(context, s.cells, FollowRoot{s});
  }
}

/// The noise of the frame, and the smooth patch that each pixel belongs to.
template <class DeviceSteps>
void find_patches(const Context& context, PixelSurface& surface, Workspace& workspace) {
  const View<std::int32_t> label = workspace.take<std::int32_t>(context, surface.size());
  const PatchState s = patch_state(context, surface.width, surface.height, workspace);
  const PixelSize* pixel = surface.pixel;
  surface.noise = s.noise;
  surface.patch = label.data;
  DeviceSteps::each_cell(context, s.cells, SumCell{surface, s});
  DeviceSteps::each_cell(context, std::int64_t{kDepthBins} * kNoiseBins, ClearHistogram{s});
  DeviceSteps::each_cell(context, s.cells, CountResidual{s});
  for_each(context, 1, FindNoise{s, surface.options.depth_noise_per_m});
  DeviceSteps::each_cell(context, s.cells, StartPatch{s, pixel});
  join_patches<DeviceSteps, kPlaneTerms>(context, s, pixel, 20);
  DeviceSteps::each_cell(context, s.cells, BendPatch{s});
  join_patches<DeviceSteps, kQuadraticTerms>(context, s, pixel, 8);
  DeviceSteps::each_cell(context, s.cells, FinishPatch{s, pixel});
  const std::int64_t edges = 2 * std::int64_t{s.cells};
  DeviceSteps::each_cell(context, edges,
                         TestEdge{surface, s, pixel, surface.options.crease_angle_rad});
  const Device device = context.device();
  if (edges > 0) {
    sort_pairs<std::uint64_t>(context, {s.pair, edges, device}, {s.is_smooth, edges, device}, {},
                              workspace);
  }
  DeviceSteps::each_cell(context, edges, JoinPair{s});
  DeviceSteps::each_cell(context, s.cells, CountGroup{s});
  DeviceSteps::each_cell(context, s.cells, NameGroup{s});
  DeviceSteps::each_cell(context, s.cells, LabelCell{surface, s, label.data});
}

/// An image, whose pixels are measured first.
template <class DeviceSteps>
void segment_surface(const Context& context, PixelSurface surface, const SegmentOutput& out,
                     Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  const View<PixelPitch> pitch = workspace.take<PixelPitch>(context, 1);
  const View<PixelSize> pixel = workspace.take<PixelSize>(context, 1);
  transform_reduce(context, surface.size(),
                   PixelPitchAt{surface.points, surface.width, surface.height}, Add{}, PixelPitch{},
                   pitch, workspace);
  for_each(context, 1, FinishPitch{pitch.data, pixel.data});
  surface.pixel = pixel.data;
  find_patches<DeviceSteps>(context, surface, workspace);
  const SegmentOptions& options = surface.options;
  run_segmentation<DeviceSteps>(context, surface, options.min_points, options.attach_px,
                                double{options.merge_angle_rad}, out, workspace);
}

template <class DeviceSteps>
void segment_surface(const Context& context, const CloudSurface& surface, const SegmentOutput& out,
                     Workspace& workspace) {
  const CloudSegmentOptions& options = surface.options;
  run_segmentation<DeviceSteps>(context, surface, options.min_points, options.attach_rounds,
                                double{options.merge_angle_rad}, out, workspace);
}

void segment_cuda(const Context& context, const PixelSurface& surface, const SegmentOutput& out,
                  Workspace& workspace);
void segment_cuda(const Context& context, const CloudSurface& surface, const SegmentOutput& out,
                  Workspace& workspace);

}  // namespace sextant::detail::segment
