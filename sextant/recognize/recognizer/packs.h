// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/recognize/recognizer/body_verifier.h"
#include "sextant/recognize/recognizer/select.h"

// Boxes that stand side by side without a gap: depth shows where the whole ends, not where one
// begins. They are told by that: rows of whole boxes fill the measured faces from edge to edge.

namespace sextant::detail::recognizer {

/// Packs of the objects that are boxes, as bodies whose numbers follow those of the objects.
struct PackBodies {
  std::vector<ModelView> views;
  std::vector<TriangleMesh> meshes;
  std::vector<std::int32_t> first;  ///< of each object's; -1 where it is no box
};
PackBodies make_pack_bodies(std::span<const Model> models);

/// Adds the packs that fill measured faces about poses of boxes to a pool of explanations. `first`
/// is that of PackBodies. Packs that fill the same place in different ways doubt each other.
void add_packs(std::span<const Model> models, std::span<const std::int32_t> first,
               std::span<const ObjectPose> poses, const SceneFrame& scene, float accept,
               BodyVerifier& verifier, std::vector<Explanation>& pool);

}  // namespace sextant::detail::recognizer
