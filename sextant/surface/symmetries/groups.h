// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/surface/symmetries/axes.h"

namespace sextant::detail::symmetries {

/// The rotations of a finite group, the identity first.
using RotationGroup = std::vector<Mat3d>;

/// All products of the rotations; empty where they are more than 60.
RotationGroup closure(std::span<const Mat3d> generators);

RotationGroup cyclic(const Vec3d& axis, int order);
/// With half turns about `across` and what follows from it.
RotationGroup dihedral(const Vec3d& axis, int order, const Vec3d& across);
/// The groups of the solids whose half turns are about the rows of a frame; an icosahedron may lie
/// in it in two ways.
RotationGroup tetrahedral(const Mat3d& frame);
RotationGroup octahedral(const Mat3d& frame);
RotationGroup icosahedral(const Mat3d& frame, bool other_way);

/// The largest group that the axes suggest and of which every element holds, as motions about one
/// point, without the identity.
std::vector<Rigid3d> largest_group(const Context& context, const SelfSurface& surface,
                                   std::span<const FoundAxis> axes, double tolerance);

}  // namespace sextant::detail::symmetries
