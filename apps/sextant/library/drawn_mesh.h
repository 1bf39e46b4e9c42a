// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/library/learned_object.h"

// Meshes that a picture of an object is made of, beside the object itself.

namespace sextant::app {

/// The mesh as it can be drawn: one without triangles becomes small squares at its points, or
/// grains where they have no normals, and one without colours gets one.
TriangleMesh drawable(const TriangleMesh& mesh, double diameter_m);

/// A thin rod from one point to another.
TriangleMesh rod(const Vec3d& from_m, const Vec3d& to_m, double radius_m, const Rgb8& color);

/// A ring about an axis.
TriangleMesh ring(const Vec3d& centre_m, const Vec3d& axis, double ring_m, double radius_m,
                  const Rgb8& color);

/// A small pyramid whose top lies where a camera stands, and whose base is what it looks at.
TriangleMesh camera_sign(const Rigid3d& object_from_camera, const Camera& camera, double length_m,
                         const Rgb8& color);

}  // namespace sextant::app
