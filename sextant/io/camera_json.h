// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/geometry/camera.h"

namespace sextant {

/// What a camera file says of one camera. The keys of our own files are width, height, fx, fy, cx,
/// cy and, optionally, distortion: [k1, k2, p1, p2, k3] (none, four or five numbers) and
/// depth_scale. A camera.json of the BOP data sets is such a file; docs/camera.md lists the
/// spellings of ROS, OpenCV, ViSP, RealSense and Open3D that are read as well.
struct CameraFile {
  Camera camera;
  /// BOP's depth_scale: a number of the depth map times this is the depth in millimetres.
  std::optional<double> depth_scale_mm;

  /// Metres per step of the depth map; 0 where the file does not say.
  double depth_unit_m() const { return depth_scale_mm ? *depth_scale_mm / 1000 : 0.0; }
};

/// The image that a camera is wanted for.
struct CameraImage {
  std::string file;  ///< the number in its name chooses among the cameras of several images
  int width = 0;
  int height = 0;
};

/// What a camera file holds: one camera for every image, or one for each of several images, as in
/// scene_camera.json of the BOP data sets.
struct CameraList {
  std::string name;                  ///< of the file, for messages
  std::vector<std::int64_t> images;  ///< the image of each camera, ascending; empty: one for all
  std::vector<CameraFile> cameras;   ///< width and height are 0 where the file has none
};

/// The camera of a file that has one for every image, with its size. Beside JSON, files of other
/// programs are read, chosen by their content: YAML of ROS and OpenCV, XML of OpenCV and
/// cameras.txt of COLMAP, whose principal point is moved to our pixel centres (docs/camera.md). An
/// Error names the file and the key (or line and column) that is missing, unknown or wrong.
CameraFile read_camera_json(const std::filesystem::path& path);
CameraFile camera_from_json(const nlohmann::json& document, const std::string& name);

/// The camera of an image. Where the file has a camera for each of several images, it is the one
/// whose key is the last number in the image's file name; Error when there is none. A size that the
/// file lacks is that of the image, and one that differs from it is an Error.
CameraFile read_camera_json(const std::filesystem::path& path, const CameraImage& image);
CameraFile camera_for(const CameraList& list, const CameraImage& image);

CameraList read_camera_list(const std::filesystem::path& path);
CameraList camera_list_from_json(const nlohmann::json& document, const std::string& name);
/// The same from the text of a file of any of these kinds.
CameraList camera_list_from_text(std::string_view text, const std::string& name);

void write_camera_json(const std::filesystem::path& path, const CameraFile& file);
nlohmann::json camera_to_json(const CameraFile& file);

}  // namespace sextant
