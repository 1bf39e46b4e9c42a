// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sextant/core/image.h"
#include "sextant/io/camera_json.h"
#include "sextant/io/png.h"

namespace sextant::app {

/// How a depth PNG is read: its unit is `unit_m` if that is positive, else what the camera file
/// says, else a millimetre.
DepthPngOptions depth_unit(double unit_m, const std::optional<CameraFile>& camera = {});

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
