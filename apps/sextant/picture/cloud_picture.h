// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/image.h"
#include "sextant/core/vec.h"

namespace sextant::app {

/// A cloud in any order as a map: seen along the axis in which it extends least, the nearest point
/// of a pixel in front, on black. The longer side has 800 pixels; a point is as large as the
/// spacing of the points. Some points far off all others are not in the picture.
Image<Rgb8> cloud_picture(View<const Vec3f> points, View<const Rgb8> colors);

}  // namespace sextant::app
