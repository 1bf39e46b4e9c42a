// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "apps/sextant/recognize/frames.h"
#include "sextant/library/learned_object.h"

namespace sextant::app {

/// Why no object can be found in a frame at its distance: the largest would be a few pixels wide
/// where the frame is nearest, or the smallest larger than the whole picture where it is farthest.
/// Empty where sizes suit. Mostly a unit is wrong then.
std::string doubt_scale(const SeenFrame& frame, std::span<const LearnedObject> objects);

}  // namespace sextant::app
