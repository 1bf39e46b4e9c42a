// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sextant/io/tag_board.h"
#include "sextant/learn/board_poses.h"
#include "sextant/learn/learn_photos.h"

namespace sextant::app {

/// How photographs of an object are learned, as the user says.
struct LearnPhotosFlags {
  std::string board;      ///< file of the board on which the object stands
  double tag_size_m = 0;  ///< measured side of the printed tags; 0: as the board's file says
  double ruler_m = 0;     ///< measured length of the printed rulers; 0 likewise
  double least_height_m = 0.003;  ///< above the board, that belongs to the object
  double most_height_m = 0.5;
  bool masks = true;
  std::string save_camera;  ///< where the camera that was found is written
  std::string picture;      ///< and the picture of the points
  LearnPhotosOptions photos;
  BoardPosesOptions poses;
};

/// A photograph of the folder, with its mask if there is one.
struct PhotoFile {
  std::filesystem::path photo, mask;
};

/// The photographs of a folder, by name; mask_NAME.png is the mask of NAME.jpg or NAME.png.
std::vector<PhotoFile> photos_of_folder(const std::filesystem::path& folder);

/// What photographs taught, in words and numbers for the user.
struct PhotoLesson {
  LearnedObject object;  ///< with remarks
  nlohmann::json document;
  std::vector<std::string> wrote;  ///< files
};

/// Learns the object of a folder. `camera` is a camera's file, a rig with the pose of the camera of
/// each photograph, or empty where the board tells both. Nothing is written before all is learned.
PhotoLesson learn_photo_folder(const Context& context, const std::string& name,
                               const std::filesystem::path& folder, const std::string& camera,
                               const LearnPhotosFlags& flags, const LearnProgress& progress);

/// Points that were learned, from two sides, and where one photograph shows them.
Image<Rgb8> learned_points_picture(const LearnPhotosReport& report, ImageView<const Rgb8> photo,
                                   std::size_t number);

}  // namespace sextant::app
