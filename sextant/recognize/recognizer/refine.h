// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/recognize/recognizer/poses.h"
#include "sextant/recognize/recognizer/refine_math.h"

namespace sextant::detail::recognizer {

/// Projective point-to-plane ICP: samples are projected into the depth map, and the planes at their
/// pixels draw them in, from a gate of a tenth of the diameter down to 3 %, with Tukey's weights.
Rigid3d refine(const FrameView& frame, const ModelView& model, const Rigid3f& start);

}  // namespace sextant::detail::recognizer
