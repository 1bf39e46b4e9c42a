// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/tensor.h"

#include "sextant/core/context/state.h"
#include "sextant/core/cuda/dispatch.h"
#include "sextant/descriptor/pairs/list.h"
#include "sextant/descriptor/tensor/math.h"
#include "sextant/descriptor/tensor/packed.h"

namespace sextant {

using namespace detail::tensor;

namespace detail::tensor {

TensorRows rows_of(TensorSet& tensors) {
  return {tensors.bins,          tensors.capacity(),     tensors.count.data(),
          tensors.frames.data(), tensors.masks.data(),   tensors.sizes.data(),
          tensors.first.data(),  tensors.indices.data(), tensors.values.data()};
}

void check_computation(const Context& context, View<const PointPair> pairs,
                       View<const std::int32_t> count, const TensorOptions& options,
                       const TensorSet& tensors) {
  check_options(options);
  require_on(context, pairs, "pairs");
  require_room(context, count, 1, "count");
  require_on(context, tensors.count.view(), "tensors");
  require(tensors.bins == options.bins, "tensors: made for ", tensors.bins, " bins instead of ",
          options.bins);
  require(tensors.values.size() == tensors.capacity() * tensors.bins * tensors.bins * tensors.bins,
          "tensors: a packed set has no room for others; make one with TensorSet(context, "
          "capacity, bins)");
}

}  // namespace detail::tensor

namespace {

void check_surface(const Context& context, const OrganisedSurface& surface) {
  const ImageView<const Vec3f>& points = surface.points;
  require_on(context, points, "points");
  require_same_size(context, surface.normals, points, "normals", "points");
  require_on(context, surface.cells, "cells");
  require(points.pixels() <= INT32_MAX, "points: ", points.width, " x ", points.height,
          " are too many");
  const bool some = points.width > 1 && points.height > 1;
  const int width = some ? points.width - 1 : 0;
  const int height = some ? points.height - 1 : 0;
  require(surface.cells.width == width && surface.cells.height == height,
          "cells: ", surface.cells.width, " x ", surface.cells.height, " instead of ", width, " x ",
          height);
}

/// Gives a job what it needs on CUDA. One block for each multiprocessor treats large cubes, or one
/// for each tensor.
void add_tables(const Context& context, TensorJob& job, Workspace& workspace) {
  job.large_blocks =
      static_cast<int>(clamp<std::int64_t>(job.out.capacity, 1, detail::multiprocessors(context)));
  const std::int64_t words = std::int64_t{job.large_blocks} * kTableWords * job.tiles();
  job.tables = workspace.take<std::uint64_t>(context, words).data;
  job.large = workspace.take<std::int32_t>(context, 1 + job.out.capacity).data;
}

}  // namespace

TensorSet::TensorSet(const Context& context, std::int64_t capacity, int bins_along_axis)
    : bins(bins_along_axis) {
  require(capacity >= 0 && capacity <= INT32_MAX, "capacity: ", capacity,
          " tensors are none or too many");
  require(bins >= 1 && bins <= kMostTensorBins, "bins: ", bins, " is outside [1, ", kMostTensorBins,
          "]");
  const std::int64_t elements = capacity * bins * bins * bins;
  count = copy(context, std::vector<std::int32_t>{0});
  frames = Buffer<TensorFrame>(context, capacity);
  masks = Buffer<TensorMask>(context, capacity);
  sizes = Buffer<std::int32_t>(context, capacity);
  first = Buffer<std::int64_t>(context, capacity);
  indices = Buffer<std::uint16_t>(context, elements);
  values = Buffer<float>(context, elements);
}

TensorSet compute_tensors(const Context& context, const OrganisedSurface& surface,
                          View<const PointPair> pairs, float resolution_m,
                          const TensorOptions& options) {
  const Buffer<SurfaceStatistics> statistics =
      detail::pairs::statistics_with(context, resolution_m);
  return packed_tensors(
      context, pairs, options,
      [&](View<const std::int32_t> count, TensorSet& tensors, Workspace& workspace) {
        compute_tensors_into(context, surface, pairs, count, statistics, options, tensors,
                             workspace);
      });
}

void compute_tensors_into(const Context& context, const OrganisedSurface& surface,
                          View<const PointPair> pairs, View<const std::int32_t> count,
                          View<const SurfaceStatistics> statistics, const TensorOptions& options,
                          TensorSet& tensors, Workspace& workspace) {
  check_surface(context, surface);
  check_computation(context, pairs, count, options, tensors);
  require_room(context, statistics, 1, "statistics");
  const Workspace::Scope scope(workspace);
  TensorJob job{.surface = surface,
                .pairs = pairs,
                .count = count.data,
                .statistics = statistics.data,
                .bin_resolutions = options.bin_resolutions,
                .mode = options.mode,
                .out = rows_of(tensors)};
  Bounds* const boxes =
      workspace.take<Bounds>(context, std::int64_t{job.groups()} * kBoxesPerGroup).data;
  job.boxes = boxes;
  detail::on_device(
      context,
      [&] {
        add_tables(context, job, workspace);
        surface_boxes_cuda(context, surface, boxes, job.large);
        compute_tensors_cuda(context, job);
      },
      [&] {
        surface_boxes_cpu(context, surface, boxes);
        compute_tensors_cpu(context, job);
      });
}

}  // namespace sextant
