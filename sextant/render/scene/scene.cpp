// SPDX-License-Identifier: Apache-2.0
#include "sextant/render/scene.h"

#include <array>

namespace sextant {

namespace {

using detail::SceneMaterial;
using detail::SceneMesh;

/// The arrays of a scene while they are put together on the host.
struct HostScene {
  std::vector<Vec3f> vertices, normals;
  std::vector<Rgb8> colors;
  std::vector<Vec2f> texture_coordinates;
  std::vector<Vec3i> triangles;
  std::vector<std::int32_t> triangle_materials;
  std::vector<SceneMaterial> materials;
  std::vector<Rgb8> texels;
  std::vector<SceneMesh> meshes;
};

/// Appends the elements and returns where they begin, or -1 when there are none.
template <class T>
std::int64_t append(const Context& context, const Buffer<T>& part, std::vector<T>& all) {
  if (part.empty()) return -1;
  const auto first = static_cast<std::int64_t>(all.size());
  all.resize(all.size() + static_cast<std::size_t>(part.size()));
  copy<T>(context, part.view(),
          view_of(std::span<T>(all).subspan(static_cast<std::size_t>(first))));
  return first;
}

void append_material(const Context& context, const Material& material, HostScene& scene) {
  SceneMaterial entry;
  entry.diffuse = material.diffuse;
  if (!material.texture.empty()) {
    entry.texture_width = material.texture.width();
    entry.texture_height = material.texture.height();
    entry.first_texel = append(context, material.texture.pixels(), scene.texels);
  }
  scene.materials.push_back(entry);
}

/// `check_mesh` sees the indices of host meshes only; here every mesh is on the host.
void check_indices(const HostScene& scene, const SceneMesh& mesh, std::size_t number,
                   std::int64_t vertices, std::size_t materials) {
  for (std::uint32_t i = 0; i < mesh.triangle_count; ++i) {
    const Vec3i& t = scene.triangles[static_cast<std::size_t>(mesh.first_triangle) + i];
    for (const std::int32_t index : {t.x, t.y, t.z}) {
      require(index >= 0 && index < vertices, "meshes[", number, "]: triangle ", i,
              " names vertex ", index, " of ", vertices);
    }
    if (mesh.first_triangle_material < 0) continue;
    const std::int32_t material =
        scene.triangle_materials[static_cast<std::size_t>(mesh.first_triangle_material) + i];
    require(material >= 0 && static_cast<std::size_t>(material) < materials, "meshes[", number,
            "]: triangle ", i, " names material ", material, " of ", materials);
  }
}

/// Appends what the corners of the triangles have, `count` of which there are, and returns where
/// it begins: at the triangles themselves where the corners have what their vertices have.
std::int64_t append_seams(const Context& context, const Buffer<Vec3i>& corners, std::int64_t count,
                          std::size_t number, const SceneMesh& mesh, HostScene& scene) {
  if (corners.empty()) return mesh.first_triangle;
  const std::int64_t first = append(context, corners, scene.triangles);
  for (std::uint32_t i = 0; i < mesh.triangle_count; ++i) {
    const Vec3i& t = scene.triangles[static_cast<std::size_t>(first) + i];
    for (const std::int32_t index : {t.x, t.y, t.z}) {
      require(index >= 0 && index < count, "meshes[", number, "]: triangle ", i,
              " has at a corner number ", index, " of ", count,
              " texture coordinates or corner normals");
    }
  }
  return first;
}

void append_mesh(const Context& context, const TriangleMesh& mesh, std::size_t number,
                 HostScene& scene) {
  try {
    check_mesh(mesh);
  } catch (const Error& error) {
    fail("meshes[", number, "]: ", error.what());
  }
  require(mesh.triangles.size() < UINT32_MAX, "meshes[", number, "]: ", mesh.triangles.size(),
          " triangles; split the mesh below 2^32 - 1");
  SceneMesh entry;
  entry.first_vertex =
      std::max<std::int64_t>(0, append(context, mesh.vertices.points, scene.vertices));
  const bool normal_seams = !mesh.normal_triangles.empty();
  entry.first_normal =
      append(context, normal_seams ? mesh.corner_normals : mesh.vertices.normals, scene.normals);
  entry.first_color = append(context, mesh.vertices.colors, scene.colors);
  entry.first_texture_coordinate =
      append(context, mesh.texture_coordinates, scene.texture_coordinates);
  entry.first_triangle =
      std::max<std::int64_t>(0, append(context, mesh.triangles, scene.triangles));
  entry.triangle_count = static_cast<std::uint32_t>(mesh.triangles.size());
  entry.first_triangle_material =
      append(context, mesh.triangle_materials, scene.triangle_materials);
  entry.first_material = static_cast<std::int32_t>(scene.materials.size());
  check_indices(scene, entry, number, mesh.vertices.size(), mesh.materials.size());
  entry.first_normal_triangle = append_seams(context, mesh.normal_triangles,
                                             mesh.corner_normals.size(), number, entry, scene);
  entry.first_texture_triangle = append_seams(
      context, mesh.texture_triangles, mesh.texture_coordinates.size(), number, entry, scene);
  if (mesh.materials.empty()) scene.materials.push_back({});
  for (const Material& material : mesh.materials) append_material(context, material, scene);
  scene.meshes.push_back(entry);
}

}  // namespace

RenderScene::RenderScene(const Context& context, std::span<const TriangleMesh* const> meshes)
    : device_(context.device()) {
  HostScene scene;
  for (std::size_t i = 0; i < meshes.size(); ++i) {
    require(meshes[i] != nullptr, "meshes[", i, "]: is null");
    append_mesh(context, *meshes[i], i, scene);
    triangle_counts_.push_back(scene.meshes.back().triangle_count);
  }
  vertices_ = copy(context, scene.vertices);
  normals_ = copy(context, scene.normals);
  colors_ = copy(context, scene.colors);
  texture_coordinates_ = copy(context, scene.texture_coordinates);
  triangles_ = copy(context, scene.triangles);
  triangle_materials_ = copy(context, scene.triangle_materials);
  materials_ = copy(context, scene.materials);
  texels_ = copy(context, scene.texels);
  meshes_ = copy(context, scene.meshes);
  context.synchronize();  // the vectors above are the source of the copies
}

RenderScene::RenderScene(const Context& context, const TriangleMesh& mesh)
    : RenderScene(context, std::array{&mesh}) {}

detail::SceneView RenderScene::view() const {
  return {vertices_.data(),  normals_.data(),
          colors_.data(),    texture_coordinates_.data(),
          triangles_.data(), triangle_materials_.data(),
          materials_.data(), texels_.data(),
          meshes_.data(),    static_cast<std::int32_t>(triangle_counts_.size())};
}

}  // namespace sextant
