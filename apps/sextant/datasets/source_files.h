// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sextant/core/rigid3.h"
#include "sextant/geometry/camera.h"
#include "sextant/geometry/mesh.h"

// Small files that the sources have in common.

namespace sextant::app {

/// The files of a folder, sorted by name; none where there is no folder.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder);
std::vector<std::filesystem::path> folders_of(const std::filesystem::path& folder);
bool has_file(const std::filesystem::path& folder, const std::string& name);

/// The last number in a name before its extension: 12 for depth_12.png. Nothing without digits.
std::optional<int> last_number(const std::string& name);

/// All numbers of a text file whose lines may begin with #; an Error names the line of a word that
/// is none.
std::vector<double> read_numbers(const std::filesystem::path& path);
/// The first line that begins with #, without it; empty without one.
std::string first_comment(const std::filesystem::path& path);

/// A rigid motion from 12 or 16 numbers row by row, its translation times `unit_m`. Error when the
/// rotation is none.
Rigid3d motion_of(const std::vector<double>& numbers, double unit_m, const std::string& where);
/// The same from nine numbers row by row and three, and from a list of rows.
Rigid3d motion_of(const double* rotation, const double* translation, double unit_m,
                  const std::string& where);
Rigid3d motion_of_rows(const nlohmann::json& rows, double unit_m, const std::string& where);

/// A cloud or mesh in metres on the host.
TriangleMesh read_model(const std::filesystem::path& path, double unit_m = 1);
/// Moves points and normals.
void move(TriangleMesh& mesh, const Rigid3d& motion);

/// A camera of a VGA sensor.
Camera vga(double fx_px, double fy_px, double cx_px, double cy_px);

}  // namespace sextant::app
