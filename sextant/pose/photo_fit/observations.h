// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sextant/core/error.h"
#include "sextant/pose/photo_observation.h"

namespace sextant::detail::photo_fit {

inline Vec3d centre_of(std::span<const PhotoObservation> observations) {
  Vec3d sum;
  for (const PhotoObservation& o : observations) sum += o.point_m;
  return observations.empty() ? sum : sum / static_cast<double>(observations.size());
}

inline void check_cameras(std::span<const PinholeView> views,
                          std::span<const PhotoObservation> observations, const char* name) {
  for (const PhotoObservation& o : observations) {
    if (o.camera >= 0 && static_cast<std::size_t>(o.camera) < views.size()) continue;
    fail(name, ": an observation is of camera ", o.camera, ", but there are ", views.size());
  }
}

inline bool all_in_front(std::span<const PinholeView> views,
                         std::span<const PhotoObservation> observations, const Rigid3d& pose) {
  for (const PhotoObservation& o : observations) {
    const Rigid3d& camera_from_world = views[static_cast<std::size_t>(o.camera)].camera_from_world;
    if (!((camera_from_world * (pose * o.point_m)).z >= kNearestDepth_m)) return false;
  }
  return true;
}

}  // namespace sextant::detail::photo_fit
