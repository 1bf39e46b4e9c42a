// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/cloud.h"
#include "sextant/geometry/symmetries.h"

namespace sextant::app {

// Symmetries that a person knows of an object from its kind, written down for its model. All are of
// the shape: labels that break them are not seen by a depth sensor.

/// The rotations of a box that stands along the model's axes and has its sizes; sizes that differ
/// by less than 3 % count as equal.
Symmetries box_symmetries(const Bounds& bounds);

/// The same for a box that stands upright along z but is turned about it, as scans are: turned to
/// where the rectangle around its points is smallest.
Symmetries upright_box_symmetries(std::span<const Vec3f> points);

/// Every turn about z through the middle; with `both_ends_alike` also end over end.
Symmetries turned_body_symmetries(const Bounds& bounds, bool both_ends_alike);

/// Of the symmetries those under which points stay on the surface: a motion is left out where the
/// mean distance from a moved point to the nearest point exceeds `share` of the diameter.
Symmetries confirmed_symmetries(const Symmetries& proposed, std::span<const Vec3f> points,
                                double share = 0.02);

}  // namespace sextant::app
