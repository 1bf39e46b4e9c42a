// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/symmetries.h"

#include <cmath>
#include <numbers>

#include "sextant/core/error.h"

namespace sextant {

namespace {

std::vector<Rigid3d> with_identity(const std::vector<Rigid3d>& discrete) {
  std::vector<Rigid3d> all{Rigid3d{}};
  all.insert(all.end(), discrete.begin(), discrete.end());
  return all;
}

/// Axes that are not parallel: every turn about their meeting point is a symmetry.
bool is_ball(const Symmetries& symmetries) {
  const auto& axes = symmetries.continuous;
  for (std::size_t i = 1; i < axes.size(); ++i) {
    if (norm(cross(normalized(axes[0].axis), normalized(axes[i].axis))) > 1e-6) return true;
  }
  return false;
}

/// The point nearest to all axes.
Vec3d meeting_point(const std::vector<ContinuousSymmetry>& axes) {
  // Σ (I - a aᵀ) (x - p) = 0, solved by Cramer's rule.
  Mat3d sum{};
  Vec3d right{};
  for (const ContinuousSymmetry& c : axes) {
    const Vec3d a = normalized(c.axis);
    const Mat3d across = Mat3d::identity() + Mat3d{{a * -a.x, a * -a.y, a * -a.z}};
    sum = sum + across;
    right += across * c.point_m;
  }
  const Vec3d* row = sum.row;
  return (cross(row[1], row[2]) * right.x + cross(row[2], row[0]) * right.y +
          cross(row[0], row[1]) * right.z) /
         determinant(sum);
}

/// The angle by which `axis` has to turn so that `turn * rest` comes nearest to the identity.
double best_angle(const Vec3d& axis, const Mat3d& rest) {
  // The trace of exp(θ [a]) M is (1 - cos θ) aᵀ M a + cos θ tr M + sin θ tr([a] M).
  const double trace = rest.row[0].x + rest.row[1].y + rest.row[2].z;
  const Vec3d odd{rest.row[1].z - rest.row[2].y, rest.row[2].x - rest.row[0].z,
                  rest.row[0].y - rest.row[1].x};
  return std::atan2(dot(axis, odd), trace - dot(axis, rest * axis));
}

PoseDifference difference(const Rigid3d& a, const Rigid3d& b) {
  return {rotation_angle(transpose(a.rotation) * b.rotation), norm(a.translation - b.translation)};
}

}  // namespace

Rigid3d turn_about(const ContinuousSymmetry& axis, double angle_rad) {
  const Mat3d rotation = exp_rotation(normalized(axis.axis) * angle_rad);
  return {rotation, axis.point_m - rotation * axis.point_m};
}

std::vector<Rigid3d> symmetry_motions(const Symmetries& symmetries, double step_share) {
  require(step_share >= 1e-4 && step_share <= std::numbers::pi, "step_share: ", step_share,
          " is outside [0.0001, 3.14]");
  std::vector<Rigid3d> turns{Rigid3d{}};
  const int steps = static_cast<int>(std::ceil(std::numbers::pi / step_share));
  for (const ContinuousSymmetry& axis : symmetries.continuous) {
    for (int i = 1; i < steps; ++i) {
      turns.push_back(turn_about(axis, 2 * std::numbers::pi * i / steps));
    }
  }
  std::vector<Rigid3d> motions;
  for (const Rigid3d& discrete : with_identity(symmetries.discrete)) {
    for (const Rigid3d& turn : turns) motions.push_back(turn * discrete);
  }
  return motions;
}

Rigid3d nearest_equivalent(const Symmetries& symmetries, const Rigid3d& frame_from_object,
                           const Rigid3d& reference) {
  if (is_ball(symmetries)) {
    const Vec3d centre = meeting_point(symmetries.continuous);
    const Mat3d rotation = transpose(frame_from_object.rotation) * reference.rotation;
    return frame_from_object * Rigid3d{rotation, centre - rotation * centre};
  }
  Rigid3d best = frame_from_object;
  PoseDifference least{INFINITY, INFINITY};
  for (const Rigid3d& discrete : with_identity(symmetries.discrete)) {
    Rigid3d motion = discrete;
    if (!symmetries.continuous.empty()) {
      const ContinuousSymmetry& axis = symmetries.continuous.front();
      // The trace of Rᵣᵀ R exp(θ [a]) D is that of exp(θ [a]) (D Rᵣᵀ R).
      const Mat3d rest =
          discrete.rotation * (transpose(reference.rotation) * frame_from_object.rotation);
      motion = turn_about(axis, best_angle(normalized(axis.axis), rest)) * discrete;
    }
    const Rigid3d pose = frame_from_object * motion;
    const PoseDifference d = difference(pose, reference);
    // Angles of equally near symmetries differ by rounding.
    constexpr double kSame_rad = 1e-9;
    const bool nearer =
        d.rotation_rad < least.rotation_rad - kSame_rad ||
        (d.rotation_rad < least.rotation_rad + kSame_rad && d.translation_m < least.translation_m);
    if (!nearer) continue;
    least = d;
    best = pose;
  }
  return best;
}

PoseDifference difference_modulo(const Symmetries& symmetries, const Rigid3d& frame_from_object,
                                 const Rigid3d& reference) {
  return difference(nearest_equivalent(symmetries, frame_from_object, reference), reference);
}

}  // namespace sextant
