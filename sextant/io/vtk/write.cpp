// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/mesh/host_parts.h"
#include "sextant/io/text/writer.h"
#include "sextant/io/vtk.h"

namespace sextant {

namespace {

using detail::text::TextWriter;

void put_cells(TextWriter& text, const TriangleMesh& mesh) {
  const std::int64_t triangles = mesh.triangles.size(), points = mesh.vertices.size();
  if (triangles > 0) {
    text.put("POLYGONS ", triangles, " ", 4 * triangles, "\n");
    for (const Vec3i& t : mesh.triangles.host()) text.put("3 ", t.x, " ", t.y, " ", t.z, "\n");
  } else if (points > 0) {
    text.put("VERTICES ", points, " ", 2 * points, "\n");
    for (std::int64_t i = 0; i < points; ++i) text.put("1 ", i, "\n");
  }
}

void put_point_data(TextWriter& text, const std::string& file, const TriangleMesh& mesh) {
  const Cloud& cloud = mesh.vertices;
  text.put("POINT_DATA ", cloud.size(), "\n");
  if (!cloud.normals.empty()) text.put("NORMALS normals float\n");
  for (const Vec3f& n : cloud.normals.host()) text.put(n.x, " ", n.y, " ", n.z, "\n");
  if (!cloud.colors.empty()) text.put("COLOR_SCALARS rgb 3\n");
  for (const Rgb8& c : cloud.colors.host()) {
    const auto level = [](int byte) { return static_cast<float>(byte) / 255.0f; };
    text.put(level(c.x), " ", level(c.y), " ", level(c.z), "\n");
  }
  if (!mesh.texture_coordinates.empty()) {
    text.put("TEXTURE_COORDINATES texture_coordinates 2 float\n");
  }
  for (const Vec2f& uv : mesh.texture_coordinates.host()) text.put(uv.x, " ", uv.y, "\n");
  for (const Attribute& attribute : cloud.attributes) {
    detail::mesh::require_plain_name(file, attribute.name);
    text.put("SCALARS ", attribute.name, " float 1\nLOOKUP_TABLE default\n");
    for (const float value : attribute.values.host()) text.put(value, "\n");
  }
}

}  // namespace

std::vector<std::string> write_vtk(const std::filesystem::path& path, const TriangleMesh& mesh) {
  detail::mesh::require_writable(path, mesh);
  write_file_atomically(path, [&](FileWriter& file) {
    TextWriter text(file);
    text.put("# vtk DataFile Version 3.0\nwritten by Sextant\nASCII\nDATASET POLYDATA\n");
    text.put("POINTS ", mesh.vertices.size(), " float\n");
    for (const Vec3f& p : mesh.vertices.points.host()) {
      text.put(p.x, " ", p.y, " ", p.z, "\n");
    }
    put_cells(text, mesh);
    if (mesh.vertices.size() > 0) put_point_data(text, path.string(), mesh);
    text.flush();
  });
  std::vector<std::string> dropped = detail::mesh::shape_and_pose(mesh.vertices);
  if (!mesh.materials.empty()) dropped.emplace_back("materials");
  return dropped;
}

}  // namespace sextant
