// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/reduce.h"
#include "sextant/core/sort.h"
#include "sextant/surface/segment/memory.h"
#include "sextant/surface/segment/patch_labels.h"
#include "sextant/surface/segment/region_steps.h"

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

/// The sums of all slices, then of all regions, with what follows from them.
template <class DeviceSteps, class Step>
void sum_and_finish(const Context& context, const Step& step, const SegmentState& s) {
  DeviceSteps::sum_slices(context, step, s);
  DeviceSteps::finish_regions(context, FinishRegion<Step>{step, s});
}

/// A crease that is blurred away somewhere lets a plane and its neighbour run together. Such
/// planes are found as what most points of a region lie on, and parted from the rest.
template <class DeviceSteps, class Surface>
void part_planes(const Context& context, const Surface& surface, const SegmentState& s,
                 int min_points, Workspace& workspace) {
  DeviceSteps::gather(context, s, workspace);
  sum_and_finish<DeviceSteps>(context, MomentsOfPoint<Surface>{surface, s}, s);
  for (const double shrink : {1.0, 0.6, 0.3, 0.0}) {
    sum_and_finish<DeviceSteps>(context, SidesOfPlane<Surface>{surface, s, shrink}, s);
  }
  if (!DeviceSteps::may_part(s)) return;
  for_each(context, s.n, PartPoint<Surface>{surface, s});
  DeviceSteps::link(context, surface, s);
  DeviceSteps::keep_large(context, s, min_points);
}

/// Labels, regions and their number; nothing waits. `DeviceSteps` says how cells, patches, points
/// and regions are gone through, which CPU and CUDA do in their own ways with the same outcome.
template <class DeviceSteps, class Surface>
void run_segmentation(const Context& context, const Surface& surface, int min_points,
                      int attach_rounds, double merge_angle_rad, const SegmentOutput& out,
                      Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  const std::int64_t n = surface.size();
  SegmentState s = segment_state(context, n, out.regions.size, !Surface::kHasPatches, workspace);
  if constexpr (!Surface::kHasPatches) for_each(context, n, FindValid<Surface>{surface, s});
  for_each(context, n, FlagPoint<Surface>{surface, s});
  for_each(context, n, StartPoint<Surface>{surface, s});
  DeviceSteps::link(context, surface, s);
  DeviceSteps::keep_large(context, s, min_points);
  if constexpr (!Surface::kHasPatches) {
    part_planes<DeviceSteps>(context, surface, s, min_points, workspace);
  }
  DeviceSteps::attach(context, surface, attach_rounds, s);
  DeviceSteps::gather(context, s, workspace);
  sum_and_finish<DeviceSteps>(context, MomentsOfPoint<Surface>{surface, s}, s);
  DeviceSteps::each_region(context, s, LeadRegion{s});
  DeviceSteps::merge(context, MergePoint<Surface>{surface, s, std::cos(merge_angle_rad)});
  DeviceSteps::each_region(context, s, FlattenLeader{s});
  DeviceSteps::each_region(context, s, CombineRegion<Surface>{surface, s});
  constexpr int kSteps = 3;  // two steps, and the residuals that they leave
  for (int step = 0; step < kSteps; ++step) {
    sum_and_finish<DeviceSteps>(context, ResidualsOfPoint<Surface>{surface, s}, s);
  }
  DeviceSteps::rank(context, s, workspace);
  DeviceSteps::each_region(context, s, WriteRegion{s, out.regions, out.count});
  for_each(context, n, WriteLabel{s, out.labels});
}

/// The noise of the frame, and the smooth patch that each pixel belongs to.
template <class DeviceSteps>
void find_patches(const Context& context, PixelSurface& surface, Workspace& workspace) {
  const View<std::int32_t> label = workspace.take<std::int32_t>(context, surface.size());
  const PatchState s = patch_state(context, surface.width, surface.height, workspace);
  const PixelSize* pixel = surface.pixel;
  surface.noise = s.noise;
  surface.patch = label.data;
  DeviceSteps::sum_cells(context, SumCell{surface, s});
  DeviceSteps::each_short(context, std::int64_t{kDepthBins} * kNoiseBins, ClearHistogram{s});
  DeviceSteps::each_cell(context, s.cells, CountResidual{s});
  DeviceSteps::find_noise(context, s, surface.options.depth_noise_per_m);
  DeviceSteps::each_cell(context, s.cells, StartPatch{s, pixel});
  // After some fifteen rounds there is nothing left to join on any frame that we have seen; the
  // limit is for those that we have not.
  DeviceSteps::template join_patches<kPlaneTerms>(context, s, pixel, 20);
  DeviceSteps::each_cell(context, s.cells, BendPatch{s});
  DeviceSteps::template join_patches<kQuadraticTerms>(context, s, pixel, 8);
  DeviceSteps::each_cell(context, s.cells, FinishPatch{s, pixel});
  const std::int64_t edges = 2 * std::int64_t{s.cells};
  DeviceSteps::each_cell(context, edges,
                         TestEdge{surface, s, pixel, surface.options.crease_angle_rad});
  DeviceSteps::join_pairs(context, s, workspace);
  DeviceSteps::each_short(context, s.cells, JoinSmall{s});
  DeviceSteps::each_short(context, s.cells, CountGroup{s});
  DeviceSteps::each_short(context, s.cells, NameGroup{s});
  DeviceSteps::label_pixels(context, LabelCell{surface, s, label.data});
}

/// An image, whose pixels are measured first.
template <class DeviceSteps>
void segment_surface(const Context& context, PixelSurface surface, const SegmentOutput& out,
                     Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  const View<PixelPitch> pitch = workspace.take<PixelPitch>(context, 1);
  const View<PixelSize> pixel = workspace.take<PixelSize>(context, 1);
  const PixelPitchAt pitch_at{surface.points, surface.width, surface.height};
  transform_reduce(context, pitch_at.pixels(), pitch_at, Add{}, PixelPitch{}, pitch, workspace);
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
