// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/segment.h"

#include "sextant/core/cuda/dispatch.h"
#include "sextant/surface/segment/host.h"

namespace sextant {

using namespace detail::segment;

namespace {

/// The pixels row by row without gaps: the image itself, or a copy in the workspace.
const Vec3f* without_gaps(const Context& context, ImageView<const Vec3f> image,
                          Workspace& workspace) {
  if (image.stride == image.width) return image.data;
  const View<Vec3f> dense = workspace.take<Vec3f>(context, image.pixels());
  for (int v = 0; v < image.height; ++v) {
    const std::int64_t first = std::int64_t{v} * image.width;
    copy_async<Vec3f>(context, {image.row(v), image.width, image.device},
                      dense.subview(first, image.width));
  }
  return dense.data;
}

}  // namespace

std::int64_t region_capacity(std::int64_t points, int min_points) {
  require(points >= 0, "points: ", points, " is negative");
  require(min_points > 0, "min_points: ", min_points, " is not positive");
  return max_of<std::int64_t>(1, points / min_points);
}

Segmentation segment(const Context& context, ImageView<const Vec3f> points,
                     ImageView<const Vec3f> normals, const SegmentOptions& options) {
  check_options(options);
  Segmentation result;
  result.labels = Image<std::int32_t>(context, points.width, points.height);
  Buffer<SurfaceRegion> regions(context, region_capacity(points.pixels(), options.min_points));
  Buffer<std::int32_t> count(context, 1);
  Workspace workspace;
  segment_into(context, points, normals, options, result.labels, regions, count, workspace);
  const std::int32_t found = to_host(context, count)[0];
  result.regions = to_host(context, regions.view().subview(0, found));
  return result;
}

void segment_into(const Context& context, ImageView<const Vec3f> points,
                  ImageView<const Vec3f> normals, const SegmentOptions& options,
                  ImageView<std::int32_t> labels, View<SurfaceRegion> regions,
                  View<std::int32_t> count, Workspace& workspace) {
  check_options(options);
  require_on(context, points, "points");
  require_same_size(context, normals, points, "normals", "points");
  require_same_size(context, labels, points, "labels", "points");
  check_segment_sizes(context, points.pixels(), options.min_points, regions, count);
  const Workspace::Scope scope(workspace);
  const PixelSurface surface{without_gaps(context, points, workspace),
                             without_gaps(context, normals, workspace),
                             points.width,
                             points.height,
                             options,
                             nullptr,
                             nullptr,
                             nullptr};
  const SegmentOutput out{labels, regions, count};
  detail::on_device(
      context, [&] { segment_cuda(context, surface, out, workspace); },
      [&] { segment_surface<HostSteps>(context, surface, out, workspace); });
}

}  // namespace sextant
