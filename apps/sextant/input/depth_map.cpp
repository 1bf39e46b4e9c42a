// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/input/depth_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/sextant/command/command.h"
#include "apps/sextant/input/depth_doubts.h"
#include "apps/sextant/input/file_kind.h"
#include "sextant/io/depth_file.h"
#include "sextant/io/file.h"
#include "sextant/io/image_file.h"

namespace sextant::app {

DepthMap read_depth_map(const std::string& file, const std::string& camera, double unit_m,
                        bool disparity) {
  const FileBytes bytes = read_file(file, kMaxImageFileBytes);
  const FileKind kind = kind_of_bytes(bytes, file);
  require(kind == FileKind::kImage, file, ": holds ", describe(kind), ", not a depth map");
  const ImageInfo info = image_info(bytes, file);
  require(!disparity || !info.floating, file, ": holds floats; raw disparity is 16-bit integers");
  DepthMap map;
  DepthFileOptions options{.unit_m = disparity ? 1.0 : unit_m, .largest_is_hole = !disparity};
  if (!camera.empty()) {
    map.camera = read_camera_json(camera, {file, info.width, info.height});
    options.camera_unit_m = map.camera->depth_unit_m();
  }
  map.depth_m = read_depth(bytes, file, options);
  map.unit_m = depth_unit_m(info, options);
  map.unit_from = unit_m > 0 ? "--unit-m" : options.camera_unit_m > 0 ? camera : "usual";
  if (map.camera) doubt_camera(camera, file, map.camera->camera);
  if (disparity) {
    check_disparity(file, map.depth_m);
    return map;
  }
  doubt_farthest(file, !info.floating, map);
  if (!info.floating) doubt_byte_order(file, map);
  if (unit_m == 0) {
    doubt_unit(file, map);
  } else if (!believable_depth(map.depth_m)) {
    note(fmt::format("{}: with --unit-m {} the median depth is {:.4g} m", file, unit_m,
                     median_depth_m(map.depth_m)));
  }
  return map;
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
