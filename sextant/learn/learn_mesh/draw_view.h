// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sextant/geometry/camera.h"
#include "sextant/render/rasterize.h"
#include "sextant/synth/sensor_noise.h"

namespace sextant::detail::learn {

/// What a camera sees of an object alone.
struct DrawnView {
  Image<float> depth_m;           ///< NaN where nothing is, or the inner side of a triangle
  Image<Vec3f> normals;           ///< in the camera's frame
  std::int64_t outer_pixels = 0;  ///< that show the outer side of triangles
  std::int64_t inner_pixels = 0;  ///< that show the inner side, and are holes
};

/// Draws the first mesh of a scene.
DrawnView draw_view(const Context& context, const RenderScene& scene, const Camera& camera,
                    const Rigid3d& camera_from_object);

}  // namespace sextant::detail::learn
