// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/image.h"
#include "sextant/geometry/camera.h"
#include "sextant/geometry/cloud.h"

namespace sextant {

/// The organised cloud of a depth map, in the frame of its camera: the point of pixel (u, v) is the
/// depth z times the ray (X/Z, Y/Z, 1) through the pixel, with the lens distortion undone. Holes
/// (NaN, infinite, zero or negative depth) become NaN points, and so do pixels that the camera's
/// distortion does not reach.
///
/// Cost: bound by memory (16 bytes a pixel) without distortion; with it about 150 flop a pixel,
/// which a ray table saves. Accuracy: within 4e-7 of the distance from the camera, 2e-6 with
/// distortion. CPU and CUDA differ by no more.
Cloud deproject(const Context& context, ImageView<const float> depth_m, const Camera& camera);

/// Into one point a pixel, row by row; allocates nothing and does not wait.
void deproject_into(const Context& context, ImageView<const float> depth_m, const Camera& camera,
                    View<Vec3f> points);

/// (X/Z, Y/Z) of every pixel: what `deproject_into` needs of a camera, for cameras with distortion
/// that stay the same from frame to frame.
Image<Vec2f> ray_table(const Context& context, const Camera& camera);
void deproject_into(const Context& context, ImageView<const float> depth_m,
                    ImageView<const Vec2f> rays, View<Vec3f> points);

}  // namespace sextant
