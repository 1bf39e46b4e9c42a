// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/analytic_frame.h"

#include "sextant/core/for_each.h"

namespace sextant {

AnalyticFrame render_analytic(const Context& context, const Camera& camera,
                              std::span<const AnalyticShape> shapes) {
  check_camera(camera);
  for (const AnalyticShape& shape : shapes) check_shape(shape);
  require(context.is_cpu(), "render_analytic: runs on the host, the context on ",
          to_string(context.device()), "; copy its images there afterwards");
  const int width = camera.width;
  const int height = camera.height;
  AnalyticFrame frame{{context, width, height},
                      {context, width, height},
                      {context, width, height},
                      {context, width, height},
                      {context, width, height}};
  for_each_chunk(context, height, 1, [&](std::int64_t begin, std::int64_t) {
    const int v = static_cast<int>(begin);
    for (int u = 0; u < width; ++u) {
      const Vec3d ray = unproject(camera, Vec2d{static_cast<double>(u), static_cast<double>(v)});
      ShapeHit nearest;
      std::int32_t id = -1;
      for (const AnalyticShape& shape : shapes) {
        const ShapeHit hit = intersect(shape, ray);
        if (!(hit.depth_m < nearest.depth_m)) continue;
        nearest = hit;
        id = shape.id;
      }
      const bool met = std::isfinite(nearest.depth_m);
      frame.depth_m(u, v) = met ? static_cast<float>(nearest.depth_m) : NAN;
      frame.normals(u, v) = met ? cast<float>(nearest.normal) : Vec3f{NAN, NAN, NAN};
      frame.k1_per_m(u, v) = met ? static_cast<float>(nearest.k1_per_m) : NAN;
      frame.k2_per_m(u, v) = met ? static_cast<float>(nearest.k2_per_m) : NAN;
      frame.ids(u, v) = met ? id : -1;
    }
  });
  return frame;
}

}  // namespace sextant
