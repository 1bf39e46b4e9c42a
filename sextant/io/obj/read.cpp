// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "sextant/io/mesh/concave.h"
#include "sextant/io/mesh/corners.h"
#include "sextant/io/obj/scene.h"
#include "sextant/io/points/origin.h"
#include "sextant/io/points/record.h"

namespace sextant {

using namespace detail::obj;

namespace detail::obj {

namespace {

bool names_some(const std::vector<Vec3i>& corners) {
  return std::any_of(corners.begin(), corners.end(),
                     [](const Vec3i& t) { return t.x >= 0 || t.y >= 0 || t.z >= 0; });
}

void build_surface(const std::string& name, ObjScene& scene, TriangleMesh& mesh) {
  const auto vertices = static_cast<std::int64_t>(scene.positions_m.size());
  mesh::cut_concave<double>(scene.fans, scene.positions_m, name, scene.triangles,
                            {&scene.texture_triangles, &scene.normal_triangles});
  if (names_some(scene.texture_triangles)) {
    mesh::set_corners(scene.triangles, vertices, std::move(scene.texture_coordinates),
                      std::move(scene.texture_triangles), mesh.texture_coordinates,
                      mesh.texture_coordinates, mesh.texture_triangles);
  }
  if (names_some(scene.normal_triangles)) {
    mesh::set_corners(scene.triangles, vertices, std::move(scene.normals),
                      std::move(scene.normal_triangles), mesh.vertices.normals, mesh.corner_normals,
                      mesh.normal_triangles);
  }
  mesh.triangles = mesh::to_buffer(std::move(scene.triangles));
}

/// Without faces, normals and texture coordinates can only belong to the vertices in their order.
void build_points(ObjScene& scene, TriangleMesh& mesh) {
  const std::size_t points = scene.positions_m.size();
  if (scene.normals.size() == points)
    mesh.vertices.normals = mesh::to_buffer(std::move(scene.normals));
  if (scene.texture_coordinates.size() == points) {
    mesh.texture_coordinates = mesh::to_buffer(std::move(scene.texture_coordinates));
  }
}

/// Vertices without a colour in a file that has some are white.
Buffer<Rgb8> build_colors(std::span<const Vec3f> levels) {
  if (levels.empty()) return {};
  Buffer<Rgb8> colors = points::colors_of_levels(levels);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (std::isnan(levels[i].x)) colors.data()[i] = {255, 255, 255};
  }
  return colors;
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
    scene.triangles.empty() ? build_points(scene, mesh) : build_surface(source.name(), scene, mesh);
    points::set_points(mesh.vertices, scene.positions_m);
    mesh.vertices.colors = build_colors(scene.color_levels);
    build_materials(scene, folder, mesh);
    if (facts) *facts = {"ascii", std::move(scene.comments), std::move(scene.left_out)};
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
