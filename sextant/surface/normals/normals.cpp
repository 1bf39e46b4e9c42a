// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/normals.h"

#include "sextant/core/cuda/dispatch.h"
#include "sextant/core/for_each.h"
#include "sextant/core/simd/instruction_set.h"
#include "sextant/surface/normals/tile.h"

namespace sextant {

using namespace detail::normals;

namespace {

SEXTANT_FOR_AVX512 void run_tile_512(const NormalsJob& job, int left, int top) {
  run_normals_tile<16>(job, left, top);
}
SEXTANT_FOR_AVX2 void run_tile_256(const NormalsJob& job, int left, int top) {
  run_normals_tile<8>(job, left, top);
}
SEXTANT_FOR_ANY void run_tile_128(const NormalsJob& job, int left, int top) {
  run_normals_tile<4>(job, left, top);
}

void estimate_normals_cpu(const Context& context, const NormalsJob& job) {
  const auto run_tile = detail::best_variant(run_tile_512, run_tile_256, run_tile_128);
  constexpr int kWidth = kNormalsTileWidth;
  constexpr int kHeight = kNormalsTileHeight;
  const int bands = (job.points.height + kHeight - 1) / kHeight;
  for_each_chunk(context, bands, 1, [&](std::int64_t band, std::int64_t) {
    for (int left = 0; left < job.points.width; left += kWidth) {
      run_tile(job, left, static_cast<int>(band) * kHeight);
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
