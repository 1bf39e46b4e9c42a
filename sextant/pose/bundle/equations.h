// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/cholesky.h"
#include "sextant/pose/bundle/math.h"
#include "sextant/pose/dense_system/dense_system.h"

namespace sextant::detail::bundle {

/// Where the unknowns of cameras and views stand in the system that is left when the points are
/// eliminated.
class Unknowns {
 public:
  Unknowns(const Bundle& bundle, const BundleOptions& options);

  std::size_t count() const { return first_view_ + (poses_ ? 6 * views_ : 0); }
  bool poses() const { return poses_; }
  /// The adjusted ones among kCameraUnknowns, for each camera alike.
  const std::vector<int>& of_camera() const { return of_camera_; }
  std::size_t camera(std::int32_t index) const {
    return of_camera_.size() * static_cast<std::size_t>(index);
  }
  std::size_t view(std::int32_t index) const {
    return first_view_ + 6 * static_cast<std::size_t>(index);
  }

 private:
  std::vector<int> of_camera_;
  std::size_t first_view_, views_;
  bool poses_;
};

/// The derivatives of one observation's two residuals: by some unknowns of the system, and by the
/// point's place.
struct Row {
  std::size_t unknown[kCameraUnknowns + 6];
  double slope[2][kCameraUnknowns + 6];
  int count = 0;
  Vec3d by_point[2];
  double residual[2];
  double weight = 0;
};

/// One linearisation of the whole problem.
class Equations {
 public:
  /// `start` is what the priors are about.
  Equations(const Bundle& bundle, const Bundle& start, const Unknowns& unknowns,
            const BundleOptions& options);

  double cost() const { return cost_; }
  /// The step of cameras and views, then that of the points, for this damping, which is relative to
  /// the diagonals. False where the system is not positive definite.
  bool solve(double damping, std::vector<double>& step, std::vector<Vec3d>& points) const;
  /// What the quadratic model says that a step gains.
  double promised(double damping, const std::vector<double>& step,
                  const std::vector<Vec3d>& points) const;
  /// The system without points, undamped and factorised; false as above.
  bool reduced(DenseSystem& system) const;

 private:
  void add_observation(const Bundle& bundle, const BundleObservation& seen,
                       const Unknowns& unknowns, const BundleOptions& options);
  void add_priors(const Bundle& bundle, const Bundle& start, const Unknowns& unknowns,
                  const BundleOptions& options);
  bool eliminate(double damping, DenseSystem& system) const;

  std::size_t count_;
  double cost_ = 0;
  std::vector<Row> rows_;                            ///< of observations in front of the camera
  std::vector<std::vector<std::int32_t>> of_point_;  ///< rows of each point; none where it is known
  std::vector<SymN<double, 3>> point_hessian_;
  std::vector<Vec3d> point_gradient_;
  DenseSystem hessian_;  ///< of cameras and views; its right side is the gradient
};

/// Σ of the loss of all observations and priors.
double cost_of(const Bundle& bundle, const Bundle& start, const BundleOptions& options);

}  // namespace sextant::detail::bundle
