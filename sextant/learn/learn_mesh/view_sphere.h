// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sextant/geometry/cloud.h"
#include "sextant/library/learned_object.h"

namespace sextant::detail::learn {

/// The ball that an object is looked at as.
struct ObjectBall {
  Vec3d centre_m;
  double radius_m = 0;
};

/// The distance of a camera from an object's centre: 0.8 m, or as far as the ball needs to fill no
/// more than four fifths of the picture, and never beyond what the sensor sees.
double working_distance_m(const Camera& camera, double radius_m, double max_depth_m);

/// Number `number` of `count` directions that cover the sphere evenly (a spiral).
Vec3d direction_of(int number, int count);

/// A camera that looks at the centre from a direction, its rows about level where z is up.
Rigid3d look_at(const Vec3d& centre_m, const Vec3d& direction, double distance_m);

/// The directions of which none is another's copy by a symmetry, within half their spacing.
std::vector<Vec3d> different_directions(int count, const Symmetries& symmetries);

/// The part of the camera's picture that the box of an object needs, with a margin.
Camera cropped(const Camera& camera, const Rigid3d& camera_from_object, const Bounds& box);

}  // namespace sextant::detail::learn
