// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/surface.h"

namespace sextant {

/// The points of a depth map as an organised surface, holes included, with the camera that saw
/// them. Filter the depth first (depth/bilateral.h) when it is noisy.
Surface surface_from_depth(const Context& context, ImageView<const float> depth_m,
                           const Camera& camera);
/// With the colours of an image that is registered to the depth map, pixel by pixel.
Surface surface_from_depth(const Context& context, ImageView<const float> depth_m,
                           const Camera& camera, ImageView<const Rgb8> registered);

}  // namespace sextant
