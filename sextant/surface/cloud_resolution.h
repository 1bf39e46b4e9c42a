// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/neighbours.h"

namespace sextant {

/// The resolution of a cloud: the mean distance of a point to its nearest neighbour that lies
/// elsewhere. A point with two or more copies in its own place does not count (where all have them,
/// one with more than 62), nor does one that lies ten times farther from all others than is usual.
/// NaN where there are no two different
/// finite points. Waits for the device. Cost: a search for three neighbours of every point; a grid
/// with cells as in NeighbourGridOptions::for_nearest(3) makes it fast.
float cloud_resolution_m(const Context& context, const NeighbourGrid& grid);
float cloud_resolution_m(const Context& context, View<const Vec3f> points);

/// The spacing of points on a surface, which is the edge of the square that a point has to itself:
/// r √(π / n) where r is the median distance of a point from its n-th neighbour, n = 15. On a
/// square lattice it is the resolution; of points placed at random it is twice the resolution,
/// because one neighbour is mostly nearer than the others. All points are looked at, or from 4096
/// on some 4096 of them in runs spread over the cloud; of points in one place one counts. NaN where
/// there are no two different finite points. Noise as large as the spacing adds to it. Waits for
/// the device. Cost: a neighbour grid.
float cloud_spacing_m(const Context& context, View<const Vec3f> points);

/// The σ that voting and weighted normals take when none is given: 3 spacings, which puts some 250
/// points within 3 σ. On synthetic scans whose noise is a tenth to all of the spacing, weighted
/// normals are best with 2 to 4 spacings (docs/voting.md). 1 where there is no spacing. Waits for
/// the device.
float default_sigma_m(const Context& context, View<const Vec3f> points);

}  // namespace sextant
