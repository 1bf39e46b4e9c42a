// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/options.h"
#include "sextant/core/rigid3.h"

namespace sextant {

enum class ShapeKind : std::int32_t { kPlane, kSphere, kCylinder, kTorus, kBox };

inline constexpr Choice<ShapeKind> kShapeKinds[] = {{"plane", ShapeKind::kPlane},
                                                    {"sphere", ShapeKind::kSphere},
                                                    {"cylinder", ShapeKind::kCylinder},
                                                    {"torus", ShapeKind::kTorus},
                                                    {"box", ShapeKind::kBox}};

/// A surface given by a formula, somewhere before a camera.
struct AnalyticShape {
  ShapeKind kind = ShapeKind::kPlane;
  /// Sphere: radius in x. Cylinder: radius in x, height in z. Torus: radius of the ring in x, of
  /// the tube in y. Box: its three sides. Plane: not used.
  Vec3d size_m;
  Rigid3d camera_from_shape;
  std::int32_t id = 0;

  /// z = 0, without end, seen from both sides.
  static AnalyticShape plane(const Rigid3d& camera_from_shape = {});
  /// Around the origin.
  static AnalyticShape sphere(double radius_m, const Rigid3d& camera_from_shape = {});
  /// Around the z axis, centred at the origin, closed by two discs. An infinite height is a pipe.
  static AnalyticShape cylinder(double radius_m, double height_m,
                                const Rigid3d& camera_from_shape = {});
  /// A tube along the circle of `ring_radius_m` in the plane z = 0.
  static AnalyticShape torus(double ring_radius_m, double tube_radius_m,
                             const Rigid3d& camera_from_shape = {});
  /// Centred at the origin, with sides along the axes.
  static AnalyticShape box(const Vec3d& sides_m, const Rigid3d& camera_from_shape = {});
};

/// Throws Error for sizes that are not positive, or a tube at least as thick as its ring.
void check_shape(const AnalyticShape& shape);

/// Where a ray first meets a surface, in the camera's frame.
struct ShapeHit {
  double depth_m = INFINITY;  ///< z in the camera's frame; infinite when nothing is met
  Vec3d normal;               ///< unit, towards the camera
  /// Principal curvatures, k1 >= k2: positive where the surface bends away from the camera, so a
  /// sphere of radius R is 1/R from outside and -1/R from inside. 0 on planes and flat faces; at an
  /// edge those of the face that is met.
  double k1_per_m = 0;
  double k2_per_m = 0;
};

/// Meets the ray depth · (x, y, 1) from the camera's centre. Exact to the rounding of double: the
/// depth to about 1e-14 of it, less where the ray only just touches (the square root of that).
ShapeHit intersect(const AnalyticShape& shape, const Vec3d& ray);

}  // namespace sextant
