// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/rigid3.h"

namespace sextant::detail::recognizer {

/// A turn that changes nothing about how an object looks.
struct FreeTurn {
  Vec3f axis;   ///< of length 1
  Vec3f shift;  ///< of the object's centre, in metres a radian: it may lie beside the axis
};

/// A body as loops over its samples and symmetries see it, on either device: an object, or a pack
/// of objects, which has neither.
struct ModelView {
  float diameter_m = 0;
  float part_diameter_m = 0;  ///< what it is made of lets its surface be off in proportion to this
  float leaf_m = 0;
  float radius_m = 0;  ///< of a ball about the centre that holds the render mesh
  float shift_m = 0;   ///< that a symmetry moves the centre by at most
  Vec3f centre;
  double level = 0;  ///< how like it clutter looks (acceptance.h)
  std::int32_t free_turns = 0;
  FreeTurn turns[3];  ///< the first `free_turns` of them, in the object's frame
  float shape_m = 0;  ///< mean distance of the surface from the render mesh
  std::int32_t samples = 0;
  std::int32_t motions = 0;
  const Vec3f* points = nullptr;
  const Vec3f* normals = nullptr;
  const Rigid3f* symmetries = nullptr;  ///< with the identity
};

}  // namespace sextant::detail::recognizer
