// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/cloud.h"

// Normals as files bring them: of any length, zeros where nobody estimated one, of either sign.
// Descriptors, curvatures and regions need unit vectors that agree with their neighbours'.

namespace sextant {

/// What make_unit_normals found, at finite points.
struct UnitNormals {
  std::int64_t scaled = 0;  ///< whose length was off by more than a thousandth
  std::int64_t zero = 0;    ///< without a direction
  bool dropped = false;     ///< the cloud has no normals any more
};

/// Scales the normals of a cloud on the host to length 1; zeros and infinite ones become NaN,
/// which is how a missing normal is written. Where more than a tenth of them are zeros, or none is
/// left, nobody has estimated these normals, and the cloud loses them. Nothing changes without
/// normals.
UnitNormals make_unit_normals(Cloud& cloud);

/// The share of points whose nearest neighbour has a normal on the other side, of those whose
/// normals are nearly in one line; 0 without normals. On a surface it is next to nothing, half
/// where each normal has the sign that its estimate happened to end with (Open3D's are so). Some
/// hundred points are asked, fewer in large clouds. On the host; cost: some 4e7 distances at most.
double share_of_opposite_normals(const Cloud& cloud);
/// Beyond this share the signs say nothing.
inline constexpr double kMostOppositeNormals = 0.25;

}  // namespace sextant
