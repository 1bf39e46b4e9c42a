// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/normals.h"

#include "sextant/core/cuda/dispatch.h"
#include "sextant/core/for_each.h"
#include "sextant/surface/normals/tile.h"

namespace sextant {

using namespace detail::normals;

namespace {

template <class Pack, NormalsMethod kMethod>
void run_normals_tile(const NormalsJob& job, int left, int top) {
  if (job.radius_px == 3) {
    NormalsTile<Pack, kMethod, 3>(job, left, top).run();
  } else {
    NormalsTile<Pack, kMethod, 0>(job, left, top).run();
  }
}

/// The tile whose first pixel is (left, top).
struct NormalsOfTile {
  const NormalsJob& job;

  template <class Set>
  void operator()(Set, int left, int top) const {
    using Pack = detail::FloatLanes<Set::kFloats, Set>;
    switch (job.method) {
      case NormalsMethod::kPca:
        return run_normals_tile<Pack, NormalsMethod::kPca>(job, left, top);
      case NormalsMethod::kCurved:
        return run_normals_tile<Pack, NormalsMethod::kCurved>(job, left, top);
      case NormalsMethod::kRay:
        return run_normals_tile<Pack, NormalsMethod::kRay>(job, left, top);
    }
  }
};

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
                       options.relative_depth_gate,
                       curved_weights(options.radius_px)};
  detail::on_device(
      context, [&] { estimate_normals_cuda(context, job); },
      [&] { estimate_normals_cpu(context, job); });
}

}  // namespace sextant
