// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/mesh/host_parts.h"
#include "sextant/io/points/origin.h"
#include "sextant/io/text/writer.h"
#include "sextant/io/vtk.h"
#include "sextant/io/vtk/numbers.h"

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

std::string_view type_name(detail::points::Scalar type) {
  for (const detail::vtk::TypeName& known : detail::vtk::kTypeNames) {
    if (known.type == type) return known.name;
  }
  return "?";
}

/// One number a point as SCALARS, several as an array of a FIELD.
void put_attribute(TextWriter& text, const std::string& file, const Attribute& attribute) {
  detail::mesh::require_plain_name(file, attribute.name);
  const std::string_view type = type_name(detail::points::type_of(attribute.values));
  const std::int64_t components = attribute.components;
  if (components == 1) {
    text.put("SCALARS ", attribute.name, " ", type, " 1\nLOOKUP_TABLE default\n");
  } else {
    text.put("FIELD FieldData 1\n", attribute.name, " ", components, " ",
             attribute.size() / components, " ", type, "\n");
  }
  std::visit(
      [&](const auto& numbers) {
        std::int64_t column = 0;
        for (const auto number : numbers.host()) {
          // Bytes are numbers, not letters.
          text.put(+number, ++column % components == 0 ? "\n" : " ");
        }
      },
      attribute.values);
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
  if (!mesh.texture_coordinates.empty() && mesh.texture_triangles.empty()) {
    text.put("TEXTURE_COORDINATES texture_coordinates 2 float\n");
    for (const Vec2f& uv : mesh.texture_coordinates.host()) text.put(uv.x, " ", uv.y, "\n");
  }
  for (const Attribute& attribute : cloud.attributes) put_attribute(text, file, attribute);
}

void put_points(TextWriter& text, const Cloud& cloud) {
  const bool shifted = detail::points::has_origin(cloud);
  text.put("POINTS ", cloud.size(), shifted ? " double\n" : " float\n");
  for (const Vec3f& p : cloud.points.host()) {
    if (shifted) {
      const Vec3d q = detail::points::in_file(cloud, p);
      text.put(q.x, " ", q.y, " ", q.z, "\n");
    } else {
      text.put(p.x, " ", p.y, " ", p.z, "\n");
    }
  }
}

}  // namespace

std::vector<std::string> write_vtk(const std::filesystem::path& path, const TriangleMesh& mesh) {
  detail::mesh::require_writable(path, mesh);
  write_file_atomically(path, [&](FileWriter& file) {
    TextWriter text(file);
    text.put("# vtk DataFile Version 3.0\nwritten by Sextant\nASCII\nDATASET POLYDATA\n");
    put_points(text, mesh.vertices);
    put_cells(text, mesh);
    if (mesh.vertices.size() > 0) put_point_data(text, path.string(), mesh);
    text.flush();
  });
  std::vector<std::string> dropped = detail::mesh::shape_and_pose(mesh.vertices);
  if (!mesh.materials.empty()) dropped.emplace_back("materials");
  if (!mesh.texture_triangles.empty()) dropped.emplace_back("texture coordinates of corners");
  if (!mesh.corner_normals.empty()) dropped.emplace_back("corner normals");
  return dropped;
}

}  // namespace sextant
