// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/input/depth_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sextant::app {

DepthPngOptions depth_unit(double unit_m, const std::optional<CameraFile>& camera) {
  DepthPngOptions options;
  if (camera && camera->depth_scale_mm) options.unit_m = *camera->depth_scale_mm / 1000;
  if (unit_m > 0) options.unit_m = unit_m;
  return options;
}

void DepthSummary::add_to(nlohmann::json& document) const {
  const auto or_null = [this](float length_m) {
    return valid_pixels > 0 ? nlohmann::json(length_m) : nlohmann::json();
  };
  document["valid_pixels"] = valid_pixels;
  document["low_m"] = or_null(low_m);
  document["median_m"] = or_null(median_m);
  document["high_m"] = or_null(high_m);
}

std::string DepthSummary::text() const {
  if (valid_pixels == 0) return {};
  return fmt::format(", {:.3f} to {:.3f} m, median {:.3f} m", low_m, high_m, median_m);
}

DepthSummary summarize_depth(const Image<float>& depth_m) {
  std::vector<float> valid;
  for (const float z : depth_m.pixels().host()) {
    if (std::isfinite(z) && z > 0) valid.push_back(z);
  }
  if (valid.empty()) return {};
  std::sort(valid.begin(), valid.end());
  return {valid.size(), valid.front(), valid[valid.size() / 2], valid.back()};
}

}  // namespace sextant::app
