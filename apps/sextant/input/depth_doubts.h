// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "apps/sextant/input/depth_map.h"

// What speaks against a depth map or its camera that can be read all the same. The doubts are
// remarks on stderr: each may be wrong.

namespace sextant::app {

/// The middle of a camera lies in the middle of its image, unless that is a part of a larger one.
/// The camera of another resolution, in a file that does not say which, has it elsewhere, and so
/// has one whose numbers were mixed up.
void doubt_camera(const std::string& name, const std::string& file, const Camera& camera);

/// A unit that the noise of the map speaks against (surface/depth_unit.h).
void doubt_unit(const std::string& file, const DepthMap& map);

/// Many pixels with one depth that lies far behind all others have no depth: some programs mark
/// them so. `integers` may be the raw disparity of a Kinect.
void doubt_farthest(const std::string& file, bool integers, const DepthMap& map);

/// Numbers whose two bytes are exchanged jump from pixel to pixel. Not so those of a map that was
/// widened from 8 bits.
void doubt_byte_order(const std::string& file, const DepthMap& map);

/// A depth map that was taken for disparity would give a scene that is turned inside out. An
/// Error where a hundredth of the numbers can be none of a Kinect.
void check_disparity(const std::string& file, const Image<float>& numbers);

}  // namespace sextant::app
