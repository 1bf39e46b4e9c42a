// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/recognize/recognizer/model.h"
#include "sextant/recognize/recognizer/scene.h"

namespace sextant::detail::recognizer {

/// A pose of an object and how good it is thought to be.
struct Hypothesis {
  Rigid3f camera_from_object;
  float quality = 0;
  float votes = 0;  ///< of all that are the same
};

/// How two poses of an object differ, modulo its symmetries: by the distance of its centre, and by
/// the least angle over the motions that carry it onto itself.
bool same_pose(const Model& model, const Rigid3f& a, const Rigid3f& b, float distance_m,
               float angle_rad);

/// Joins poses from the best down, each to the first better one that is the same within the limits,
/// which gets its votes. Keeps the order of quality, then of the input.
std::vector<Hypothesis> cluster(const Model& model, std::vector<Hypothesis> poses, float distance_m,
                                float angle_rad);

/// The share of the object's samples on the side of the camera that the frame shows, less half of
/// those that it sees through: between -0.5 and 1. Every `step`-th sample is asked.
float visible_agreement(const SceneFrame& scene, const Model& model, const Rigid3f& pose, int step);

}  // namespace sextant::detail::recognizer
