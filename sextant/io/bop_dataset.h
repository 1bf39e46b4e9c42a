// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/rigid3.h"
#include "sextant/io/camera_json.h"

namespace sextant {

// Data sets in the layout of the BOP benchmark: ROOT/SPLIT/000012/ holds the images of scene 12 in
// rgb/ (or gray/) and depth/, and what is known of them in scene_camera.json, scene_gt.json and
// scene_gt_info.json. The generation before had the same in info.yml and gt.yml, in folders 01, 02
// and so on; it is read as well. Lengths of the files are millimetres, those here metres.

/// An object that is in an image.
struct BopInstance {
  int object_id = 0;
  Rigid3d camera_from_object;
};

/// What scene_gt_info.json says of an instance: how much of it is seen.
struct BopInstanceInfo {
  std::int64_t all_px = 0;      ///< of the object alone, inside the image
  std::int64_t valid_px = 0;    ///< those of them with a measured depth
  std::int64_t visible_px = 0;  ///< those that nothing hides
  double visible_fraction = 0;  ///< visible_px / all_px, 0 where all_px is
  /// Left, top, width and height of all pixels and of the visible ones; -1 where there are none.
  std::array<int, 4> box_px{-1, -1, -1, -1};
  std::array<int, 4> visible_box_px{-1, -1, -1, -1};
};

struct BopImage {
  int id = 0;
  CameraFile camera;  ///< width and height are 0: the files of a scene do not have them
  std::vector<BopInstance> truth;
  std::vector<BopInstanceInfo> info;  ///< empty where it is not known, else one per instance
};

/// A scene without its pixels.
struct BopScene {
  int id = 0;
  std::filesystem::path folder;
  bool has_truth = false;        ///< test images of the benchmark come without
  std::vector<BopImage> images;  ///< ascending
};

struct BopSceneFolder {
  int id = 0;
  std::filesystem::path folder;
};

/// The scenes under a folder, ascending: those in the folder itself, or in its split, or, where
/// `split` is empty, in its folder "test" or else its only folder that has scenes. A folder with a
/// scene's own files is that scene. Error when there is none, or several splits to choose from.
std::vector<BopSceneFolder> find_bop_scenes(const std::filesystem::path& root,
                                            const std::string& split = {});

/// Reads what is known of a scene's images, not their pixels. Each image of
/// the camera file is listed; one without an entry in the truth holds nothing that is known. An
/// Error names the file with the line, or the image, instance and key, that is missing or wrong.
BopScene read_bop_scene(const BopSceneFolder& folder);

/// The same from documents; `truth` and `info` may be null for a scene that lacks them. The names
/// stand for the files in messages.
struct BopSceneDocuments {
  const nlohmann::json* camera = nullptr;
  const nlohmann::json* truth = nullptr;
  const nlohmann::json* info = nullptr;
  std::string camera_name = "scene_camera.json";
  std::string truth_name = "scene_gt.json";
  std::string info_name = "scene_gt_info.json";
};
BopScene bop_scene_from_json(const BopSceneDocuments& documents);

/// Writes scene_camera.json and, where has_truth says so, scene_gt.json and scene_gt_info.json (for
/// images that have info) into the scene's folder, which is made when missing.
void write_bop_scene(const BopScene& scene);

/// The files of an image: depth/000003.png and rgb/000003.png (or gray/; .png, .jpg, .jpeg or .tif;
/// also with four digits, as the older generation has them). Error for a depth map that is not
/// there; an empty path for a missing picture.
std::filesystem::path bop_depth_file(const BopScene& scene, const BopImage& image);
std::filesystem::path bop_color_file(const BopScene& scene, const BopImage& image);

/// Whether a matrix is a rotation up to the rounding of a file that prints few digits: rows of
/// length 1 and at right angles within 0.02, and no reflection.
bool is_nearly_rotation(const Mat3<double>& matrix);

/// The name of a scene's folder and of an image without extension: six digits.
std::string bop_name(int id);

/// How often an object is to be found in an image: a line of test_targets_bop19.json.
struct BopTarget {
  int scene_id = 0;
  int image_id = 0;
  int object_id = 0;
  int count = 0;
};

std::vector<BopTarget> read_bop_targets(const std::filesystem::path& path);
std::vector<BopTarget> bop_targets_from_json(const nlohmann::json& document,
                                             const std::string& name);
void write_bop_targets(const std::filesystem::path& path, const std::vector<BopTarget>& targets);

/// The part of YAML that data sets are written in: mappings and lists by indentation or in
/// brackets, numbers, words and quoted strings; tags before values are passed over. An Error names
/// the line. Numbers that are keys become their text.
nlohmann::json parse_simple_yaml(std::string_view text, const std::string& name);
nlohmann::json read_simple_yaml(const std::filesystem::path& path);

}  // namespace sextant
