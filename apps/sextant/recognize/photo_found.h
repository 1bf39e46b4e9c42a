// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "apps/sextant/recognize/photos.h"
#include "sextant/recognize/photo_recognizer.h"

// What was found in photographs of one moment, for programs and for people.

namespace sextant::app {

/// The document of a moment. With one camera poses are camera_from_object; with several they are
/// world_from_object, and camera_from_object has one for each. Rejected poses are in it where they
/// are asked for.
nlohmann::json photo_found_to_json(const PhotoMoment& moment, const std::string& device,
                                   const SeenPhotos& seen, bool rig, const PhotoRecognition& found,
                                   bool explain);

/// A line for each detection, and for each rejected pose where they are asked for; then the times.
std::string photo_found_to_text(const PhotoMoment& moment, bool rig, const PhotoRecognition& found,
                                bool explain);

}  // namespace sextant::app
