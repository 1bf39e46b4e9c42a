// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/cloud_segment.h"

#include "sextant/core/build_config.h"
#include "sextant/surface/segment/host.h"

namespace sextant {

namespace {

void check_saliency(const Context& context, const PointSaliency& saliency, std::int64_t points) {
  const auto check = [&](View<const float> values, const char* name) {
    if (values.size != 0) require_on(context, values, name);
    require(values.size == saliency.stick.size && (values.size == 0 || values.size == points), name,
            ": ", values.size, " values for ", points,
            " points; give all three saliencies or none");
  };
  check(saliency.stick, "stick");
  check(saliency.plate, "plate");
  check(saliency.ball, "ball");
}

void check_clouds(const Context& context, View<const Vec3f> points, View<const Vec3f> normals) {
  require_on(context, points, "points");
  require_on(context, normals, "normals");
  require(normals.size == points.size, "normals: ", normals.size, " for ", points.size, " points");
  // Indices and the sums of regions fit 32 bits.
  require(points.size <= INT32_MAX / 2, "points: ", points.size, " are too many");
}

/// Cells that hold four points of a surface are twice as wide as the points are apart.
constexpr float kCellsPerRadius = 0.8f;

float radius_of(const Context& context, const NeighbourGrid& grid) {
  const View<const detail::GridFrame> frame{grid.view().frame, 1, grid.device()};
  return to_host(context, frame)[0].cell_m / kCellsPerRadius;
}

}  // namespace

CloudSegmentation segment_cloud(const Context& context, View<const Vec3f> points,
                                View<const Vec3f> normals, const CloudSegmentOptions& options,
                                const PointSaliency& saliency) {
  check_options(options);
  check_clouds(context, points, normals);
  CloudSegmentOptions chosen = options;
  NeighbourGridOptions cells;
  if (options.radius_m > 0.0f) cells = NeighbourGridOptions::for_radius(options.radius_m);
  const NeighbourGrid grid = build_neighbour_grid(context, points, cells);
  if (!(options.radius_m > 0.0f)) chosen.radius_m = radius_of(context, grid);
  CloudSegmentation result;
  result.radius_m = chosen.radius_m;
  result.labels = Buffer<std::int32_t>(context, points.size);
  Buffer<SurfaceRegion> regions(context, region_capacity(points.size, options.min_points));
  Buffer<std::int32_t> count(context, 1);
  segment_cloud_into(context, grid, points, normals, chosen, saliency, result.labels, regions,
                     count);
  const std::int32_t found = to_host(context, count)[0];
  result.regions = to_host(context, regions.view().subview(0, found));
  return result;
}

void segment_cloud_into(const Context& context, const NeighbourGrid& grid, View<const Vec3f> points,
                        View<const Vec3f> normals, const CloudSegmentOptions& options,
                        const PointSaliency& saliency, View<std::int32_t> labels,
                        View<SurfaceRegion> regions, View<std::int32_t> count) {
  check_options(options);
  check_clouds(context, points, normals);
  check_saliency(context, saliency, points.size);
  require_on(context, labels, "labels");
  require_on(context, regions, "regions");
  require_on(context, count, "count");
  require(options.radius_m > 0.0f, "radius_m: 0 takes the radius from the density, which waits; ",
          "give one, or use segment_cloud");
  require(grid.size() == points.size, "grid: was built from ", grid.size(), " points, not from ",
          points.size);
  require(labels.size == points.size, "labels: room for ", labels.size, " instead of ",
          points.size);
  const std::int64_t capacity = region_capacity(points.size, options.min_points);
  require(regions.size == capacity, "regions: room for ", regions.size, " instead of ", capacity,
          "; see region_capacity");
  require(count.size == 1, "count: ", count.size, " elements instead of 1");
  const detail::segment::CloudSurface surface{
      grid.view(),         points.data,        normals.data, saliency.stick.data,
      saliency.plate.data, saliency.ball.data, options,      std::cos(options.link_angle_rad)};
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) {
      return detail::segment::segment_cuda(context, surface, labels, regions, count);
    }
  }
  detail::segment::segment_points<detail::segment::HostSteps>(context, surface, labels, regions,
                                                              count);
}

}  // namespace sextant
