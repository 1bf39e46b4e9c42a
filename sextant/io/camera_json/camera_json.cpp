// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/camera_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sextant/core/options_json.h"
#include "sextant/io/json_file.h"

namespace sextant {

namespace {

constexpr std::int64_t kMaxFileBytes = 1 << 20;
constexpr std::array<std::string_view, 8> kKeys{"width", "height", "fx",         "fy",
                                                "cx",    "cy",     "distortion", "depth_scale"};

void refuse_unknown_keys(const nlohmann::json& document, const std::string& name) {
  for (const auto& item : document.items()) {
    require(std::find(kKeys.begin(), kKeys.end(), item.key()) != kKeys.end(), name,
            ": unknown key ", shown(item.key()),
            "; a camera has width, height, fx, fy, cx, cy and perhaps distortion and depth_scale");
  }
}

const nlohmann::json& value_of(const nlohmann::json& document, const char* key,
                               const std::string& name) {
  const auto found = document.find(key);
  require(found != document.end(), name, ": the key \"", key, "\" is missing");
  return *found;
}

double number_of(const nlohmann::json& value, const char* key, const std::string& name) {
  require(value.is_number(), name, ": \"", key, "\" must be a number but is ", shown(value));
  const double number = value.get<double>();
  require(std::isfinite(number), name, ": \"", key, "\" must be finite but is ", number);
  return number;
}

int pixels_of(const nlohmann::json& document, const char* key, const std::string& name) {
  const nlohmann::json& value = value_of(document, key, name);
  const double number = number_of(value, key, name);
  require(number == std::floor(number) && number >= 1 && number <= std::numeric_limits<int>::max(),
          name, ": \"", key, "\" must be a positive number of pixels but is ", shown(value));
  return static_cast<int>(number);
}

double length_px(const nlohmann::json& document, const char* key, const std::string& name) {
  const double number = number_of(value_of(document, key, name), key, name);
  require(number > 0, name, ": \"", key, "\" must be a positive number of pixels but is ", number);
  return number;
}

Distortion<double> distortion_of(const nlohmann::json& value, const std::string& name) {
  const char* key = "distortion";
  require(value.is_array() && (value.empty() || value.size() == 4 || value.size() == 5), name,
          ": \"", key, "\" must be a list of 0, 4 or 5 numbers [k1, k2, p1, p2, k3] but is ",
          shown(value));
  std::array<double, 5> numbers{};
  for (std::size_t i = 0; i < value.size(); ++i) numbers[i] = number_of(value[i], key, name);
  return {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]};
}

}  // namespace

CameraFile camera_from_json(const nlohmann::json& document, const std::string& name) {
  require(document.is_object(), name, ": a camera must be a JSON object but is ", shown(document));
  refuse_unknown_keys(document, name);
  CameraFile file;
  Camera& camera = file.camera;
  camera.width = pixels_of(document, "width", name);
  camera.height = pixels_of(document, "height", name);
  camera.fx_px = length_px(document, "fx", name);
  camera.fy_px = length_px(document, "fy", name);
  camera.cx_px = number_of(value_of(document, "cx", name), "cx", name);
  camera.cy_px = number_of(value_of(document, "cy", name), "cy", name);
  if (const auto found = document.find("distortion"); found != document.end()) {
    camera.distortion = distortion_of(*found, name);
  }
  if (const auto found = document.find("depth_scale"); found != document.end()) {
    file.depth_scale_mm = number_of(*found, "depth_scale", name);
    require(*file.depth_scale_mm > 0, name, ": \"depth_scale\" must be positive but is ",
            *file.depth_scale_mm);
  }
  check_camera(camera);
  return file;
}

CameraFile read_camera_json(const std::filesystem::path& path) {
  return camera_from_json(read_json_file(path, kMaxFileBytes), path.string());
}

nlohmann::json camera_to_json(const CameraFile& file) {
  const Camera& camera = file.camera;
  check_camera(camera);
  nlohmann::json document{{"width", camera.width}, {"height", camera.height}, {"fx", camera.fx_px},
                          {"fy", camera.fy_px},    {"cx", camera.cx_px},      {"cy", camera.cy_px}};
  const Distortion<double>& d = camera.distortion;
  if (!d.is_zero()) document["distortion"] = {d.k1, d.k2, d.p1, d.p2, d.k3};
  if (file.depth_scale_mm) {
    require(*file.depth_scale_mm > 0 && std::isfinite(*file.depth_scale_mm),
            "depth_scale_mm: ", *file.depth_scale_mm, " is not positive");
    document["depth_scale"] = *file.depth_scale_mm;
  }
  return document;
}

void write_camera_json(const std::filesystem::path& path, const CameraFile& file) {
  write_json_file(path, camera_to_json(file));
}

}  // namespace sextant
