// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/surface.h"
#include "sextant/match/library_matches.h"

namespace sextant::app {

/// The scene in grey, a depth map in its rows and other points as a map, in host memory. Each point
/// near matches has the colour of the object that most of them are with; names stand on the left.
Image<Rgb8> match_picture(const Surface& scene, const ResidentLibrary& library,
                          const std::vector<LibraryMatch>& matches);

}  // namespace sextant::app
