// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/camera_json/keys.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "sextant/core/options_json.h"
#include "sextant/io/camera_json/values.h"

namespace sextant::detail::camera_json {

namespace {

/// Every key that is understood or, in the second half, known to say nothing about the image.
constexpr std::string_view kKeys[] = {
    "width", "w", "image_width", "height", "h", "image_height", "fx", "px", "fy", "py", "cx", "u0",
    "ppx", "cy", "v0", "ppy", "cam_K", "K", "k", "camera_matrix", "intrinsic_matrix", "distortion",
    "D", "d", "coeffs", "dist_coeffs", "distortion_coefficients", "kud", "kdu", "distortion_model",
    "model", "depth_scale", "depthScale", "depth_units_per_m", "binning_x", "binning_y", "roi",
    // Poses, names and what is derived from the rest.
    "cam_R_w2c", "cam_t_w2c", "view_level", "elev", "mode", "header", "R", "r", "P", "p",
    "rectification_matrix", "projection_matrix", "camera_name", "name", "objects", "serial_number",
    "device_name", "color_format", "depth_format", "fps", "stream_length_usec", "frame_id",
    "timestamp"};

void refuse_unknown_keys(const nlohmann::json& object, const std::string& name) {
  for (const auto& item : object.items()) {
    require(std::find(std::begin(kKeys), std::end(kKeys), item.key()) != std::end(kKeys), name,
            ": unknown key ", shown(item.key()),
            "; a camera has width, height, fx, fy, cx, cy (or cam_K) and perhaps distortion and "
            "depth_scale");
  }
}

void read_size(const nlohmann::json& object, const std::string& name, Camera& camera) {
  const Found width = find_one(object, {"width", "w", "image_width"}, name);
  const Found height = find_one(object, {"height", "h", "image_height"}, name);
  if (!width && !height) return;
  require(static_cast<bool>(width), name, ": the key \"width\" is missing");
  require(static_cast<bool>(height), name, ": the key \"height\" is missing");
  camera.width = pixels_of(width, name);
  camera.height = pixels_of(height, name);
}

/// fx, 0, cx, 0, fy, cy, 0, 0, 1.
void read_matrix(const Found& found, const std::string& name, Camera& camera) {
  std::vector<double> k = numbers_of(found, name);
  require(k.size() == 9, name, ": \"", found.key, "\" must have 3 x 3 numbers but has ", k.size());
  if (found.key == "intrinsic_matrix" && k[2] == 0 && k[5] == 0) {
    std::swap(k[2], k[6]);  // Open3D writes it column by column
    std::swap(k[5], k[7]);
  }
  require(k[1] == 0 && k[3] == 0 && k[6] == 0 && k[7] == 0 && k[8] == 1, name, ": \"", found.key,
          "\" must be [fx, 0, cx, 0, fy, cy, 0, 0, 1]; a skew or another scale is not understood");
  require(k[0] > 0 && k[4] > 0, name, ": the focal lengths in \"", found.key,
          "\" must be positive but are ", k[0], " and ", k[4]);
  camera.fx_px = k[0];
  camera.fy_px = k[4];
  camera.cx_px = k[2];
  camera.cy_px = k[5];
}

void read_intrinsics(const nlohmann::json& object, const std::string& name, Camera& camera) {
  const Found matrix =
      find_one(object, {"cam_K", "K", "k", "camera_matrix", "intrinsic_matrix"}, name);
  if (matrix) {
    for (const char* twice : {"fx", "px", "fy", "py", "cx", "u0", "ppx", "cy", "v0", "ppy"}) {
      require(!object.contains(twice), name, ": \"", matrix.key, "\" and \"", twice,
              "\" say the same; keep one of them");
    }
    return read_matrix(matrix, name, camera);
  }
  camera.fx_px = positive_of(find_needed(object, {"fx", "px"}, name), name);
  camera.fy_px = positive_of(find_needed(object, {"fy", "py"}, name), name);
  camera.cx_px = number_of(find_needed(object, {"cx", "u0", "ppx"}, name), name);
  camera.cy_px = number_of(find_needed(object, {"cy", "v0", "ppy"}, name), name);
}

Distortion<double> coefficients_of(const nlohmann::json& object, const std::string& name) {
  const Found list = find_one(
      object, {"distortion", "D", "d", "coeffs", "dist_coeffs", "distortion_coefficients"}, name);
  const Found kud = find_one(object, {"kud"}, name);
  require(!list || !kud, name, ": \"", list.key, "\" and \"kud\" say the same; keep one of them");
  // ViSP's distortion is the first radial coefficient: u = u0 + px x (1 + kud r²).
  if (kud) return {number_of(kud, name), 0, 0, 0, 0};
  if (!list) return {};
  std::vector<double> d = numbers_of(list, name);
  require(d.empty() || d.size() >= 4, name, ": \"", list.key,
          "\" must be a list of 0, 4 or 5 numbers [k1, k2, p1, p2, k3] but has ", d.size());
  require(std::all_of(d.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(d.size(), 5)),
                      d.end(), [](double more) { return more == 0; }),
          name, ": \"", list.key, "\" has ", d.size(),
          " coefficients; those after [k1, k2, p1, p2, k3] are not understood unless they are 0");
  d.resize(5);
  return {d[0], d[1], d[2], d[3], d[4]};
}

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

/// The coefficients must be those of a lens whose equation is ours.
void check_model(const nlohmann::json& object, const std::string& name, bool distorted) {
  const Found found = find_one(object, {"distortion_model", "model"}, name);
  if (!found) return;
  require(found.value->is_string(), name, ": \"", found.key, "\" must be a name but is ",
          shown(*found.value));
  const std::string model = lower(found.value->get<std::string>());
  for (const char* wide : {"fisheye", "equidistant", "kannala", "ftheta", "omni"}) {
    require(model.find(wide) == std::string::npos, name, ": \"", found.key, "\" is ",
            shown(*found.value), "; only pinhole cameras are understood");
  }
  constexpr const char* kOurs[] = {"plumb_bob",     "radtan",
                                   "brown_conrady", "distortion.brown_conrady",
                                   "brown conrady", "perspectiveprojwithdistortion",
                                   "opencv",        "rational_polynomial"};
  require(!distorted || std::find(std::begin(kOurs), std::end(kOurs), model) != std::end(kOurs),
          name, ": \"", found.key, "\" is ", shown(*found.value),
          ", whose coefficients are not understood; Brown-Conrady's (plumb_bob) are");
}

/// ROS: the matrix is that of the whole image before binning, so only the whole image is read.
void check_whole_image(const nlohmann::json& object, const std::string& name) {
  for (const char* key : {"binning_x", "binning_y"}) {
    const Found found = find_one(object, {key}, name);
    if (!found) continue;
    const double binning = number_of(found, name);
    require(binning == 0 || binning == 1, name, ": \"", key, "\" is ", binning,
            "; only images without binning are understood");
  }
  const Found roi = find_one(object, {"roi"}, name);
  if (!roi) return;
  for (const char* key : {"x_offset", "y_offset", "width", "height"}) {
    const auto part = roi.value->is_object() ? roi.value->find(key) : roi.value->end();
    if (!roi.value->is_object() || part == roi.value->end()) continue;
    require(part->is_number() && part->get<double>() == 0, name, ": \"roi\" has ", key, " ",
            shown(*part), "; only the whole image (0) is understood");
  }
}

/// In millimetres per step, as BOP has it.
std::optional<double> depth_scale_of(const nlohmann::json& object, const std::string& name) {
  const Found found = find_one(object, {"depth_scale", "depthScale", "depth_units_per_m"}, name);
  if (!found) return std::nullopt;
  const double number = positive_of(found, name);
  double scale_mm = number;
  if (found.key == "depthScale") scale_mm = number * 1000;  // ViSP: metres per step
  if (found.key == "depth_units_per_m") scale_mm = 1000 / number;
  require(std::isfinite(scale_mm) && scale_mm > 0, name, ": \"", found.key, "\" must be ",
          "a believable number but is ", number);
  return scale_mm;
}

}  // namespace

CameraFile camera_of(const nlohmann::json& object, const std::string& name) {
  require(object.is_object(), name, ": a camera must be a JSON object but is ", shown(object));
  refuse_unknown_keys(object, name);
  CameraFile file;
  read_size(object, name, file.camera);
  read_intrinsics(object, name, file.camera);
  file.camera.distortion = coefficients_of(object, name);
  check_model(object, name, !file.camera.distortion.is_zero());
  check_whole_image(object, name);
  file.depth_scale_mm = depth_scale_of(object, name);
  return file;
}

}  // namespace sextant::detail::camera_json
