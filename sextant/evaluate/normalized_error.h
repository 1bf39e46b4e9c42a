// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sextant/core/rigid3.h"

namespace sextant {

/// How large the error of a pose is beside the covariance that was claimed for it.
struct NormalizedError {
  /// Sum over the told directions of the squared error over its variance. For a covariance that is
  /// true its mean is the number of told directions.
  double squared = 0;
  int told = 0;  ///< directions that the covariance claims to know: 6 less the open ones
};

/// The motion of a pose from the truth, in the frame's axes: rotation (rad), then translation of
/// the point `centre_m` of the object (m). It is what a covariance of a detection speaks of.
Twist3<double> pose_motion(const Rigid3d& frame_from_object, const Rigid3d& truth,
                           const Vec3d& centre_m);

/// The error `motion` in the directions of the covariance's own (6 × 6 row by row, rotation, then
/// translation), where angles count as lengths at the distance `length_m`. Directions whose
/// deviation is `open_m` or more are open: the covariance claims to know nothing of them, and they
/// are left out. Throws Error for a covariance that is not positive definite.
NormalizedError normalized_error(const Twist3<double>& motion, std::span<const double> covariance,
                                 double length_m, double open_m);

}  // namespace sextant
