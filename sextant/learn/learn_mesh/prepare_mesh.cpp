// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/learn_mesh/prepare_mesh.h"

#include <utility>

#include "sextant/geometry/mesh_health.h"
#include "sextant/learn/learn_mesh/prepare_points.h"
#include "sextant/surface/symmetries.h"

namespace sextant::detail::learn {

PreparedMesh prepare_mesh(const Context& context, const TriangleMesh& from) {
  require(from.device().kind == DeviceKind::kCpu, "mesh: lies on ", to_string(from.device()),
          "; learning needs it on the host");
  check_mesh(from);
  if (from.triangles.empty()) return prepare_points(context, from.vertices);
  MendedMesh mended = mend_mesh(context, copy(context, from));
  // What holds no surface may still be the points of one.
  if (mended.mesh.triangles.empty()) {
    PreparedMesh prepared = prepare_points(context, from.vertices);
    prepared.remarks.emplace_back("No triangle has an area.");
    return prepared;
  }
  return {std::move(mended.mesh), false, std::move(mended.health.remarks)};
}

void turn_inside_out(TriangleMesh& mesh) {
  for (Vec3i& t : mesh.triangles.host()) std::swap(t.y, t.z);
  for (Vec3i& t : mesh.texture_triangles.host()) std::swap(t.y, t.z);
  for (Vec3i& t : mesh.normal_triangles.host()) std::swap(t.y, t.z);
  for (Vec3f& n : mesh.vertices.normals.host()) n = n * -1.0f;
  for (Vec3f& n : mesh.corner_normals.host()) n = n * -1.0f;
}

void find_symmetries_of(const Context& context, const LearnProgress& progress,
                        LearnedObject& object) {
  const auto shown = [&](std::int64_t done, std::int64_t total) {
    return !progress || progress("symmetries", done, total);
  };
  FoundSymmetries found = find_symmetries(context, object.mesh, {}, shown);
  object.shape_symmetries = std::move(found.shape);
  object.appearance_symmetries = std::move(found.appearance);
}

}  // namespace sextant::detail::learn
