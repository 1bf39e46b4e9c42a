// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/pose/point_to_plane.h"
#include "sextant/recognize/recognizer/poses.h"

namespace sextant::detail::recognizer {

/// Projective point-to-plane ICP: samples are projected into the depth map, and the planes at their
/// pixels draw them in, from a gate of a tenth of the diameter down to 3 %, with Tukey's weights.
Rigid3d refine(const SceneFrame& scene, const Model& model, const Rigid3f& start);

/// One step towards where depths and edges want a pose (compare.h), at most a twentieth of the
/// diameter.
Rigid3d outline_step(const Model& model, const Rigid3d& pose,
                     const PoseEquations<double>& equations);

}  // namespace sextant::detail::recognizer
