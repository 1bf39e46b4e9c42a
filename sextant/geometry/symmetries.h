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

}  // namespace sextant
