// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/recognize/recognizer/model.h"
#include "sextant/recognize/recognizer/scene.h"
#include "sextant/recognize/recognizer/verified_pose.h"

namespace sextant::detail::recognizer {

/// A pose with its score, and the pixels of the scene frame that it explains.
struct Explanation {
  Detection found;
  std::vector<std::int32_t> pixels;
};

/// What is told of a verified pose, without the pixels.
Explanation explanation(const Model& model, const VerifiedPose& verified);

/// A pose that is not sure enough, with the reason.
Detection rejection(const Model& model, const VerifiedPose& verified);

/// From the highest score down: what is sure enough and explains enough that nothing better does is
/// a detection, the rest is rejected with the reason.
void select(const SceneFrame& scene, float accept, std::vector<Explanation> pool,
            Recognition& recognition);

}  // namespace sextant::detail::recognizer
