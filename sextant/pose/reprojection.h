// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>

#include "sextant/core/rigid3.h"
#include "sextant/pose/photo_observation.h"

namespace sextant {

struct PhotoFitOptions {
  int iterations = 100;
  /// Minimises the sum of fourth powers of the distances, as the code of MOPED does. Reprojection
  /// only.
  bool squared_residuals = false;
};

/// A pose fitted to observations.
struct PhotoFit {
  Rigid3d world_from_object;
  /// Σ residual²: px² for reprojection (px⁴ where residuals are squared), m² for backprojection.
  double squares = 0;
  int iterations = 0;
  bool in_front = false;  ///< whether every point is in front of the camera that saw it
};

/// Finds the pose near `start` with the least sum of squared distances in the photographs:
/// Levenberg and Marquardt's method over a local rotation vector and a translation, with analytic
/// derivatives. Several cameras count alike. Points behind the camera that saw them are pushed to
/// the front by a large residual, so that a start behind the camera is no obstacle.
///
/// Three observations leave up to four poses; the nearest is found. Fewer, or points on a line,
/// leave directions open, along which the start is kept. Without observations the start is the
/// result. Throws Error for an observation of a camera that is not in the list. 150 flop an
/// observation and iteration.
PhotoFit fit_reprojection(std::span<const PinholeView> views,
                          std::span<const PhotoObservation> observations,
                          const Rigid3d& world_from_object, const PhotoFitOptions& options = {});

struct PhotoCovarianceOptions {
  double noise_px = 0;  ///< deviation of a coordinate; 0 estimates it from the residuals
  /// What is assumed of the noise beforehand, worth as many observations as `prior_observations`:
  /// a few residuals are no estimate.
  double prior_noise_px = 1;
  double prior_observations = 3;
  double open_m = 1;    ///< deviation along what the observations leave open: the object's size
  double open_rad = 1;  ///< the same for turns
};

/// How well a fitted pose is known: the inverse of the Hessian of fit_reprojection times the noise,
/// of a small motion about `centre_m` (a point of the object's frame) in the world's axes, rotation
/// (rad) then translation (m), row by row. With one camera that is the world these are the camera's
/// axes, as in Detection::covariance. Observations behind their camera do not count.
std::array<double, 36> photo_covariance(std::span<const PinholeView> views,
                                        std::span<const PhotoObservation> observations,
                                        const Rigid3d& world_from_object, const Vec3d& centre_m,
                                        const PhotoCovarianceOptions& options = {});

}  // namespace sextant
