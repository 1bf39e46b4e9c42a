// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/sextant/recognize/frames.h"
#include "sextant/recognize/recognizer.h"

// What was found in a frame, for programs, for people and as files.

namespace sextant::app {

/// The document of a frame. Rejected poses are in it where they are asked for.
nlohmann::json found_to_json(const std::string& file, const std::string& device,
                             const SeenFrame& frame, const Recognition& found, bool explain);

/// A line for each detection, and for each rejected pose where they are asked for; then how far the
/// frame lies and the times.
/// Poses of points are in the coordinates of their file.
std::string found_to_text(const std::string& file, const SeenFrame& frame, const Recognition& found,
                          bool explain);

/// "at (0.1, 0.2, 0.3) m, turned by (10, 20, 30) degrees".
std::string pose_text(const Rigid3d& pose);

/// A line with the time of all steps and of each.
std::string times_text(const std::vector<StepTime>& times);

/// The number of the detection, from 1, at each pixel; 0 where there is none.
std::vector<std::int32_t> detection_of_pixels(const SeenFrame& frame, const Recognition& found);

/// The points of the frame, each with the colour and, as attribute `detection`, the number of the
/// detection that it belongs to: grey and 0 for none. A depth map keeps its rows, a mesh its
/// triangles.
TriangleMesh segmented_cloud(const SeenFrame& frame, const Recognition& found);

/// The colour of a detection in pictures and clouds; the first has number 1.
Rgb8 color_of_detection(std::int32_t number);

}  // namespace sextant::app
