// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/input/depth_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/sextant/command/command.h"
#include "apps/sextant/input/file_kind.h"
#include "sextant/io/depth_file.h"
#include "sextant/io/file.h"
#include "sextant/io/image_file.h"
#include "sextant/surface/depth_unit.h"

namespace sextant::app {

namespace {

/// The middle of a camera lies in its image, unless that is a part of a larger one. The camera of
/// another resolution, in a file that does not say which, has it elsewhere.
void doubt_camera(const std::string& name, const std::string& file, const Camera& camera) {
  const auto inside = [](double at_px, int size) { return at_px >= -0.5 && at_px < size - 0.5; };
  if (inside(camera.cx_px, camera.width) && inside(camera.cy_px, camera.height)) return;
  note(fmt::format(
      "{}: its principal point ({:.6g}, {:.6g}) lies outside {}, which has {} x {} pixels; is it "
      "the camera of another resolution?",
      name, camera.cx_px, camera.cy_px, file, camera.width, camera.height));
}

void doubt_unit(const std::string& file, const DepthMap& map) {
  const DepthUnitDoubt doubt = doubt_depth_unit(Context::cpu(), map.depth_m, map.unit_m);
  if (doubt.factor == 1) return;
  const double other_m = map.unit_m / doubt.factor;
  note(fmt::format(
      "{}: its median depth is {:.3g} m at {:.6g} m a step ({}), but its noise is that of a sensor "
      "at {:.3g} m; if a step is {:.6g} m, pass --unit-m {:.6g}, else --unit-m {:.6g} ends the "
      "doubt",
      file, doubt.median_m, map.unit_m, map.unit_from, doubt.median_m / doubt.factor, other_m,
      other_m, map.unit_m));
}

}  // namespace

DepthMap read_depth_map(const std::string& file, const std::string& camera, double unit_m,
                        bool disparity) {
  const FileBytes bytes = read_file(file, kMaxImageFileBytes);
  const FileKind kind = kind_of_bytes(bytes, file);
  require(kind == FileKind::kImage, file, ": holds ", describe(kind), ", not a depth map");
  const ImageInfo info = image_info(bytes, file);
  require(!disparity || !info.floating, file, ": holds floats; raw disparity is 16-bit integers");
  DepthMap map;
  DepthFileOptions options{.unit_m = disparity ? 1.0 : unit_m};
  if (!camera.empty()) {
    map.camera = read_camera_json(camera, {file, info.width, info.height});
    options.camera_unit_m = map.camera->depth_unit_m();
  }
  map.depth_m = read_depth(bytes, file, options);
  map.unit_m = depth_unit_m(info, options);
  map.unit_from = unit_m > 0 ? "--unit-m" : options.camera_unit_m > 0 ? camera : "usual";
  if (map.camera) doubt_camera(camera, file, map.camera->camera);
  if (disparity) return map;
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
