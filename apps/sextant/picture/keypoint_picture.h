// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sextant/core/image.h"
#include "sextant/descriptor/sift.h"

namespace sextant::app {

/// Draws keypoints over a picture: a circle of two sigmas, and a line from its middle in the
/// direction of the angle. Large ones are drawn first, so that small ones stay visible.
void draw_keypoints(std::span<const SiftKeypoint> keypoints, Image<Rgb8>& picture);

}  // namespace sextant::app
