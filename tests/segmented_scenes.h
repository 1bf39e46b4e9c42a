// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/surface/segment.h"
#include "tests/organised_scene.h"

namespace sextant::testing {

/// Labels and regions on the host.
struct Found {
  std::vector<std::int32_t> labels;
  std::vector<SurfaceRegion> regions;
  std::int32_t at(int u, int v, int width) const {
    return labels[static_cast<std::size_t>(v * width + u)];
  }
};

inline Found segment_scene(const Context& context, const OrganisedScene& scene,
                           const std::vector<Vec3f>& normals, const SegmentOptions& options = {}) {
  const Image<Vec3f> points = scene.on(context);
  const Image<Vec3f> given(copy(context, normals), scene.width, scene.height);
  Segmentation result = segment(context, points, given, options);
  return {to_host(context, result.labels.pixels()), std::move(result.regions)};
}

/// Two walls that meet in the plane x = 0 and turn away by `angle` from facing the camera.
inline OrganisedScene roof(double angle_rad, const SceneView& view = {}) {
  return look_at(
      [&](const Vec3d& ray) {
        const double side = ray.x < 0 ? -1.0 : 1.0;
        return PlaneSurface{1.0, {side * std::sin(angle_rad), 0, -std::cos(angle_rad)}}(ray);
      },
      view);
}

}  // namespace sextant::testing
