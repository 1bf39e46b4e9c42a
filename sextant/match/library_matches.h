// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/point_samples.h"
#include "sextant/descriptor/view_tensors.h"
#include "sextant/library/resident.h"
#include "sextant/match/descriptors.h"
#include "sextant/match/tensors.h"

namespace sextant {

/// A place of a scene that resembles a place of an object. Both have a frame, so that one match
/// alone says where the object would be.
struct LibraryMatch {
  std::int32_t object = -1;   ///< place in ResidentLibrary::objects
  std::int32_t scene = -1;    ///< which descriptor of the scene, counted from 0 over all scales
  std::int32_t model = -1;    ///< which descriptor of the object
  float score = 0;            ///< SHOT: distance of the descriptors; tensors: their score
  Vec3f scene_m;              ///< where in the scene
  Vec3f model_m;              ///< where in the object's frame
  Rigid3f scene_from_object;  ///< that carries the model's frame to the scene's
};

/// How many descriptors of the scene were compared, and what they match, in ascending order of
/// scene and then of object.
struct LibraryMatches {
  std::int64_t described = 0;
  std::vector<LibraryMatch> matches;
};

struct ShotMatchOptions {
  DescriptorMatchOptions match;
  float leaf_radii = 1.0f / 3;  ///< distance of the scene's keypoints, in radii

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    DescriptorMatchOptions::fields(self.match, visit);
    visit("leaf_radii", self.leaf_radii, "distance of keypoints in radii of SHOT",
          Range{0.01, 100});
  }
};

/// Matches SHOT of a scene with that of each object by itself: the second neighbour of the ratio
/// test is of the same object. For each radius of the library, the scene is described with it as
/// even_shot does. Points and normals lie in host memory; a point without normal is left out.
/// The matches are in host memory. Waits for the device.
LibraryMatches match_library_shot(const Context& context, const ResidentLibrary& library,
                                  View<const Vec3f> points, View<const Vec3f> normals,
                                  const ShotMatchOptions& options = {});

/// The same of a mesh in host memory, with or without normals: it is mended (mend_mesh), and the
/// points that are described lie on its triangles as even_shot_points lays them, as in learning.
/// Throws Error where it is so large that more than 5 million points are needed. Nothing is
/// described of a mesh whose triangles have no area.
LibraryMatches match_library_shot(const Context& context, const ResidentLibrary& library,
                                  const TriangleMesh& mesh, const ShotMatchOptions& options = {});

/// The points of a mesh that match_library_shot describes for a radius; none where its triangles
/// have no area.
PointSamples library_shot_points(const Context& context, const TriangleMesh& mesh, float radius_m);

/// Matches tensors of a depth view with those of all objects together: up to k for each. For each
/// resolution of the library, the view is described with it as view_tensors does. Waits for the
/// device.
LibraryMatches match_library_tensors(const Context& context, const ResidentLibrary& library,
                                     ImageView<const float> depth_m, const Camera& camera,
                                     const ViewTensorOptions& view = {},
                                     const TensorMatchOptions& options = {});

}  // namespace sextant
