// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "sextant/core/rigid3.h"

namespace sextant::detail::views_folder {

/// "7" for "007": numbers are the same view however they are padded.
std::string view_key(std::string_view name);

/// The poses of a file, world_from_camera by view_key. Error names the file and the view or line.
std::map<std::string, Rigid3d> read_poses(const std::filesystem::path& path);
std::map<std::string, Rigid3d> poses_from_json(std::string_view text, const std::string& name);
std::map<std::string, Rigid3d> poses_from_lines(std::string_view text, const std::string& name);

}  // namespace sextant::detail::views_folder
