// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/surface/symmetries/self_surface.h"

namespace sextant::detail::symmetries {

/// An axis about which turns by parts of a circle hold.
struct FoundAxis {
  ContinuousSymmetry axis;
  bool continuous = false;
  std::vector<int> orders;  ///< ascending; turns by 2π / order hold. Empty when continuous.
};

/// Whether every turn about the axis holds, tried at angles that no finite group has together.
bool is_continuous(const SelfSurface& surface, const ContinuousSymmetry& axis, double tolerance);

/// The motion nearest to `motion` that carries the surface onto itself, by least squares of the
/// distances to its tangent planes.
Rigid3d refined(const SelfSurface& surface, const Rigid3d& motion);

/// The axis of a rotation; through the point nearest to the centre if it were a turn by
/// `angle_rad`.
ContinuousSymmetry axis_of(const Rigid3d& motion, double angle_rad, const Vec3d& centre);

/// All axes, none twice. A ball has none here; see is_ball.
std::vector<FoundAxis> find_axes(const Context& context, const SelfSurface& surface,
                                 double tolerance, const Progress& progress);

/// Whether all these rotations hold, each within the tolerance for its own axis.
bool all_hold(const Context& context, const SelfSurface& surface,
              std::span<const Rigid3d> rotations, double tolerance);

/// Whether every turn about the centre holds.
bool is_ball(const SelfSurface& surface, double tolerance);

}  // namespace sextant::detail::symmetries
