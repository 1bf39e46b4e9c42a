// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/image.h"
#include "sextant/core/vec.h"
#include "sextant/geometry/camera.h"
#include "sextant/render/scene.h"

// Objects drawn over a picture in the pose that somebody says they have.

namespace sextant::app {

/// The depth map that a camera would take of a mesh of the scene alone; NaN where it is not.
Image<float> depth_of_object(const RenderScene& meshes, int mesh, const Camera& camera,
                             const Rigid3d& camera_from_object);

/// Draws the outline of an object, two pixels wide, and mixes `share` of the colour into what lies
/// inside. Where a measured depth map is given, pixels in which something nearer hides the object
/// stay as they are.
void draw_outline(ImageView<const float> object_depth_m, const Rgb8& color, float share,
                  Image<Rgb8>& picture, ImageView<const float> measured_m = {});

/// A straight line of `width` pixels; what lies outside the picture is cut.
void draw_line(const Vec2d& from_px, const Vec2d& to_px, const Rgb8& color, int width,
               Image<Rgb8>& picture);

/// The axes of an object from a point of it: x red, y green, z blue.
void draw_axes(const Camera& camera, const Rigid3d& camera_from_object, const Vec3d& point_m,
               double length_m, int width, Image<Rgb8>& picture);

/// A depth map in grey: near is bright, and holes are dark blue.
Image<Rgb8> grey_of(const Image<float>& depth_m);

}  // namespace sextant::app
