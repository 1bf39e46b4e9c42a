// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sextant/descriptor/tensor.h"
#include "sextant/geometry/camera.h"
#include "sextant/geometry/mesh.h"
#include "sextant/geometry/symmetries.h"

namespace sextant {

/// Where an object came from, so that anyone can learn it again.
struct ObjectSource {
  std::string kind;                  ///< "mesh", "views", "photographs"
  std::string file;                  ///< name of the file or folder, without its path
  std::string sha256;                ///< of what was read
  double unit_m = 1;                 ///< one unit of the file in metres
  std::string options;               ///< what it was learned with, as a JSON object
  std::vector<std::string> remarks;  ///< what was found and mended, in words for the user
};

/// A view from which the object was learned.
struct LearnedView {
  Camera camera;
  Rigid3d camera_from_object;
};

/// Points of the surface with normals as a sensor sees them, for voting with pairs of points and
/// for refining poses.
struct LearnedSamples {
  float leaf_m = 0;       ///< how far they lie apart
  Buffer<Vec3f> points;   ///< in the object's frame
  Buffer<Vec3f> normals;  ///< of unit length, outwards
};

/// SHOT at points of the surface.
struct LearnedShot {
  float radius_m = 0;
  int length = 0;        ///< numbers of a descriptor
  Buffer<Vec3f> points;  ///< in the object's frame
  Buffer<Vec3f> frames;  ///< 3 a point, the axes x, y and z in the object's frame
  Buffer<float> values;  ///< points × length
};

/// Tensors of views, with their frames brought into the object's frame.
struct LearnedTensors {
  float resolution_m = 0;      ///< of the surfaces that they were made of
  TensorSet set;               ///< packed, on the host
  Buffer<std::int32_t> views;  ///< from which of the object's views each is
};

/// Features of photographs: what MOPED matches.
struct LearnedAppearance {
  Buffer<Vec3f> points;              ///< in the object's frame
  Buffer<std::uint8_t> descriptors;  ///< 128 bytes a point
};

/// What comparisons with frames of clutter said of the poses that looked most like the object
/// though it was not there: how easily other things pass for it.
struct LearnedLookalikes {
  int length = 0;       ///< numbers of a pose
  int frame_poses = 0;  ///< poses of a frame: the best of the object, then of packs of it
  Buffer<float> terms;  ///< frames × frame_poses × length; NaN where a frame has fewer poses
};

/// What a library knows of one object, in host memory. Parts that were not learned are empty. The
/// object's frame is that of the file or views it came from, in metres.
struct LearnedObject {
  std::string name;  ///< unique in its library
  int bop_id = 0;    ///< number of the object in a BOP data set; 0 for none
  ObjectSource source;
  TriangleMesh mesh;                 ///< triangles where they are known, else a cloud with normals
  double diameter_m = 0;             ///< largest distance between two of its points
  Symmetries shape_symmetries;       ///< of the geometry
  Symmetries appearance_symmetries;  ///< those that the colours have too
  std::vector<LearnedView> views;
  LearnedSamples samples;
  LearnedShot shot;
  LearnedTensors tensors;
  LearnedAppearance appearance;
  LearnedLookalikes lookalikes;
};

}  // namespace sextant
