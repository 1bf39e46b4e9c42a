// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "sextant/geometry/camera.h"

namespace sextant {

/// What a camera file holds. The keys are width, height, fx, fy, cx, cy and, optionally,
/// distortion: [k1, k2, p1, p2, k3] (none, four or five numbers) and depth_scale. A camera.json of
/// the BOP data sets is such a file.
struct CameraFile {
  Camera camera;
  /// BOP's depth_scale: a number of the depth PNG times this is the depth in millimetres.
  std::optional<double> depth_scale_mm;
};

/// An Error names the file and the key (or line and column) that is missing, unknown or wrong.
CameraFile read_camera_json(const std::filesystem::path& path);
CameraFile camera_from_json(const nlohmann::json& document, const std::string& name);

void write_camera_json(const std::filesystem::path& path, const CameraFile& file);
nlohmann::json camera_to_json(const CameraFile& file);

}  // namespace sextant
