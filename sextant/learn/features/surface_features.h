// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/point_samples.h"
#include "sextant/library/learned_object.h"

namespace sextant::detail::learn {

/// How far a SHOT descriptor looks, which says how far apart the points are that it describes: as
/// far as a sensor's, so that a scene's descriptors are made in the same way.
struct ShotScale {
  float radius_m = 0;
  float leaf_m = 0;  ///< between keypoints
};

/// 15 resolutions of a Kinect at 0.8 m, twice as much for each doubling of the diameter beyond
/// 0.4 m: few different radii serve all objects of a library, since each costs a pass over a scene.
/// A radius that is given is taken instead where it is not 0.
ShotScale shot_scale(double diameter_m, float given_radius_m);

/// SHOT at keypoints of a surface, whose points have outward normals. Keypoints that cannot be
/// described are left out. Deterministic; on the host.
LearnedShot learn_shot(const Context& context, const PointSamples& surface, const ShotScale& scale);

/// The samples for pairs of points: `leaf_share` of the diameter apart.
LearnedSamples learn_samples(const Context& context, const PointSamples& surface, double diameter_m,
                             float leaf_share);

}  // namespace sextant::detail::learn
