// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/camera_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "sextant/core/options_json.h"
#include "sextant/io/camera_json/document.h"
#include "sextant/io/camera_json/keys.h"
#include "sextant/io/file.h"
#include "sextant/io/json_file.h"

namespace sextant {

using namespace detail::camera_json;

namespace {

/// A scene of a thousand images has some 400 kB.
constexpr std::int64_t kMaxFileBytes = 64 << 20;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A number of at most 18 digits.
std::optional<std::int64_t> image_number(std::string_view digits) {
  std::int64_t number = 0;
  if (digits.empty() || digits.size() > 18) return std::nullopt;
  if (!std::all_of(digits.begin(), digits.end(), is_digit)) return std::nullopt;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

/// The last number in a file's name before its extension: 12 for depth/000012.png, 0 for
/// frame-000000.depth.png.
std::optional<std::int64_t> number_in_name(const std::string& file) {
  const std::string stem = std::filesystem::path(file).stem().string();
  const auto last = std::find_if(stem.rbegin(), stem.rend(), is_digit).base();
  const auto first =
      std::find_if_not(std::make_reverse_iterator(last), stem.rend(), is_digit).base();
  return image_number(std::string_view(stem).substr(static_cast<std::size_t>(first - stem.begin()),
                                                    static_cast<std::size_t>(last - first)));
}

/// Whether each key is the number of an image.
bool holds_images(const nlohmann::json& document) {
  if (!document.is_object() || document.empty()) return false;
  const auto items = document.items();
  return std::all_of(items.begin(), items.end(), [](const auto& item) {
    return image_number(item.key()).has_value() && item.value().is_object();
  });
}

/// "image 3" or "images 0 to 74".
std::string images_of(const CameraList& list) {
  const std::string first = std::to_string(list.images.front());
  if (list.images.size() == 1) return "image " + first;
  return "images " + first + " to " + std::to_string(list.images.back());
}

const CameraFile& chosen(const CameraList& list, const CameraImage& image) {
  if (list.images.empty()) return list.cameras.front();
  const std::optional<std::int64_t> number = number_in_name(image.file);
  require(number.has_value(), list.name, ": has the cameras of ", images_of(list),
          ", and no number in the name ", image.file, " says which is wanted");
  const auto found = std::lower_bound(list.images.begin(), list.images.end(), *number);
  require(found != list.images.end() && *found == *number, list.name, ": has the cameras of ",
          images_of(list), " but none of ", *number, ", which is the number of ", image.file);
  return list.cameras[static_cast<std::size_t>(found - list.images.begin())];
}

nlohmann::json read_document(const std::filesystem::path& path) {
  return document_of(read_file(path, kMaxFileBytes).text(), path.string());
}

/// Errors for what no camera has: lengths in pixels that are really millimetres, or shares of the
/// image, give fields of view of nearly 180 degrees.
void check_file(const CameraFile& file, const std::string& name) {
  const Camera& camera = file.camera;
  check_camera(camera);
  constexpr double kLeastShare = 0.05;  // of the size: 169 degrees
  const auto check = [&](const char* key, double focal_px, int size) {
    require(focal_px >= kLeastShare * size, name, ": \"", key, "\" is ", focal_px, " for ", size,
            " pixels, a field of view of ",
            std::round(360 / std::numbers::pi * std::atan(size / focal_px / 2)),
            " degrees; focal lengths are in pixels, not in millimetres or shares of the image");
  };
  check("fx", camera.fx_px, camera.width);
  check("fy", camera.fy_px, camera.height);
}

}  // namespace

CameraList camera_list_from_json(const nlohmann::json& document, const std::string& name) {
  CameraList list{name, {}, {}};
  if (!holds_images(document)) {
    list.cameras.push_back(camera_of(document, name));
    return list;
  }
  std::vector<std::pair<std::int64_t, const nlohmann::json*>> entries;
  for (const auto& item : document.items()) {
    entries.emplace_back(*image_number(item.key()), &item.value());
  }
  std::sort(entries.begin(), entries.end());
  for (const auto& [number, object] : entries) {
    require(list.images.empty() || list.images.back() != number, name, ": image ", number,
            " is there twice");
    list.images.push_back(number);
    list.cameras.push_back(camera_of(*object, name + ": image " + std::to_string(number)));
  }
  return list;
}

CameraFile camera_for(const CameraList& list, const CameraImage& image) {
  require(!list.cameras.empty(), list.name, ": has no camera");
  CameraFile file = chosen(list, image);
  Camera& camera = file.camera;
  if (camera.width == 0) {
    camera.width = image.width;
    camera.height = image.height;
  }
  require(camera.width == image.width && camera.height == image.height, list.name,
          ": the camera is for ", camera.width, " x ", camera.height, " pixels, but ", image.file,
          " has ", image.width, " x ", image.height);
  check_file(file, list.name);
  return file;
}

CameraFile camera_from_json(const nlohmann::json& document, const std::string& name) {
  CameraList list = camera_list_from_json(document, name);
  if (!list.images.empty()) {
    fail(name, ": has the cameras of ", images_of(list), "; it is not said which is wanted");
  }
  CameraFile& file = list.cameras.front();
  require(file.camera.width > 0, name, ": the key \"width\" is missing");
  check_file(file, name);
  return file;
}

CameraFile read_camera_json(const std::filesystem::path& path) {
  return camera_from_json(read_document(path), path.string());
}

CameraFile read_camera_json(const std::filesystem::path& path, const CameraImage& image) {
  return camera_for(read_camera_list(path), image);
}

CameraList read_camera_list(const std::filesystem::path& path) {
  return camera_list_from_json(read_document(path), path.string());
}

CameraList camera_list_from_text(std::string_view text, const std::string& name) {
  return camera_list_from_json(document_of(text, name), name);
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
