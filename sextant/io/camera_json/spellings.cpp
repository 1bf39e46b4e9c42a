// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "sextant/core/options_json.h"
#include "sextant/io/camera_json/document.h"

namespace sextant::detail::camera_json {

namespace {

using nlohmann::json;

struct Spelling {
  std::string_view plain;  ///< of the file, in small letters and without underscores
  const char* ours;
};

/// Those of OpenCV's samples and programs, of ROS and of calibration programs that use them.
constexpr Spelling kSpellings[] = {{"imagewidth", "width"},
                                   {"imageheight", "height"},
                                   {"cameramatrix", "camera_matrix"},
                                   {"intrinsics", "camera_matrix"},
                                   {"m", "camera_matrix"},
                                   {"m1", "camera_matrix"},
                                   {"mtx", "camera_matrix"},
                                   {"distortioncoefficients", "distortion_coefficients"},
                                   {"distortioncoeffs", "distortion_coefficients"},
                                   {"distcoeffs", "distortion_coefficients"},
                                   {"distcoeff", "distortion_coefficients"},
                                   {"dist", "distortion_coefficients"},
                                   {"d1", "distortion_coefficients"},
                                   {"cameramodel", "distortion_model"},
                                   {"distortionmodel", "distortion_model"}};

/// About the calibration, not the camera.
constexpr std::string_view kPassedOver[] = {"calibrationtime",
                                            "calibrationdate",
                                            "nframes",
                                            "nrofframes",
                                            "framescount",
                                            "boardwidth",
                                            "boardheight",
                                            "squaresize",
                                            "markersize",
                                            "markerlength",
                                            "aspectratio",
                                            "fixaspectratio",
                                            "flags",
                                            "flagvalue",
                                            "avgreprojectionerror",
                                            "reprojectionerror",
                                            "rms",
                                            "perviewreprojectionerrors",
                                            "extrinsicparameters",
                                            "cameramatrixstddev",
                                            "distcoeffsstddev",
                                            "imagepoints",
                                            "gridpoints"};

std::string plain(std::string_view key) {
  std::string text;
  for (const char c : key) {
    if (c != '_') text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

void put(const std::string& key, const json& value, const std::string& name, json& document) {
  require(!document.contains(key), name, ": says \"", key, "\" twice, in different spellings");
  document[key] = value;
}

/// A list of width and height.
bool take_size(const std::string& key, const json& value, const std::string& name, json& document) {
  if (key != "cameraresolution" && key != "imagesize" && key != "resolution") return false;
  require(value.is_array() && value.size() == 2, name, ": \"", key,
          "\" must be a width and a height but is ", shown(value));
  put("width", value[0], name, document);
  put("height", value[1], name, document);
  return true;
}

/// A matrix whose numbers are fewer or more than it has rows and columns is damaged.
void check_matrix(const std::string& key, const json& value, const std::string& name) {
  if (!value.is_object() || !value.contains("data") || !value["data"].is_array()) return;
  const auto rows = value.find("rows"), cols = value.find("cols");
  if (rows == value.end() || cols == value.end()) return;
  require(
      rows->is_number() && cols->is_number() &&
          rows->get<double>() * cols->get<double>() == static_cast<double>(value["data"].size()),
      name, ": \"", key, "\" has ", value["data"].size(), " numbers for ", shown(*rows), " x ",
      shown(*cols));
}

}  // namespace

json with_our_keys(const json& document, const std::string& name) {
  require(!document.contains("M2"), name,
          ": holds the two cameras of a stereo pair, M1 and M2; copy the one that is meant, M and "
          "D, to a file of its own");
  json ours = json::object();
  for (const auto& item : document.items()) {
    const std::string key = plain(item.key());
    const json& value = item.value();
    if (key == "fisheyemodel") {
      require(value.is_number() && value.get<double>() == 0, name, ": its \"fisheye_model\" is ",
              shown(value), "; only pinhole cameras are understood");
      continue;
    }
    if (take_size(key, value, name, ours)) continue;
    if (std::find(std::begin(kPassedOver), std::end(kPassedOver), key) != std::end(kPassedOver)) {
      continue;
    }
    const auto spelling = std::find_if(std::begin(kSpellings), std::end(kSpellings),
                                       [&](const Spelling& s) { return s.plain == key; });
    const std::string written = spelling != std::end(kSpellings) ? spelling->ours : item.key();
    if (written.starts_with("camera_m") || written.starts_with("dist")) {
      check_matrix(item.key(), value, name);
    }
    put(written, value, name, ours);
  }
  return ours;
}

}  // namespace sextant::detail::camera_json
