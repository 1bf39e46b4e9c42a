// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "apps/sextant/learn/photos.h"

namespace CLI {
class App;
}

namespace sextant::app {

/// The flags with which photographs are learned.
void add_photo_flags(CLI::App& command, LearnPhotosFlags& flags);

/// Whether folders hold photographs: a board or a rig of cameras says how they were taken.
bool learns_photos(const LearnPhotosFlags& photos, const std::string& camera);

/// Refuses flags that have no effect, by what there is to learn.
void check_photo_flags(const CLI::App& flags, const LearnPhotosFlags& photos, bool learns_photos,
                       bool camera_given);

}  // namespace sextant::app
