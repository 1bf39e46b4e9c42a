// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/sextant/command/command.h"
#include "sextant/recognize/photo_recognizer.h"

namespace sextant::app {

/// What the user may say of photographs alone.
struct PhotoFlags {
  PhotoPreset preset = PhotoPreset::kDefault;
  bool fast = false;        ///< fewer, larger features
  bool throughput = false;  ///< looks at several moments at a time, a thread each
  std::optional<float> accept;
};

void add_photo_flags(CLI::App& command, PhotoFlags& flags);
/// Their names.
std::vector<std::string> photo_flags();

/// What the user wants of photographs.
struct PhotoCommand {
  CommonOptions common;
  std::string library;
  std::vector<std::string> words;  ///< photographs, folders of them
  std::string camera;
  std::vector<std::string> only;
  std::string overlay;
  bool explain = false;
  PhotoFlags flags;
};

/// Finds objects in photographs and says where they are.
void recognize_in_photos(const PhotoCommand& command);

}  // namespace sextant::app
