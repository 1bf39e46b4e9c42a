// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/mesh_health.h"

#include "sextant/geometry/mesh_health/plan.h"

namespace sextant {

using namespace detail::mesh_health;

bool MeshHealth::watertight() const {
  return parts > 0 && closed_parts == parts && crowded_edges == 0 && broken_triangles == 0 &&
         two_sided_triangles == 0 && turned_triangles == 0 && turned_parts == 0;
}

MendedMesh mend_mesh(const Context& context, TriangleMesh mesh, const MeshHealthOptions& options) {
  check_options(options);
  require(context.is_cpu() && mesh.device().kind == DeviceKind::kCpu,
          "mend_mesh: runs on the host; the context is on ", to_string(context.device()),
          ", the mesh on ", to_string(mesh.device()));
  check_mesh(mesh);
  MendedMesh mended;
  const Plan plan = make_plan(context, mesh, options, mended.health);
  mended.mesh = rebuilt(plan, std::move(mesh));
  mend_normals(mended.mesh, mended.health);
  mended.health.remarks =
      remarks_on(mended.health, bounds(context, mended.mesh.vertices.points).diagonal_m() > 0);
  return mended;
}

MeshHealth examine_mesh(const Context& context, const TriangleMesh& mesh,
                        const MeshHealthOptions& options) {
  return mend_mesh(context, copy(context, mesh), options).health;
}

}  // namespace sextant
