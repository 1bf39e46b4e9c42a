// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sextant/core/workspace.h"
#include "sextant/recognize/recognizer/faces_math.h"

namespace sextant::detail::recognizer {

/// Turns faces on the measured surface so that their sides are parallel to its ends, and says where
/// these are. Faces that find none are lost.
std::vector<FaceEnds> measure_faces(const Context& context, const FrameView& frame,
                                    std::vector<Face>& faces, Workspace& workspace);

}  // namespace sextant::detail::recognizer
