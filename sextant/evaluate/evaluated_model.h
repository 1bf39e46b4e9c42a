// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "sextant/geometry/mesh.h"
#include "sextant/geometry/symmetries.h"

namespace sextant {

namespace detail::evaluated_model {
class PointTree;
}

/// An object as errors of poses need it, on the host.
struct EvaluatedModel {
  int object_id = 0;
  TriangleMesh mesh;          ///< what is drawn; made by mesh_points where the model is a cloud
  std::vector<Vec3d> points;  ///< the model's vertices, those farthest from the middle first
  Vec3d middle_m;             ///< of the box around them
  Bounds bounds;
  double diameter_m = 0;
  Symmetries symmetries;
  std::vector<Rigid3d> motions;                                    ///< those of symmetry_motions
  std::shared_ptr<const detail::evaluated_model::PointTree> tree;  ///< over `points`
};

/// Prepares a mesh or cloud on the host, in metres. `diameter_m` of models_info.json, or 0 for the
/// largest distance between two vertices. Error for a model without a finite vertex, and for a
/// cloud whose points make no surface.
EvaluatedModel make_evaluated_model(int object_id, TriangleMesh mesh, const Symmetries& symmetries,
                                    double diameter_m = 0);

}  // namespace sextant
