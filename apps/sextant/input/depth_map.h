// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sextant/core/image.h"
#include "sextant/io/camera_json.h"

namespace sextant::app {

/// A depth map on the host and, where a file was named, its camera.
struct DepthMap {
  Image<float> depth_m;
  std::optional<CameraFile> camera;
  double unit_m = 0;      ///< metres per step of the file
  std::string unit_from;  ///< who says so: "--unit-m", the name of the camera file, or "usual"
};

/// Reads a depth map once, from front to back, and its camera where that is not empty. The unit is
/// `unit_m` if that is positive, else what the camera file says, else that of the format, and only
/// the first is taken without a median that is believable; then a remark on stderr must do. Remarks
/// also doubt a unit of a file that the map's noise speaks against (surface/depth_unit.h), a camera
/// that looks past the middle of its image, many pixels that lie in one plane far behind all
/// others, and bytes in the wrong order. `disparity` takes the numbers of the file as they are; an
/// Error where they can be no disparity.
DepthMap read_depth_map(const std::string& file, const std::string& camera, double unit_m,
                        bool disparity = false);

/// How many pixels of a depth map are valid, and how far they lie.
struct DepthSummary {
  std::size_t valid_pixels = 0;
  float low_m = 0, median_m = 0, high_m = 0;  ///< have a meaning only with valid pixels

  /// Adds valid_pixels, low_m, median_m and high_m, the last three null without valid pixels.
  void add_to(nlohmann::json& document) const;
  /// ", 0.512 to 1.250 m, median 0.873 m", or nothing without valid pixels.
  std::string text() const;
};

/// Looks at a depth map on the host.
DepthSummary summarize_depth(const Image<float>& depth_m);

}  // namespace sextant::app
