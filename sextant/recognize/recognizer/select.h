// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/recognize/recognizer/model.h"
#include "sextant/recognize/recognizer/scene.h"
#include "sextant/recognize/recognizer/verified_pose.h"

namespace sextant::detail::recognizer {

/// A pose with its score, and the pixels of the scene frame that it explains.
struct Explanation {
  Detection found;
  double score_among_several = 0;  ///< see VerifiedPose
  bool may_lie_otherwise = false;  ///< another way to lie in this place is as likely
  std::vector<std::int32_t> pixels;

  /// One of a pack, of which `found` tells the whole.
  struct Member {
    Rigid3d camera_from_object;
    SymN<double, 6> covariance;
    VerificationTerms terms;           ///< of this one alone
    std::vector<std::int32_t> pixels;  ///< that this one explains
  };
  std::vector<Member> members;  ///< empty for an object on its own
};

inline constexpr int kSeveral = 2;   ///< of an object, that are found by themselves
inline constexpr int kTogether = 3;  ///< that are found because the others are there

/// Whether a pose may become a detection, by its score among several.
inline bool may_be_told(double score_among_several, double accept) {
  return score_among_several >= accept;
}

/// What is told of a verified pose, without the pixels.
Explanation explanation(const Model& model, const VerifiedPose& verified);

/// A pose that is not sure enough, with the reason.
Detection rejection(const Model& model, const VerifiedPose& verified);

/// From the highest score down: what is sure enough and explains enough that nothing better does is
/// a detection, the rest is rejected with the reason. Of a pack each box that is seen is one.
void select(const SceneFrame& scene, std::span<const Model> models, float accept,
            std::vector<Explanation> pool, Recognition& recognition);

}  // namespace sextant::detail::recognizer
