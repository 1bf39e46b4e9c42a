// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/normals.h"

#include "sextant/core/cuda/dispatch.h"
#include "sextant/core/for_each.h"
#include "sextant/surface/normals/tile.h"

namespace sextant {

using namespace detail::normals;

namespace {

void estimate_normals_cpu(const Context& context, const NormalsJob& job) {
  const NormalsOfTile tile{job};
  constexpr int kWidth = kNormalsTileWidth;
  constexpr int kHeight = kNormalsTileHeight;
  const int bands = (job.points.height + kHeight - 1) / kHeight;
  for_each_chunk(context, bands, 1, [&](std::int64_t band, std::int64_t) {
    for (int left = 0; left < job.points.width; left += kWidth) {
      detail::run_widest(tile, left, static_cast<int>(band) * kHeight);
    }
  });
}

}  // namespace

Image<Vec3f> estimate_normals(const Context& context, ImageView<const Vec3f> points,
                              const NormalsOptions& options) {
  Image<Vec3f> normals(context, points.width, points.height);
  estimate_normals_into(context, points, options, normals);
  return normals;
}

void estimate_normals_into(const Context& context, ImageView<const Vec3f> points,
                           const NormalsOptions& options, ImageView<Vec3f> normals) {
  check_options(options);
  require_on(context, points, "points");
  require_same_size(context, normals, points, "normals", "points");
  if (points.empty()) return;
  require(normals.data != points.data,
          "normals: the points cannot be overwritten by their normals");
  const NormalsJob job{points,
                       normals,
                       options.method,
                       options.radius_px,
                       options.depth_gate_m,
                       options.relative_depth_gate};
  detail::on_device(
      context, [&] { estimate_normals_cuda(context, job); },
      [&] { estimate_normals_cpu(context, job); });
}

}  // namespace sextant
