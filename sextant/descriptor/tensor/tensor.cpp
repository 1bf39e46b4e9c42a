// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/tensor.h"

#include "sextant/core/build_config.h"
#include "sextant/descriptor/tensor/math.h"

namespace sextant {

using namespace detail::tensor;

namespace detail::tensor {

TensorRows rows_of(TensorSet& tensors) {
  return {tensors.bins,          tensors.capacity(),     tensors.count.data(),
          tensors.frames.data(), tensors.masks.data(),   tensors.sizes.data(),
          tensors.first.data(),  tensors.indices.data(), tensors.values.data()};
}

void check_room(const TensorSet& tensors, int bins) {
  require(tensors.bins == bins, "tensors: made for ", tensors.bins, " bins instead of ", bins);
  require(tensors.values.size() == tensors.capacity() * bins * bins * bins,
          "tensors: a packed set has no room for others; make one with TensorSet(context, "
          "capacity, bins)");
}

}  // namespace detail::tensor

namespace {

void check_surface(const Context& context, const OrganisedSurface& surface) {
  const ImageView<const Vec3f>& points = surface.points;
  require_on(context, points, "points");
  require_on(context, surface.normals, "normals");
  require_on(context, surface.cells, "cells");
  require(surface.normals.width == points.width && surface.normals.height == points.height,
          "normals: ", surface.normals.width, " x ", surface.normals.height, " for ", points.width,
          " x ", points.height, " points");
  require(points.pixels() <= INT32_MAX, "points: ", points.width, " x ", points.height,
          " are too many");
  const bool some = points.width > 1 && points.height > 1;
  const int width = some ? points.width - 1 : 0;
  const int height = some ? points.height - 1 : 0;
  require(surface.cells.width == width && surface.cells.height == height,
          "cells: ", surface.cells.width, " x ", surface.cells.height, " instead of ", width, " x ",
          height);
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
  check_options(options);
  require(pairs.size <= INT32_MAX, "pairs: ", pairs.size, " are too many");
  SurfaceStatistics statistics;
  statistics.resolution_m = resolution_m;
  const Buffer<SurfaceStatistics> on_device =
      copy(context, std::vector<SurfaceStatistics>{statistics});
  const Buffer<std::int32_t> count =
      copy(context, std::vector<std::int32_t>{static_cast<std::int32_t>(pairs.size)});
  TensorSet tensors(context, pairs.size, options.bins);
  TensorWorkspace workspace;
  compute_tensors_into(context, surface, pairs, count, on_device, options, tensors, workspace);
  return pack_tensors(context, tensors);
}

void compute_tensors_into(const Context& context, const OrganisedSurface& surface,
                          View<const PointPair> pairs, View<const std::int32_t> count,
                          View<const SurfaceStatistics> statistics, const TensorOptions& options,
                          TensorSet& tensors, TensorWorkspace& workspace) {
  check_options(options);
  check_surface(context, surface);
  require_on(context, pairs, "pairs");
  require_on(context, count, "count");
  require_on(context, statistics, "statistics");
  require_on(context, tensors.count.view(), "tensors");
  require(count.size == 1, "count: ", count.size, " elements instead of 1");
  require(statistics.size == 1, "statistics: ", statistics.size, " elements instead of 1");
  check_room(tensors, options.bins);
  TensorJob job{.surface = surface,
                .pairs = pairs,
                .count = count.data,
                .statistics = statistics.data,
                .bin_resolutions = options.bin_resolutions,
                .mode = options.mode,
                .out = rows_of(tensors)};
  make_room(context, std::int64_t{job.groups()} * kBoxesPerGroup, workspace.boxes);
  job.boxes = workspace.boxes.data();
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) {
      make_room(context, std::int64_t{job.large_blocks()} * kTableWords * job.tiles(),
                workspace.tables);
      make_room(context, 1 + tensors.capacity(), workspace.large);
      job.tables = workspace.tables.data();
      job.large = workspace.large.data();
      surface_boxes_cuda(context, surface, workspace.boxes.data(), job.large);
      return compute_tensors_cuda(context, job);
    }
  }
  surface_boxes_cpu(context, surface, workspace.boxes.data());
  compute_tensors_cpu(context, job);
}

}  // namespace sextant
