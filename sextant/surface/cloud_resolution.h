// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/buffer.h"
#include "sextant/core/vec.h"

namespace sextant {

/// The spacing of the points of a surface: r √(π / n) where r is the median distance of a point
/// from its n-th neighbour, n = 15. The points are looked at all, or from 4096 on some 4096 of them
/// in runs spread over the cloud; 0 where there are no two different finite points. Noise as large
/// as the spacing adds to it. Waits for the device. Cost: a neighbour grid.
float cloud_resolution_m(const Context& context, View<const Vec3f> points);

/// The σ that voting and weighted normals take when none is given: 3 resolutions, which puts some
/// 250 points within 3 σ. On synthetic scans whose noise is a tenth to all of the spacing, weighted
/// normals are best with 2 to 4 resolutions (docs/voting.md). 1 where the resolution is 0.
float default_sigma_m(const Context& context, View<const Vec3f> points);

}  // namespace sextant
