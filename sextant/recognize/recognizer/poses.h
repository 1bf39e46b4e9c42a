// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/recognize/recognizer/model.h"
#include "sextant/recognize/recognizer/poses_math.h"
#include "sextant/recognize/recognizer/scene.h"

namespace sextant::detail::recognizer {

/// A pose of an object and how good it is thought to be.
struct Hypothesis {
  Rigid3f camera_from_object;
  float quality = 0;
  float votes = 0;  ///< of all that are the same
};

/// Whether two poses of an object are the same within the limits.
bool is_same_pose(const Model& model, const Rigid3f& a, const Rigid3f& b, float distance_m,
                  float angle_rad);

/// Joins poses from the best down, each to the first better one that is the same within the limits,
/// which gets its votes. Keeps the order of quality, then of the input.
std::vector<Hypothesis> cluster(const Model& model, std::vector<Hypothesis> poses, float distance_m,
                                float angle_rad);

}  // namespace sextant::detail::recognizer
