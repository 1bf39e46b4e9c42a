// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sextant/core/image.h"
#include "sextant/core/rigid3.h"
#include "sextant/geometry/camera.h"

namespace sextant {

/// What a depth camera saw at one moment, on the host.
struct RgbdView {
  std::string name;  ///< what tells it from the others: "12" of depth_12.png
  Camera camera;
  Image<float> depth_m;                      ///< NaN where nothing came back
  Image<Rgb8> color;                         ///< empty, or as large as the depth
  Image<std::uint8_t> mask;                  ///< empty, or as large: not 0 where the object is
  std::optional<Rigid3d> world_from_camera;  ///< where it is known
};

struct ViewsFolderOptions {
  double unit_m = 0;  ///< metres per step of the depth; 0 as in DepthFileOptions
  bool masks = true;  ///< use mask files where there are some
  bool poses = true;  ///< use a file of poses where there is one
  std::string pose_file =
      {};  ///< takes the poses from this file instead of poses.json or poses.csv
};

/// Reads the views of an object from a folder, in the order of the numbers in their names:
///
///   depth_*.png      a depth map for each view (16-bit PNG or PGM, or TIFF); * is the view's name
///   color_*.png      optional (PNG or JPEG), registered to the depth, for all views or for some
///   mask_*.png       optional: not black where the object is
///   camera.json      as docs/camera.md says; or Intrinsic.txt with the nine numbers of a 3×3
///   matrix poses.json       optional: {"world_from_camera": {"NAME": [16 numbers, row by row], …}}
///   or
///                    {"camera_from_object": {…}}, in metres
///   poses.csv        optional: NAME, tx, ty, tz, qx, qy, qz, qw of world_from_camera in every
///   line,
///                    separated by commas or blanks; lines that start with # are left out
///
/// Files of poses must name every view that is there, and may name others. Error, in one line, for
/// a folder without depth or camera, for images of different size, and for poses that are missing
/// or no rigid motions.
std::vector<RgbdView> read_views_folder(const std::filesystem::path& folder,
                                        const ViewsFolderOptions& options = {});

}  // namespace sextant
