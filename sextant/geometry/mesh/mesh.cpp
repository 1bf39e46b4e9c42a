// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/mesh.h"

#include <algorithm>

namespace sextant {

namespace {

template <class T>
void require_same_device(const TriangleMesh& mesh, const Buffer<T>& part, const char* name) {
  require(part.empty() || part.device() == mesh.device(), name, ": lies on ",
          to_string(part.device()), ", the vertices on ", to_string(mesh.device()));
}

void check_per_triangle(const TriangleMesh& mesh, std::int64_t size, const char* name) {
  require(size == 0 || size == mesh.triangles.size(), name, ": ", size, " for ",
          mesh.triangles.size(), " triangles");
}

void check_corners(const Buffer<Vec3i>& triangles, std::int64_t count, const char* what) {
  std::int64_t triangle = 0;
  for (const Vec3i& t : triangles.host()) {
    for (const std::int32_t index : {t.x, t.y, t.z}) {
      require(index >= 0 && index < count, "triangle ", triangle, ": ", what, " ", index,
              " is not in 0..", count - 1);
    }
    ++triangle;
  }
}

void check_indices(const TriangleMesh& mesh) {
  check_corners(mesh.triangles, mesh.vertices.size(), "vertex");
  check_corners(mesh.texture_triangles, mesh.texture_coordinates.size(), "texture coordinate");
  check_corners(mesh.normal_triangles, mesh.corner_normals.size(), "corner normal");
  const auto materials = static_cast<std::int32_t>(mesh.materials.size());
  for (const std::int32_t material : mesh.triangle_materials.host()) {
    require(material >= 0 && material < materials, "triangle_materials: ", material,
            " is not in 0..", materials - 1);
  }
}

/// The mesh over vertices that are there already, with each of its own buffers replaced by what
/// `transfer` makes of it.
template <class Transfer>
TriangleMesh moved_parts(const TriangleMesh& from, Cloud vertices, const Transfer& transfer) {
  TriangleMesh to;
  to.vertices = std::move(vertices);
  to.texture_coordinates = transfer(from.texture_coordinates);
  to.texture_triangles = transfer(from.texture_triangles);
  to.corner_normals = transfer(from.corner_normals);
  to.normal_triangles = transfer(from.normal_triangles);
  to.triangles = transfer(from.triangles);
  to.triangle_materials = transfer(from.triangle_materials);
  for (const Material& m : from.materials) {
    to.materials.push_back(
        {m.name, m.diffuse, m.texture_file,
         Image<Rgb8>(transfer(m.texture.pixels()), m.texture.width(), m.texture.height())});
  }
  return to;
}

}  // namespace

void check_mesh(const TriangleMesh& mesh) {
  check_cloud(mesh.vertices);
  require_same_device(mesh, mesh.texture_coordinates, "texture_coordinates");
  require_same_device(mesh, mesh.texture_triangles, "texture_triangles");
  require_same_device(mesh, mesh.corner_normals, "corner_normals");
  require_same_device(mesh, mesh.normal_triangles, "normal_triangles");
  require_same_device(mesh, mesh.triangles, "triangles");
  require_same_device(mesh, mesh.triangle_materials, "triangle_materials");
  require(mesh.texture_coordinates.empty() || !mesh.texture_triangles.empty() ||
              mesh.texture_coordinates.size() == mesh.vertices.size(),
          "texture_coordinates: ", mesh.texture_coordinates.size(), " for ", mesh.vertices.size(),
          " vertices");
  require(mesh.corner_normals.empty() == mesh.normal_triangles.empty(),
          "corner_normals: ", mesh.corner_normals.size(), " with normal_triangles for ",
          mesh.normal_triangles.size(), " triangles");
  check_per_triangle(mesh, mesh.texture_triangles.size(), "texture_triangles");
  check_per_triangle(mesh, mesh.normal_triangles.size(), "normal_triangles");
  check_per_triangle(mesh, mesh.triangle_materials.size(), "triangle_materials");
  if (mesh.device().kind == DeviceKind::kCpu) check_indices(mesh);
}

TriangleMesh copy(const Context& context, const TriangleMesh& from) {
  return moved_parts(from, copy(context, from.vertices),
                     [&](const auto& part) { return copy(context, part); });
}

TriangleMesh to_host(const Context& context, const TriangleMesh& from) {
  return moved_parts(from, to_host(context, from.vertices),
                     [&](const auto& part) { return to_host_buffer(context, part); });
}

Buffer<Vec3f> vertex_normals(const TriangleMesh& mesh) {
  const std::span<const Vec3f> points = mesh.vertices.points.host();
  std::vector<Vec3d> sums(points.size());
  for (const Vec3i& t : mesh.triangles.host()) {
    const std::size_t corners[] = {static_cast<std::size_t>(t.x), static_cast<std::size_t>(t.y),
                                   static_cast<std::size_t>(t.z)};
    const Vec3d p = cast<double>(points[corners[0]]);
    const Vec3d n =
        cross(cast<double>(points[corners[1]]) - p, cast<double>(points[corners[2]]) - p);
    if (!is_finite(n)) continue;
    for (const std::size_t corner : corners) sums[corner] += n;
  }
  Buffer<Vec3f> normals(Context::cpu(), mesh.vertices.size());
  std::transform(sums.begin(), sums.end(), normals.host().begin(), [](const Vec3d& sum) {
    const float nothing = NAN;
    return norm_sq(sum) > 0 ? cast<float>(normalized(sum)) : Vec3f{nothing, nothing, nothing};
  });
  return normals;
}

}  // namespace sextant
