// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/image.h"
#include "sextant/core/vec.h"

namespace sextant::app {

/// A curvature that most of the finite values do not exceed, from the series 1, 2, 5, 10, 20, …
/// in 1/m: the strongest colour of a picture. 1 when nothing is finite.
float fitting_limit_per_m(View<const float> k1_per_m, View<const float> k2_per_m);

/// The scene, in colours of curvature_map, and, to the right, their key: k1 across, k2 up, both
/// from -limit_per_m to limit_per_m, with ticks. There is nothing where k2 would exceed k1.
Image<Rgb8> with_curvature_key(ImageView<const Rgb8> scene, float limit_per_m);

}  // namespace sextant::app
