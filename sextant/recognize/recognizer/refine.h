// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/pose/point_to_plane.h"
#include "sextant/recognize/recognizer/poses.h"

namespace sextant::detail::recognizer {

/// What refinement found, with the equations at the end about the object's centre.
struct Refined {
  Rigid3d camera_from_object;
  PoseEquations<double> equations;
  Vec3d centre;  ///< of the object in the camera's frame
};

/// Projective point-to-plane ICP: samples are projected into the depth map, and the planes at their
/// pixels draw them in, from a gate of a tenth of the diameter down to 3 %, with Tukey's weights.
Refined refine(const SceneFrame& scene, const Model& model, const Rigid3f& start);

/// The equations of one pose with the last gate.
PoseEquations<double> pose_equations(const SceneFrame& scene, const Model& model,
                                     const Rigid3d& pose, double gate_m);

}  // namespace sextant::detail::recognizer
