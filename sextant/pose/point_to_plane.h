// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/eigen_n.h"
#include "sextant/core/rigid3.h"

namespace sextant {

/// The mathematics of one equation of point-to-plane alignment, for host and device.
///
/// A point x, already moved into the target's frame, has the partner q with unit normal n there.
/// Its residual is r = n · (x - q). A small motion with twist (ω, v) about the centre c,
///   x ↦ c + exp(ω, v) (x - c),
/// changes it by ((x - c) × n) · ω + n · v. The order of the six unknowns is ω, then v. A centre in
/// the middle of the points keeps rotation and translation apart, which floats need.
template <class T>
SEXTANT_HD T point_to_plane_residual(const Vec3<T>& x, const Vec3<T>& q, const Vec3<T>& n) {
  return dot(n, x - q);
}
template <class T>
SEXTANT_HD void point_to_plane_jacobian(const Vec3<T>& x_from_centre, const Vec3<T>& n,
                                        T (&row)[6]) {
  const Vec3<T> turn = cross(x_from_centre, n);
  row[0] = turn.x;
  row[1] = turn.y;
  row[2] = turn.z;
  row[3] = n.x;
  row[4] = n.y;
  row[5] = n.z;
}

/// Tukey's biweight, (1 - (r / limit)²)² within the limit and 0 beyond: outliers lose all say. It
/// takes the square of r / limit.
template <class T>
SEXTANT_HD T tukey_weight(T ratio_sq) {
  const T rest = T(1) - ratio_sq;
  return rest > T(0) ? rest * rest : T(0);
}

/// Weighted normal equations H δ = -g of many residuals. They add up, so that a reduction tree can
/// sum them.
template <class T>
struct PoseEquations {
  SymN<T, 6> hessian;  ///< Σ w J Jᵀ
  T gradient[6] = {};  ///< Σ w J r
  T squares = T(0);    ///< Σ w r²
  T weight = T(0);     ///< Σ w
  T count = T(0);      ///< residuals that were added, whatever their weight

  SEXTANT_HD void add(const T (&row)[6], T residual, T w) {
    hessian.add_outer(row, w);
    for (int i = 0; i < 6; ++i) gradient[i] += w * residual * row[i];
    squares += w * residual * residual;
    weight += w;
    count += T(1);
  }
};

template <class T>
SEXTANT_HD PoseEquations<T> operator+(const PoseEquations<T>& a, const PoseEquations<T>& b) {
  PoseEquations<T> sum = a;
  for (int i = 0; i < 21; ++i) sum.hessian.packed[i] += b.hessian.packed[i];
  for (int i = 0; i < 6; ++i) sum.gradient[i] += b.gradient[i];
  sum.squares += b.squares;
  sum.weight += b.weight;
  sum.count += b.count;
  return sum;
}

/// The equations in directions of their own, in which they fall apart. `length_m` turns angles into
/// metres (ω · length), so that all six have the same unit: half the extent of the points is a good
/// one. `information[i]` is then what one unit of weight says about direction i on average, between
/// 0 and about 1, ascending: a direction with nearly none is one in which the surfaces slide.
struct PoseDirections {
  double length_m = 1;
  double information[6] = {};
  double directions[6][6] = {};  ///< unit vectors (ω · length, v)
};

/// The information of one unit of weight, with all six unknowns in metres.
template <class T>
SEXTANT_HD SymN<double, 6> scaled_information(const PoseEquations<T>& equations, double length_m) {
  SymN<double, 6> scaled;
  SEXTANT_UNROLL_ON_DEVICE
  for (int i = 0; i < 6; ++i) {
    SEXTANT_UNROLL_ON_DEVICE
    for (int j = 0; j <= i; ++j) {
      const double unit = (i < 3 ? 1 / length_m : 1.0) * (j < 3 ? 1 / length_m : 1.0);
      scaled.at(i, j) = static_cast<double>(equations.hessian.at(i, j)) * unit /
                        static_cast<double>(equations.weight);
    }
  }
  return scaled;
}

template <class T>
SEXTANT_HD PoseDirections pose_directions(const PoseEquations<T>& equations, double length_m) {
  PoseDirections result;
  result.length_m = length_m;
  SEXTANT_UNROLL_ON_DEVICE
  for (int i = 0; i < 6; ++i) result.directions[i][i] = 1;
  if (!(equations.weight > T(0)) || !(length_m > 0)) return result;
  const EigenN<double, 6> e = eigen_jacobi(scaled_information(equations, length_m));
  SEXTANT_UNROLL_ON_DEVICE
  for (int k = 0; k < 6; ++k) {
    result.information[k] = max_of(e.values[k], 0.0);
    SEXTANT_UNROLL_ON_DEVICE
    for (int i = 0; i < 6; ++i) result.directions[k][i] = e.vectors[k][i];
  }
  return result;
}

/// Solves for the small motion about the equations' centre. Directions with less information than
/// `least_information` stay as they are: the equations say nothing about them but noise.
template <class T>
SEXTANT_HD Twist3<double> solve_pose_step(const PoseEquations<T>& equations,
                                          const PoseDirections& along, double least_information) {
  Twist3<double> step{};
  if (!(equations.weight > T(0))) return step;
  double sum[6] = {};
  SEXTANT_UNROLL_ON_DEVICE
  for (int k = 0; k < 6; ++k) {
    if (!(along.information[k] > least_information)) continue;
    double slope = 0;
    SEXTANT_UNROLL_ON_DEVICE
    for (int i = 0; i < 6; ++i) {
      const double unit = i < 3 ? 1 / along.length_m : 1.0;
      slope += along.directions[k][i] * unit * static_cast<double>(equations.gradient[i]);
    }
    const double move = -slope / (along.information[k] * static_cast<double>(equations.weight));
    SEXTANT_UNROLL_ON_DEVICE
    for (int i = 0; i < 6; ++i) sum[i] += move * along.directions[k][i];
  }
  step.omega_rad = Vec3<double>{sum[0], sum[1], sum[2]} / along.length_m;
  step.v_m = {sum[3], sum[4], sum[5]};
  return step;
}

/// The same without directions where there are none to leave out, which is several times faster:
/// the least information is at least 1 / tr H⁻¹. As above, `length_m` turns angles into metres.
template <class T>
SEXTANT_HD Twist3<double> solve_pose_step(const PoseEquations<T>& equations, double length_m,
                                          double least_information) {
  if (!(equations.weight > T(0)) || !(length_m > 0)) return {};
  const SymN<double, 6> scaled = scaled_information(equations, length_m);
  const Cholesky<double, 6> factors = cholesky(scaled);
  double inverse_trace = 0;  // the sum of squares of the inverse of the factor
  SEXTANT_UNROLL_ON_DEVICE
  for (int column = 0; column < 6; ++column) {
    if (!factors.ok) break;
    double entries[6];
    SEXTANT_UNROLL_ON_DEVICE
    for (int i = column; i < 6; ++i) {
      double sum = i == column ? 1.0 : 0.0;
      SEXTANT_UNROLL_ON_DEVICE
      for (int k = column; k < i; ++k) sum -= factors.lower.at(i, k) * entries[k];
      entries[i] = sum / factors.lower.at(i, i);
      inverse_trace += entries[i] * entries[i];
    }
  }
  if (!factors.ok || !(inverse_trace * least_information < 0.999)) {
    return solve_pose_step(equations, pose_directions(equations, length_m), least_information);
  }
  double x[6];
  SEXTANT_UNROLL_ON_DEVICE
  for (int i = 0; i < 6; ++i) {
    x[i] = -static_cast<double>(equations.gradient[i]) * (i < 3 ? 1 / length_m : 1.0) /
           static_cast<double>(equations.weight);
  }
  factors.solve(x);
  return {Vec3<double>{x[0], x[1], x[2]} / length_m, {x[3], x[4], x[5]}};
}

/// The motion x ↦ c + exp(twist) (x - c).
SEXTANT_HD inline Rigid3d motion_about(const Twist3<double>& twist, const Vec3d& centre) {
  const Rigid3d m = exp(twist);
  return {m.rotation, m.translation + centre - m.rotation * centre};
}

/// The covariance of the six unknowns about the centre, positive semi-definite: variance_m_sq is
/// that of one residual, and `shared` says how many neighbouring residuals err together (12 to 15
/// pixels for a Kinect). A direction with less information than `least_information` is given the
/// deviation `unknown_m`, since the equations do not tell it.
template <class T>
SEXTANT_HD SymN<double, 6> pose_covariance(const PoseEquations<T>& equations,
                                           const PoseDirections& along, double variance_m_sq,
                                           double shared, double least_information,
                                           double unknown_m) {
  SymN<double, 6> covariance;
  for (int k = 0; k < 6; ++k) {
    double row[6];
    for (int i = 0; i < 6; ++i) {
      row[i] = along.directions[k][i] * (i < 3 ? 1 / along.length_m : 1.0);
    }
    const double information = along.information[k] * static_cast<double>(equations.weight);
    const double known =
        along.information[k] > least_information ? variance_m_sq * shared / information : INFINITY;
    covariance.add_outer(row, min_of(known, unknown_m * unknown_m));
  }
  return covariance;
}

}  // namespace sextant
