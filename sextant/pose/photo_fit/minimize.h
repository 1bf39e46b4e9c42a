// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/pose/point_to_plane.h"

namespace sextant::detail::photo_fit {

/// A small motion about a point of the world: p ↦ exp(ω) (p - pivot) + pivot + v.
SEXTANT_HD inline Rigid3d moved(const Rigid3d& pose, const Vec3d& pivot_m,
                                const double (&step)[6]) {
  const Mat3d turn = exp_rotation(Vec3d{step[0], step[1], step[2]});
  return {turn * pose.rotation,
          turn * (pose.translation - pivot_m) + pivot_m + Vec3d{step[3], step[4], step[5]}};
}

/// The row of a residual whose gradient by the point's place is `slope`; `arm` leads from the pivot
/// to the point.
SEXTANT_HD inline void fill_row(double (&row)[6], const Vec3d& slope, const Vec3d& arm) {
  const Vec3d turn = cross(arm, slope);
  row[0] = turn.x;
  row[1] = turn.y;
  row[2] = turn.z;
  row[3] = slope.x;
  row[4] = slope.y;
  row[5] = slope.z;
}

struct Minimum {
  Rigid3d pose;
  double squares = 0;  ///< Σ residual²
  int iterations = 0;
};

/// Levenberg and Marquardt's method with Nielsen's control of the damping (1999), which is relative
/// to the diagonal of the normal equations, so that metres and radians need no common scale.
/// `equations(pose, pivot_m)` are those of small motions about the pivot, which goes with the
/// object. A step is never taken to a larger sum. Ends when a step or its gain is lost in rounding.
template <class Equations>
SEXTANT_HD Minimum minimize(const Rigid3d& start, const Vec3d& centre_m, int iterations,
                            const Equations& equations) {
  Minimum best{start, 0, 0};
  Vec3d pivot = start * centre_m;
  PoseEquations<double> now = equations(start, pivot);
  double damping = 1e-3, growth = 2;
  while (best.iterations < iterations && now.squares > 0) {
    ++best.iterations;
    SymN<double, 6> damped = now.hessian;
    double diagonal[6];
    for (int i = 0; i < 6; ++i) {
      diagonal[i] = max_of(now.hessian.at(i, i), 1e-30);
      damped.at(i, i) += damping * diagonal[i];
    }
    double step[6];
    for (int i = 0; i < 6; ++i) step[i] = -now.gradient[i];
    const Cholesky<double, 6> factors = cholesky(damped);
    bool better = false;
    if (factors.ok) {
      factors.solve(step);
      double promised = 0;
      for (int i = 0; i < 6; ++i) {
        promised += step[i] * (damping * diagonal[i] * step[i] - now.gradient[i]);
      }
      if (!(promised > 1e-14 * now.squares)) break;
      const Rigid3d pose = moved(best.pose, pivot, step);
      const Vec3d next_pivot = pose * centre_m;
      const PoseEquations<double> next = equations(pose, next_pivot);
      const double gain = now.squares - next.squares;
      better = gain > 0;
      if (better) {
        const double agreement = 2 * gain / promised - 1;
        damping *= max_of(1.0 / 3, 1 - agreement * agreement * agreement);
        damping = max_of(damping, 1e-12);
        growth = 2;
        best.pose = pose;
        pivot = next_pivot;
        const bool done = gain < 1e-12 * now.squares;
        now = next;
        if (done) break;
      }
    }
    if (!better) {
      damping *= growth;
      growth *= 2;
      if (!(damping < 1e12)) break;
    }
  }
  best.squares = now.squares;
  best.pose = renormalized(best.pose);
  return best;
}

}  // namespace sextant::detail::photo_fit
