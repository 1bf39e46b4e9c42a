// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/segment.h"

#include "sextant/core/build_config.h"
#include "sextant/surface/segment/host.h"

namespace sextant {

using namespace detail::segment;

namespace {

/// The pixels row by row without gaps: the image itself, or a copy in `memory`.
const Vec3f* without_gaps(const Context& context, ImageView<const Vec3f> image,
                          Buffer<Vec3f>& memory) {
  if (image.stride == image.width) return image.data;
  memory = Buffer<Vec3f>(context, image.pixels());
  for (int v = 0; v < image.height; ++v) {
    const std::int64_t first = std::int64_t{v} * image.width;
    copy_async<Vec3f>(context, {image.row(v), image.width, image.device},
                      memory.view().subview(first, image.width));
  }
  return memory.data();
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
  segment_into(context, points, normals, options, result.labels, regions, count);
  const std::int32_t found = to_host(context, count)[0];
  result.regions = to_host(context, regions.view().subview(0, found));
  return result;
}

void segment_into(const Context& context, ImageView<const Vec3f> points,
                  ImageView<const Vec3f> normals, const SegmentOptions& options,
                  ImageView<std::int32_t> labels, View<SurfaceRegion> regions,
                  View<std::int32_t> count) {
  check_options(options);
  require_on(context, points, "points");
  require_on(context, normals, "normals");
  require_on(context, labels, "labels");
  require_on(context, regions, "regions");
  require_on(context, count, "count");
  require(normals.width == points.width && normals.height == points.height,
          "normals: ", normals.width, " x ", normals.height, " for ", points.width, " x ",
          points.height, " points");
  require(labels.width == points.width && labels.height == points.height, "labels: ", labels.width,
          " x ", labels.height, " for ", points.width, " x ", points.height, " points");
  // Indices and the sums of regions fit 32 bits.
  require(points.pixels() <= INT32_MAX / 2, "points: ", points.width, " x ", points.height,
          " are too many");
  const std::int64_t capacity = region_capacity(points.pixels(), options.min_points);
  require(regions.size == capacity, "regions: room for ", regions.size, " instead of ", capacity,
          "; see region_capacity");
  require(count.size == 1, "count: ", count.size, " elements instead of 1");
  Buffer<Vec3f> dense_points, dense_normals;
  const PixelSurface surface{without_gaps(context, points, dense_points),
                             without_gaps(context, normals, dense_normals),
                             points.width,
                             points.height,
                             options,
                             nullptr};
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) {
      return segment_cuda(context, surface, labels, regions, count);
    }
  }
  segment_image<HostSteps>(context, surface, labels, regions, count);
}

}  // namespace sextant
