// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/surface_descriptors/triangle_counts.h"

#include "sextant/core/for_each/anywhere.h"
#include "sextant/descriptor/surface_descriptors.h"

namespace sextant {

using namespace detail::surface_descriptors;

namespace {

/// The centres of all triangles; holes are NaN.
Buffer<Vec3f> triangle_centres(const Context& context, const Surface& surface) {
  if (surface.cells.empty()) {
    require_on(context, surface.triangles.view(), "triangles");
    Buffer<Vec3f> centres(context, surface.triangles.size());
    detail::for_each_anywhere(context, centres.size(),
                              TriangleCentre{surface.points, surface.triangles, centres.data()});
    return centres;
  }
  const ImageView<const std::uint8_t> cells = surface.cells;
  require_on(context, cells, "cells");
  Buffer<Vec3f> centres(context, 2 * cells.pixels());
  detail::for_each_anywhere(context, centres.size(),
                            CellCentre{surface.point_image(), cells, centres.data()});
  return centres;
}

/// Cubes hold thousands of centres: few make a chunk.
void count_cpu(const Context& context, std::int64_t frames, const CountCentres& count) {
  constexpr std::int64_t kGrain = 4;
  for_each_chunk(context, frames, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) count(i);
  });
}

}  // namespace

Buffer<std::int32_t> count_triangles(const Context& context, const Surface& surface,
                                     View<const TensorFrame> frames, const TensorOptions& options,
                                     int step) {
  check_options(options);
  require_on(context, frames, "frames");
  require(step >= 1, "step: ", step, " is less than 1");
  const Buffer<Vec3f> centres = triangle_centres(context, surface);
  const float half_m =
      0.5f * static_cast<float>(options.bins) * options.bin_resolutions * surface.resolution_m;
  const NeighbourGrid grid = build_neighbour_grid(context, centres,
                                                  half_m > 0.0f && half_m < 1e18f
                                                      ? NeighbourGridOptions::for_radius(half_m)
                                                      : NeighbourGridOptions{});
  const std::int64_t counted = (frames.size + step - 1) / step;
  Buffer<std::int32_t> counts(context, counted);
  const CountCentres count{grid.view(), frames.data, step, options.bins, counts.data()};
  detail::on_device(
      context, [&] { detail::for_each_on_cuda(context, counted, count); },
      [&] { count_cpu(context, counted, count); });
  return counts;
}

}  // namespace sextant
