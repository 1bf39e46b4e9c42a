// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sextant/io/mesh/polygons.h"
#include "sextant/io/obj/scene.h"

namespace sextant {

using namespace detail::obj;

namespace detail::obj {

namespace {

template <class T>
Buffer<T> gather(const std::vector<ObjCorner>& vertices, const std::vector<T>& elements,
                 std::int32_t ObjCorner::*index) {
  Buffer<T> gathered(Context::cpu(1), static_cast<std::int64_t>(vertices.size()));
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const std::int32_t element = vertices[i].*index;
    gathered.data()[i] = element < 0 ? T{} : elements[static_cast<std::size_t>(element)];
  }
  return gathered;
}

/// Positions and colours of the vertices behind the last position, copied from those they split.
template <class T>
void append_split(const std::vector<ObjCorner>& vertices, std::vector<T>& elements) {
  const std::size_t positions = elements.size();
  if (positions == 0) return;
  elements.reserve(vertices.size());
  for (std::size_t i = positions; i < vertices.size(); ++i) {
    elements.push_back(elements[static_cast<std::size_t>(vertices[i].vertex)]);
  }
}

void build_surface(ObjScene& scene, TriangleMesh& mesh) {
  const std::vector<ObjCorner>& vertices = scene.vertices;
  const auto is_used = [&](std::int32_t ObjCorner::*index) {
    return std::any_of(vertices.begin(), vertices.end(),
                       [&](const ObjCorner& corner) { return corner.*index >= 0; });
  };
  if (is_used(&ObjCorner::texture)) {
    mesh.texture_coordinates = gather(vertices, scene.texture_coordinates, &ObjCorner::texture);
  }
  if (is_used(&ObjCorner::normal)) {
    mesh.vertices.normals = gather(vertices, scene.normals, &ObjCorner::normal);
  }
  append_split(vertices, scene.positions);
  append_split(vertices, scene.colors);
  mesh.triangles = mesh::to_buffer(std::move(scene.triangles));
}

/// Without faces, normals and texture coordinates can only belong to the vertices in their order.
void build_points(ObjScene& scene, TriangleMesh& mesh) {
  const std::size_t points = scene.positions.size();
  if (scene.normals.size() == points)
    mesh.vertices.normals = mesh::to_buffer(std::move(scene.normals));
  if (scene.texture_coordinates.size() == points) {
    mesh.texture_coordinates = mesh::to_buffer(std::move(scene.texture_coordinates));
  }
}

void build_materials(ObjScene& scene, const std::filesystem::path* folder, TriangleMesh& mesh) {
  const bool some_unnamed =
      std::any_of(scene.triangle_materials.begin(), scene.triangle_materials.end(),
                  [](std::int32_t material) { return material < 0; });
  if (scene.materials.empty()) return;
  for (const std::string& name : scene.materials) {
    Material material;
    material.name = name;
    mesh.materials.push_back(std::move(material));
  }
  if (folder) load_materials(*folder, scene, mesh.materials);
  if (some_unnamed) {
    const auto unnamed = static_cast<std::int32_t>(mesh.materials.size());
    Material material;
    material.name = "default";
    mesh.materials.push_back(std::move(material));
    std::replace(scene.triangle_materials.begin(), scene.triangle_materials.end(), -1, unnamed);
  }
  if (mesh.materials.size() > 1) {
    mesh.triangle_materials = mesh::to_buffer(std::move(scene.triangle_materials));
  }
}

}  // namespace

TriangleMesh read_obj(FileReader& any_source, const std::filesystem::path* folder,
                      const ReadOptions& options, file::FileFacts* facts) {
  check_options(options);
  return file::with_known_size(any_source, [&](FileReader& source) {
    file::ReadProgress progress(options.progress, source.size().value());
    ObjScene scene = parse_obj(source, options.unit_m, progress);
    TriangleMesh mesh;
    scene.triangles.empty() ? build_points(scene, mesh) : build_surface(scene, mesh);
    mesh.vertices.points = mesh::to_buffer(std::move(scene.positions));
    mesh.vertices.colors = mesh::to_buffer(std::move(scene.colors));
    build_materials(scene, folder, mesh);
    if (facts) *facts = {"ascii", std::move(scene.comments)};
    progress.finish();
    return mesh;
  });
}

}  // namespace detail::obj

TriangleMesh read_obj(const std::filesystem::path& path, const ReadOptions& options) {
  FileReader source(path);
  const std::filesystem::path folder = path.parent_path();
  return read_obj(source, &folder, options);
}

TriangleMesh read_obj(std::span<const std::byte> file, const std::string& name,
                      const ReadOptions& options) {
  FileReader source(file, name);
  return read_obj(source, nullptr, options);
}

}  // namespace sextant
