// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>

#include "sextant/core/rigid3.h"
#include "sextant/geometry/mesh.h"

namespace sextant::detail::recognizer {

/// The box that an object is.
struct Cuboid {
  Rigid3d object_from_box;       ///< the box's middle and axes
  std::array<double, 3> size_m;  ///< along its axes
};

/// Nothing where more than a seventh of the surface lies elsewhere than on the faces of a box.
std::optional<Cuboid> cuboid_of(const TriangleMesh& mesh);

/// Whether its sides are nearly the same: then every body whose sides are multiples of them is a
/// pack of it, and how whole boxes fill faces tells little.
bool is_like_a_cube(const Cuboid& box);

/// A box about the origin.
TriangleMesh box_mesh(const std::array<double, 3>& size_m);

}  // namespace sextant::detail::recognizer
