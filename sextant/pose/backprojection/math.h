// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/pose/photo_fit/minimize.h"
#include "sextant/pose/photo_observation.h"

namespace sextant::detail::backprojection {

/// Where a ray begins and its direction of unit length, in the world's frame.
struct Ray {
  Vec3d centre_m;
  Vec3d direction;
};

SEXTANT_HD inline Ray world_ray(const PinholeView& view, const Vec2d& at_px) {
  const Rigid3d world_from_camera = inverse(view.camera_from_world);
  return {world_from_camera.translation,
          normalized(world_from_camera.rotation * ray_of(view, at_px))};
}

/// Three residuals with their derivatives by a small motion about the pivot.
struct Residuals {
  double value[3];
  double row[3][6];
};

/// v × (T p - c), whose length is the distance of the point from the ray.
SEXTANT_HD inline Residuals residuals(const Ray& ray, const Rigid3d& world_from_object,
                                      const Vec3d& pivot_m, const Vec3d& point_m) {
  const Vec3d at_m = world_from_object * point_m;
  const Vec3d arm = at_m - pivot_m;
  const Vec3d from_centre = at_m - ray.centre_m;
  const Vec3d& v = ray.direction;
  const double along = dot(v, from_centre);
  Residuals r;
  if (along < 0) {
    for (int i = 0; i < 3; ++i) {
      r.value[i] = 10 - along;
      photo_fit::fill_row(r.row[i], -v, arm);
    }
    return r;
  }
  const Vec3d distance = cross(v, from_centre);
  r.value[0] = distance.x;
  r.value[1] = distance.y;
  r.value[2] = distance.z;
  photo_fit::fill_row(r.row[0], {0, -v.z, v.y}, arm);
  photo_fit::fill_row(r.row[1], {v.z, 0, -v.x}, arm);
  photo_fit::fill_row(r.row[2], {-v.y, v.x, 0}, arm);
  return r;
}

}  // namespace sextant::detail::backprojection
