// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sextant/pose/point_to_plane.h"
#include "sextant/recognize/recognizer/scene.h"

namespace sextant::detail::recognizer {

inline constexpr int kCropCells = 96;         ///< along a side of what is rendered of a pose
inline constexpr float kOutlineWalk = 0.08f;  ///< of the diameter, across the outline

/// The part of the frame that a pose is compared with: cell (i, j) is the pixel
/// (first_u + stride i, first_v + stride j).
struct Crop {
  int first_u = 0, first_v = 0;
  int stride = 1;
  Camera camera;
};

/// What a comparison is asked for beside the terms.
struct CompareWants {
  bool pixels = false;
  bool equations = false;
};

struct Compared {
  VerificationTerms terms;
  std::vector<std::int32_t> pixels;  ///< of the scene frame that the object supports, ascending
  /// Of a small motion about `centre`: the depths of supported pixels and the places of edges, each
  /// divided by its variance and by how many err together, so that the inverse is a covariance.
  PoseEquations<double> equations;
};

/// Compares one rendered pose with the frame. `centre` is the object's, in the camera's frame.
Compared compare(const SceneFrame& scene, float diameter_m, const Vec3f& centre, const Crop& crop,
                 ImageView<const float> depth_m, ImageView<const Vec3f> normals,
                 const CompareWants& wants);

}  // namespace sextant::detail::recognizer
