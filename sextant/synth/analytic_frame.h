// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sextant/core/image.h"
#include "sextant/geometry/camera.h"
#include "sextant/synth/analytic_shape.h"

namespace sextant {

/// What a camera sees of analytic shapes: the truth that operations are measured against. On the
/// host; NaN (and id -1) where nothing is.
struct AnalyticFrame {
  Image<float> depth_m;
  Image<Vec3f> normals;   ///< unit, towards the camera, in its frame
  Image<float> k1_per_m;  ///< principal curvatures, k1 >= k2; signs as in ShapeHit
  Image<float> k2_per_m;
  Image<std::int32_t> ids;  ///< `AnalyticShape::id` of the nearest shape
};

/// Casts a ray through every pixel centre, in double; lens distortion is followed. Of shapes at the
/// same depth the first in the list is seen. Rounding to float is the largest error. Runs on the
/// host's threads, about 0.1 µs a pixel and shape (0.5 µs for a torus). Throws Error for a context
/// that is not the CPU's, a camera that check_camera refuses, and a shape that check_shape refuses.
AnalyticFrame render_analytic(const Context& context, const Camera& camera,
                              std::span<const AnalyticShape> shapes);

}  // namespace sextant
