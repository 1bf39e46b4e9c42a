// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/vec.h"
#include "sextant/core/view.h"

namespace sextant {

/// The largest distance between two of the points, in metres: what BOP calls the diameter of an
/// object when the points are the vertices of its mesh. Exact: only the distance itself is rounded,
/// to a double. The same for any order of the points and any number of threads. Points that are not
/// finite are left out; a single point gives 0, none gives NaN.
///
/// Pairs of groups of points are left out when the boxes or the cones around them cannot hold a
/// longer pair. A million points take some hundredths of a second; on a sphere, where every point
/// has a partner nearly as far as the farthest, half a second. Runs on the host only.
double diameter_m(const Context& context, View<const Vec3f> points);

}  // namespace sextant
