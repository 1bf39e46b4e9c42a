// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/image.h"
#include "sextant/library/learned_object.h"

namespace sextant::app {

/// One picture of what a library knows of an object. On the left it stands among the views it was
/// learned from, drawn as small blue cameras in their directions but all at one distance, with its
/// symmetries: red for an axis that every rotation about it fits, with a ring, and orange for one
/// that only some do, with their number. On the right it is seen from four sides.
Image<Rgb8> object_picture(const Context& context, const LearnedObject& object);

/// An axis of rotations that carry an object onto itself, by a fraction of a turn.
struct SymmetryAxis {
  Vec3d axis;
  Vec3d point_m;  ///< nearest to the frame's origin
  int order = 1;  ///< of the rotations about it: 2 for half a turn
};

/// The axes of the discrete symmetries, those of the highest order first.
std::vector<SymmetryAxis> axes_of(const Symmetries& symmetries);

}  // namespace sextant::app
