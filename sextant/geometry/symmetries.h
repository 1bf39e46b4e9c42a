// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sextant/core/rigid3.h"

namespace sextant {

/// Every rotation about an axis carries the object onto itself.
struct ContinuousSymmetry {
  Vec3d axis{0, 0, 1};  ///< of length 1
  Vec3d point_m;        ///< that the axis passes through
};

/// The motions that carry an object onto itself, in the object's frame: those of BOP's
/// models_info.json. An object without any has empty lists. One with several continuous axes that
/// meet in a point is a ball.
struct Symmetries {
  std::vector<Rigid3d> discrete;  ///< without the identity
  std::vector<ContinuousSymmetry> continuous;

  bool none() const { return discrete.empty() && continuous.empty(); }
};

/// The turn by an angle about an axis that passes through a point.
Rigid3d turn_about(const ContinuousSymmetry& axis, double angle_rad);

/// Motions that stand for all symmetries, the identity first: what the pose errors of BOP run over.
/// Of a continuous symmetry these are ⌈π / step_share⌉ equal turns, so that the points farthest
/// from the axis move by no more than `step_share` of the diameter from one to the next (BOP's
/// max_sym_disc_step; its default is 0.01). Each is combined with each discrete symmetry. As in
/// BOP, several continuous axes give the turns about each of them and not their products: of a ball
/// they are a sample only.
std::vector<Rigid3d> symmetry_motions(const Symmetries& symmetries, double step_share = 0.01);

/// Of all poses that look the same as `frame_from_object`, the one whose rotation is nearest to
/// that of `reference`; of equally near ones that with the nearer translation. Exact, also about
/// continuous axes and for balls.
Rigid3d nearest_equivalent(const Symmetries& symmetries, const Rigid3d& frame_from_object,
                           const Rigid3d& reference);

/// How far two poses of one object lie apart.
struct PoseDifference {
  double rotation_rad = 0;
  double translation_m = 0;  ///< of the object's origin
};

/// That between `reference` and the pose that looks the same as `frame_from_object` and is nearest
/// to it.
PoseDifference difference_modulo(const Symmetries& symmetries, const Rigid3d& frame_from_object,
                                 const Rigid3d& reference);

}  // namespace sextant
