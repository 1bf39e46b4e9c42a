// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/depth/deproject.h"
#include "sextant/depth/valid_depth.h"

namespace sextant::detail::deproject {

/// The rays of a camera without distortion.
struct PinholeRays {
  float cx_px, cy_px;
  float inverse_fx, inverse_fy;

  SEXTANT_HD Vec2f operator()(int u, int v) const {
    return {(static_cast<float>(u) - cx_px) * inverse_fx,
            (static_cast<float>(v) - cy_px) * inverse_fy};
  }
};

struct DistortedRays {
  Cameraf camera;

  SEXTANT_HD Vec2f operator()(int u, int v) const {
    const Vec3f ray = unproject(camera, Vec2f{static_cast<float>(u), static_cast<float>(v)});
    return {ray.x, ray.y};
  }
};

struct TabledRays {
  ImageView<const Vec2f> table;

  SEXTANT_HD Vec2f operator()(int u, int v) const { return table(u, v); }
};

SEXTANT_HD inline Vec3f point_on_ray(const Vec2f& ray, float depth_m) {
  const float z = is_valid_depth(depth_m) ? depth_m : NAN;
  const float x = ray.x * z;
  const float y = ray.y * z;
  // A ray that the distortion does not reach is NaN in x and y; then the point is a hole too.
  return {x, y, x == x ? z : NAN};
}

template <class Rays>
struct DeprojectPixel {
  ImageView<const float> depth_m;
  Rays rays;
  Vec3f* points;

  SEXTANT_HD void operator()(int u, int v) const {
    points[std::int64_t{v} * depth_m.width + u] = point_on_ray(rays(u, v), depth_m(u, v));
  }
};

template <class Rays>
struct TableRay {
  Rays rays;
  ImageView<Vec2f> table;

  SEXTANT_HD void operator()(int u, int v) const { table(u, v) = rays(u, v); }
};

}  // namespace sextant::detail::deproject
