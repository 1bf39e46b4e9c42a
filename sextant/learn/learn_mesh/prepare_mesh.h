// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sextant/learn/learn_progress.h"
#include "sextant/library/learned_object.h"

namespace sextant::detail::learn {

/// A mesh that can be drawn, and what was found and mended on the way, in words.
struct PreparedMesh {
  TriangleMesh mesh;
  bool both_sides = false;  ///< every triangle is there twice: seeing tells which sides are outside
  std::vector<std::string> remarks;
};

/// Mends a mesh, or makes one of points. Throws Error where there is nothing to draw.
PreparedMesh prepare_mesh(const Context& context, const TriangleMesh& from);

/// Turns all triangles and normals over.
void turn_inside_out(TriangleMesh& mesh);

/// Sets the symmetries of the shape, and of the appearance.
void find_symmetries_of(const Context& context, const LearnProgress& progress,
                        LearnedObject& object);

}  // namespace sextant::detail::learn
