// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sextant/geometry/camera.h"
#include "sextant/geometry/mesh.h"

namespace sextant::app {

/// What the user names to look for objects in.
struct FrameInput {
  std::vector<std::string> words;   ///< depth maps, clouds, meshes, folders of depth maps
  std::string camera;               ///< of the depth maps
  std::string color;                ///< a picture; of several frames, a folder of pictures
  double unit_m = 0;                ///< of the files; 0: what is usual for them
  std::vector<double> viewpoint_m;  ///< x y z, or nothing: where clouds were seen from
};

/// A frame before it is read.
struct FrameFile {
  std::string file;
  std::string color;       ///< a picture of the same pixels; empty without
  bool is_points = false;  ///< a cloud or mesh, not a depth map
};

struct FrameList {
  std::vector<FrameFile> frames;
  bool several = false;  ///< more than one word, or a folder, however many frames it has
};

/// Looks at what is there, before anything is read: files in the order of the words, those of a
/// folder by their names. Files of a folder that are no depth maps are left out, which is said.
/// Error for what can be no frame, for depth maps without camera, and for options that no frame
/// heeds.
FrameList list_frames(const FrameInput& input);

/// What objects are looked for in, on the host.
struct SeenFrame {
  Camera camera;  ///< without distortion
  Image<float> depth_m;
  Image<Rgb8> color;           ///< of the same pixels; empty without
  bool is_points = false;      ///< whether the frame came as points
  bool has_rows = false;       ///< ... whose order is that of the pixels
  TriangleMesh scene;          ///< the points as they came
  Rigid3d scene_from_camera;   ///< about the scene's origin; the identity for a depth map
  double unit_m = 0;           ///< of a depth map's steps
  std::string unit_from = {};  ///< who says so (DepthMap)
};

/// Reads a frame. Points in the rows of a camera are its depth map; others are seen by a virtual
/// camera, which stands at the viewpoint, or where the file says that the sensor stood, or at the
/// origin. Error where that camera would have most of the points behind it.
SeenFrame read_frame(const FrameInput& input, const FrameFile& frame);

/// The pose of the camera in the coordinates of the file.
Rigid3d file_from_camera(const SeenFrame& frame);

}  // namespace sextant::app
