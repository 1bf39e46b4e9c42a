// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/cloud_segment.h"

#include "sextant/core/cuda/dispatch.h"
#include "sextant/geometry/neighbours/queries.h"
#include "sextant/surface/segment/host.h"

namespace sextant {

using namespace detail::segment;

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

/// Cells that hold four points of a surface are twice as wide as the points are apart.
constexpr float kCellsPerRadius = 0.8f;

float radius_of(const Context& context, const NeighbourGrid& grid) {
  const View<const detail::GridFrame> frame{grid.view().frame, 1, grid.device()};
  return to_host(context, frame)[0].cell_m / kCellsPerRadius;
}

}  // namespace

CloudSegmentation segment_cloud(const Context& context, View<const Vec3f> points,
                                View<const Vec3f> normals, const PointSaliency& saliency,
                                const CloudSegmentOptions& options) {
  check_options(options);
  require_on(context, points, "points");
  require_room(context, normals, points.size, "normals");
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
  Workspace workspace;
  segment_cloud_into(context, grid, points, normals, saliency, chosen, result.labels, regions,
                     count, workspace);
  const std::int32_t found = to_host(context, count)[0];
  result.regions = to_host(context, regions.view().subview(0, found));
  return result;
}

void segment_cloud_into(const Context& context, const NeighbourGrid& grid, View<const Vec3f> points,
                        View<const Vec3f> normals, const PointSaliency& saliency,
                        const CloudSegmentOptions& options, View<std::int32_t> labels,
                        View<SurfaceRegion> regions, View<std::int32_t> count,
                        Workspace& workspace) {
  check_options(options);
  require_on(context, points, "points");
  detail::neighbours::check_grid(context, grid, points.size);
  require_room(context, normals, points.size, "normals");
  check_saliency(context, saliency, points.size);
  require_room(context, labels, points.size, "labels");
  check_segment_sizes(context, points.size, options.min_points, regions, count);
  require(options.radius_m > 0.0f, "radius_m: 0 takes the radius from the density, which waits; ",
          "give one, or use segment_cloud");
  const CloudSurface surface{
      grid.view(),         points.data,        normals.data, saliency.stick.data,
      saliency.plate.data, saliency.ball.data, options,      std::cos(options.link_angle_rad)};
  const int width = static_cast<int>(labels.size);  // the labels of a cloud are one row
  const SegmentOutput out{{labels.data, width, 1, width, labels.device}, regions, count};
  detail::on_device(
      context, [&] { segment_cuda(context, surface, out, workspace); },
      [&] { segment_surface<HostSteps>(context, surface, out, workspace); });
}

}  // namespace sextant
