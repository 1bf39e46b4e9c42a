// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sextant/geometry/posed_camera.h"

namespace sextant {

/// A camera of several that see the same world.
struct RigCamera {
  std::string name;
  PosedCamera seen;
};

/// Whether a document has several cameras with poses, and not one camera.
bool holds_rig(const nlohmann::json& document);

/// The cameras of a rig in their order:
///
///   {"cameras": [{"name": "left", "width": 640, …, "world_from_camera": [16 numbers]}, …]}
///
/// Each is a camera as docs/camera.md has it, with its size and its pose in metres:
/// "world_from_camera" or "camera_from_world". A camera without a name has its number, from 0. An
/// Error names the camera and the key.
std::vector<RigCamera> rig_from_json(const nlohmann::json& document, const std::string& name);
std::vector<RigCamera> read_rig_json(const std::filesystem::path& path);

nlohmann::json rig_to_json(const std::vector<RigCamera>& rig);
void write_rig_json(const std::filesystem::path& path, const std::vector<RigCamera>& rig);

}  // namespace sextant
