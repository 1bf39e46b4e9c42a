// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <variant>

#include "sextant/geometry/mesh_health/plan.h"

namespace sextant::detail::mesh_health {

namespace {

template <class T>
Buffer<T> picked(const Buffer<T>& from, std::span<const std::int32_t> numbers,
                 std::int64_t components = 1) {
  if (from.empty()) return {};
  Buffer<T> to(Context::cpu(), static_cast<std::int64_t>(numbers.size()) * components);
  const auto width = static_cast<std::size_t>(components);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto source = from.host().subspan(static_cast<std::size_t>(numbers[i]) * width, width);
    std::copy(source.begin(), source.end(),
              to.host().begin() + static_cast<std::ptrdiff_t>(i * width));
  }
  return to;
}

Cloud picked(const Cloud& from, std::span<const std::int32_t> numbers) {
  Cloud to;
  to.points = picked(from.points, numbers);
  to.normals = picked(from.normals, numbers);
  to.colors = picked(from.colors, numbers);
  for (const Attribute& attribute : from.attributes) {
    to.attributes.push_back({attribute.name,
                             std::visit(
                                 [&](const auto& values) -> AttributeValues {
                                   return picked(values, numbers, attribute.components);
                                 },
                                 attribute.values),
                             attribute.components});
  }
  to.world_from_sensor = from.world_from_sensor;
  to.origin_m = from.origin_m;
  return to;
}

/// The kept rows of a list of triangles, turned where the plan says so.
Buffer<Vec3i> picked_corners(const Buffer<Vec3i>& from, const Plan& plan) {
  Buffer<Vec3i> to = picked(from, plan.kept_triangles);
  if (to.empty()) return to;
  for (std::size_t i = 0; i < plan.turned.size(); ++i) {
    Vec3i& t = to.host()[i];
    if (plan.turned[i]) std::swap(t.y, t.z);
  }
  return to;
}

/// Whether vertices that became one have different values.
template <class T>
bool has_seams(const Buffer<T>& values, const Plan& plan) {
  const auto v = values.host();
  for (std::size_t i = 0; i < plan.place.size(); ++i) {
    if (plan.place[i] >= 0 && !(v[i] == v[static_cast<std::size_t>(plan.place[i])])) return true;
  }
  return false;
}

bool changes_nothing(const Plan& plan, const TriangleMesh& mesh) {
  return static_cast<std::int64_t>(plan.kept_vertices.size()) == mesh.vertices.size() &&
         static_cast<std::int64_t>(plan.kept_triangles.size()) == mesh.triangles.size() &&
         std::none_of(plan.turned.begin(), plan.turned.end(), [](char turned) { return turned; });
}

/// For each index into the normals the sum of the normals of the triangles that have it, by area.
std::vector<Vec3d> sums_of_normals(const TriangleMesh& mesh, const Buffer<Vec3i>& indices,
                                   std::int64_t normals) {
  std::vector<Vec3d> sums(static_cast<std::size_t>(normals));
  const auto points = mesh.vertices.points.host();
  for (std::size_t i = 0; i < mesh.triangles.host().size(); ++i) {
    const Vec3i& t = mesh.triangles.host()[i];
    const Vec3d p = cast<double>(points[static_cast<std::size_t>(t.x)]);
    const Vec3d n = cross(cast<double>(points[static_cast<std::size_t>(t.y)]) - p,
                          cast<double>(points[static_cast<std::size_t>(t.z)]) - p);
    const Vec3i& at = indices.host()[i];
    for (const std::int32_t k : {at.x, at.y, at.z}) sums[static_cast<std::size_t>(k)] += n;
  }
  return sums;
}

void mend(std::span<Vec3f> normals, std::span<const Vec3d> sums, MeshHealth& health) {
  for (std::size_t i = 0; i < normals.size(); ++i) {
    const Vec3d side = normalized(sums[i]);
    if (!(norm_sq(side) > 0.5)) continue;
    const Vec3d own = normalized(cast<double>(normals[i]));
    if (!is_finite(own) || !(norm_sq(own) > 0.5)) {
      normals[i] = cast<float>(side);
      ++health.new_normals;
    } else if (dot(own, side) < -0.2) {  // at a sharp edge a normal may well be aslant
      normals[i] = -normals[i];
      ++health.turned_normals;
    }
  }
}

}  // namespace

TriangleMesh rebuilt(const Plan& plan, TriangleMesh mesh) {
  if (changes_nothing(plan, mesh)) return mesh;
  const Buffer<Vec3i> given_corners = picked_corners(mesh.triangles, plan);
  TriangleMesh to;
  to.materials = std::move(mesh.materials);
  to.triangle_materials = picked(mesh.triangle_materials, plan.kept_triangles);
  to.texture_triangles = picked_corners(mesh.texture_triangles, plan);
  to.normal_triangles = picked_corners(mesh.normal_triangles, plan);
  if (!to.normal_triangles.empty()) to.corner_normals = std::move(mesh.corner_normals);
  if (!to.texture_triangles.empty()) {
    to.texture_coordinates = std::move(mesh.texture_coordinates);
  } else if (!mesh.texture_coordinates.empty() &&
             mesh.texture_coordinates.size() == mesh.vertices.size()) {
    if (!given_corners.empty() && has_seams(mesh.texture_coordinates, plan)) {
      to.texture_triangles = copy(Context::cpu(), given_corners);
      to.texture_coordinates = std::move(mesh.texture_coordinates);
    } else {
      to.texture_coordinates = picked(mesh.texture_coordinates, plan.kept_vertices);
    }
  }
  if (!mesh.vertices.normals.empty() && to.normal_triangles.empty() && !given_corners.empty() &&
      has_seams(mesh.vertices.normals, plan)) {
    to.normal_triangles = copy(Context::cpu(), given_corners);
    to.corner_normals = std::move(mesh.vertices.normals);
  }
  to.vertices = picked(mesh.vertices, plan.kept_vertices);
  std::vector<std::int32_t> new_number(plan.place.size(), -1);
  for (std::size_t i = 0; i < plan.kept_vertices.size(); ++i) {
    new_number[static_cast<std::size_t>(plan.kept_vertices[i])] = static_cast<std::int32_t>(i);
  }
  const auto renumbered = [&](std::int32_t vertex) {
    return new_number[static_cast<std::size_t>(plan.place[static_cast<std::size_t>(vertex)])];
  };
  to.triangles = copy(Context::cpu(), given_corners);
  if (!to.triangles.empty()) {
    for (Vec3i& t : to.triangles.host()) t = {renumbered(t.x), renumbered(t.y), renumbered(t.z)};
  }
  return to;
}

void mend_normals(TriangleMesh& mesh, MeshHealth& health) {
  if (mesh.triangles.empty()) return;
  if (!mesh.normal_triangles.empty()) {
    mend(mesh.corner_normals.host(),
         sums_of_normals(mesh, mesh.normal_triangles, mesh.corner_normals.size()), health);
  }
  if (!mesh.vertices.normals.empty()) {
    mend(mesh.vertices.normals.host(), sums_of_normals(mesh, mesh.triangles, mesh.vertices.size()),
         health);
  }
}

}  // namespace sextant::detail::mesh_health
