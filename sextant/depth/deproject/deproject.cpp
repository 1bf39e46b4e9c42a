// SPDX-License-Identifier: Apache-2.0
#include "sextant/depth/deproject.h"

#include "sextant/core/for_each/anywhere.h"
#include "sextant/depth/deproject/math.h"

namespace sextant {

using namespace detail::deproject;

namespace {

/// Calls `use` with the cheapest rays that are right for the camera.
template <class Use>
void with_rays_of(const Camera& camera, const Use& use) {
  if (camera.distortion.is_zero()) {
    use(PinholeRays{static_cast<float>(camera.cx_px), static_cast<float>(camera.cy_px),
                    static_cast<float>(1 / camera.fx_px), static_cast<float>(1 / camera.fy_px)});
  } else {
    use(DistortedRays{cast<float>(camera)});
  }
}

}  // namespace

void deproject_into(const Context& context, ImageView<const float> depth_m, const Camera& camera,
                    View<Vec3f> points) {
  check_camera(camera);
  require_same_size(context, depth_m, camera, "depth_m", "camera");
  require_room(context, points, depth_m.pixels(), "points");
  with_rays_of(camera, [&](const auto& rays) {
    using Rays = std::decay_t<decltype(rays)>;
    detail::for_each_pixel_anywhere(context, depth_m.width, depth_m.height,
                                    DeprojectPixel<Rays>{depth_m, rays, points.data});
  });
}

void deproject_into(const Context& context, ImageView<const float> depth_m,
                    ImageView<const Vec2f> rays, View<Vec3f> points) {
  require_on(context, rays, "rays");
  require_same_size(context, depth_m, rays, "depth_m", "rays");
  require_room(context, points, depth_m.pixels(), "points");
  detail::for_each_pixel_anywhere(context, depth_m.width, depth_m.height,
                                  DeprojectPixel<TabledRays>{depth_m, {rays}, points.data});
}

Image<Vec2f> ray_table(const Context& context, const Camera& camera) {
  check_camera(camera);
  Image<Vec2f> table(context, camera.width, camera.height);
  with_rays_of(camera, [&](const auto& rays) {
    using Rays = std::decay_t<decltype(rays)>;
    detail::for_each_pixel_anywhere(context, camera.width, camera.height,
                                    TableRay<Rays>{rays, table});
  });
  return table;
}

Cloud deproject(const Context& context, ImageView<const float> depth_m, const Camera& camera) {
  Cloud cloud;
  cloud.points = Buffer<Vec3f>(context, depth_m.pixels());
  cloud.width = depth_m.width;
  cloud.height = depth_m.height;
  deproject_into(context, depth_m, camera, cloud.points);
  return cloud;
}

}  // namespace sextant
