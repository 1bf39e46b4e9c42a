// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/eigen_n.h"
#include "sextant/core/options.h"
#include "sextant/core/rigid3.h"

namespace sextant {

/// How well a rigid motion is determined by its correspondences.
enum class RigidFitStatus : std::int32_t {
  kDetermined,
  kOnALine,  ///< all points (of one side) lie on a line: the turn about it is one of many
  kTooFew    ///< fewer than three pairs count: the turn is one of many, or the identity
};
inline constexpr Choice<RigidFitStatus> kRigidFitStatus[] = {
    {"determined", RigidFitStatus::kDetermined},
    {"on a line", RigidFitStatus::kOnALine},
    {"too few", RigidFitStatus::kTooFew}};

struct RigidFit {
  Rigid3d target_from_source;
  double rms_m = 0;  ///< weighted, of what is left between the points
  RigidFitStatus status = RigidFitStatus::kTooFew;
};

/// The sums that the best motion follows from. They add up, so that a reduction tree can make them.
/// Coordinates are taken about origins near the points (the first pair, say), which keeps digits.
struct RigidSums {
  double weight = 0;
  Vec3d source, target;       ///< Σ w p, Σ w q
  double cross[3][3] = {};    ///< Σ w p qᵀ
  double source_squares = 0;  ///< Σ w |p|²
  double target_squares = 0;  ///< Σ w |q|²
  double count = 0;           ///< pairs of positive weight

  SEXTANT_HD void add(const Vec3d& p, const Vec3d& q, double w) {
    if (!(w > 0) || !is_finite(p) || !is_finite(q)) return;
    weight += w;
    source += p * w;
    target += q * w;
    const double a[3] = {p.x, p.y, p.z}, b[3] = {q.x, q.y, q.z};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) cross[i][j] += w * a[i] * b[j];
    }
    source_squares += w * norm_sq(p);
    target_squares += w * norm_sq(q);
    count += 1;
  }
};

/// The rigid motion with the least Σ w |q - (R p + t)|², in closed form: the rotation is the
/// eigenvector of the largest eigenvalue of Horn's 4×4 matrix (Horn, 1987), so that it is never a
/// reflection. The origins are those that the points of the sums were taken about. About 4000 flop.
///
/// The rotation is determined when the two largest eigenvalues differ: points on a line, or the
/// mirror image of a plane, leave a choice; `status` says so, and the result is still a rigid
/// motion of least error. Without any weight it is the identity.
SEXTANT_HD inline RigidFit fit_rigid(const RigidSums& sums, const Vec3d& source_origin = {},
                                     const Vec3d& target_origin = {}) {
  RigidFit fit;
  if (!(sums.weight > 0)) return fit;
  const Vec3d p = sums.source / sums.weight;
  const Vec3d q = sums.target / sums.weight;
  const double a[3] = {p.x, p.y, p.z}, b[3] = {q.x, q.y, q.z};
  double s[3][3];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) s[i][j] = sums.cross[i][j] / sums.weight - a[i] * b[j];
  }
  const double spread_p = max_of(sums.source_squares / sums.weight - norm_sq(p), 0.0);
  const double spread_q = max_of(sums.target_squares / sums.weight - norm_sq(q), 0.0);

  SymN<double, 4> n;
  n.at(0, 0) = s[0][0] + s[1][1] + s[2][2];
  n.at(1, 0) = s[1][2] - s[2][1];
  n.at(2, 0) = s[2][0] - s[0][2];
  n.at(3, 0) = s[0][1] - s[1][0];
  n.at(1, 1) = s[0][0] - s[1][1] - s[2][2];
  n.at(2, 1) = s[0][1] + s[1][0];
  n.at(3, 1) = s[2][0] + s[0][2];
  n.at(2, 2) = s[1][1] - s[0][0] - s[2][2];
  n.at(3, 2) = s[1][2] + s[2][1];
  n.at(3, 3) = s[2][2] - s[0][0] - s[1][1];
  const EigenN<double, 4> e = eigen_jacobi(n);
  const double* v = e.vectors[3];
  const Mat3d rotation = to_matrix(normalized(Quaternion<double>{v[0], v[1], v[2], v[3]}));
  fit.target_from_source = {rotation, q + target_origin - rotation * (p + source_origin)};
  fit.rms_m = std::sqrt(max_of(spread_p + spread_q - 2 * e.values[3], 0.0));
  // The gap is twice the spread across the line in both point sets, in m². 1e-8 of the whole
  // spread is a needle of 10 m and 1 mm.
  const double scale = std::sqrt(spread_p * spread_q);
  if (sums.count < 3) {
    fit.status = RigidFitStatus::kTooFew;
  } else if (!(e.values[3] - e.values[2] > 1e-8 * scale)) {
    fit.status = RigidFitStatus::kOnALine;
  } else {
    fit.status = RigidFitStatus::kDetermined;
  }
  return fit;
}

/// The same for a few pairs in memory; `weights` may be null for equal ones. Pairs that are not
/// finite and weights that are not positive do not count.
template <class T>
SEXTANT_HD RigidFit fit_rigid(const Vec3<T>* source, const Vec3<T>* target, const T* weights,
                              std::int64_t count) {
  RigidSums sums;
  Vec3d source_origin, target_origin;
  for (std::int64_t i = 0; i < count; ++i) {
    const Vec3d p = cast<double>(source[i]), q = cast<double>(target[i]);
    if (!is_finite(p) || !is_finite(q)) continue;
    if (sums.count == 0) {
      source_origin = p;
      target_origin = q;
    }
    sums.add(p - source_origin, q - target_origin, weights ? static_cast<double>(weights[i]) : 1.0);
  }
  return fit_rigid(sums, source_origin, target_origin);
}

}  // namespace sextant
