// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/mesh_health.h"

namespace sextant::detail::mesh_health {

/// What to do with a mesh.
struct Plan {
  std::vector<std::int32_t> place;          ///< for each vertex the one in its place, -1 for a hole
  std::vector<std::int32_t> kept_vertices;  ///< ascending
  std::vector<std::int32_t> kept_triangles;  ///< ascending
  std::vector<char> turned;                  ///< whether each of the kept triangles is turned
};

Plan make_plan(const Context& context, const TriangleMesh& mesh, const MeshHealthOptions& options,
               MeshHealth& health);

/// Carries the plan out.
TriangleMesh rebuilt(const Plan& plan, TriangleMesh mesh);

/// Turns normals to the side of their triangles and makes those anew that are no directions.
void mend_normals(TriangleMesh& mesh, MeshHealth& health);

/// What the numbers mean, in sentences.
std::vector<std::string> remarks_on(const MeshHealth& health, bool has_size);

}  // namespace sextant::detail::mesh_health
