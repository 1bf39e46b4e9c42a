// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "sextant/io/mesh/host_parts.h"
#include "sextant/io/obj.h"
#include "sextant/io/obj/texture_file.h"
#include "sextant/io/points/origin.h"
#include "sextant/io/text/scanner.h"
#include "sextant/io/text/writer.h"

namespace sextant {

using namespace detail::obj;

namespace {

using detail::text::TextWriter;

/// Returns a material's name as it can stand on a line, never empty.
std::string name_on_line(const Material& material, std::size_t number) {
  require(material.name.find('\n') == std::string::npos, "the material '",
          detail::text::shown(material.name), "' has a line break in its name");
  return material.name.empty() ? "material_" + std::to_string(number) : material.name;
}

void put_vertices(TextWriter& text, const TriangleMesh& mesh) {
  const Cloud& cloud = mesh.vertices;
  const auto colors = cloud.colors.host();
  std::size_t i = 0;
  const bool shifted = detail::points::has_origin(cloud);
  for (const Vec3f& p : cloud.points.host()) {
    if (shifted) {
      const Vec3d q = detail::points::in_file(cloud, p);
      text.put("v ", q.x, " ", q.y, " ", q.z);
    } else {
      text.put("v ", p.x, " ", p.y, " ", p.z);
    }
    if (!colors.empty()) {
      const Rgb8& c = colors[i++];
      for (const int level : {c.x, c.y, c.z}) {
        text.put(" ", static_cast<float>(level) / 255.0f);
      }
    }
    text.put("\n");
  }
  for (const Vec2f& uv : mesh.texture_coordinates.host()) {
    text.put("vt ", uv.x, " ", uv.y, "\n");
  }
  const bool seams = !mesh.corner_normals.empty();
  for (const Vec3f& n : (seams ? mesh.corner_normals : cloud.normals).host()) {
    text.put("vn ", n.x, " ", n.y, " ", n.z, "\n");
  }
}

/// One corner of a face; null for what it does not have.
void put_corner(TextWriter& text, std::int32_t vertex, const std::int32_t* texture,
                const std::int32_t* normal) {
  const auto number = [](std::int32_t index) { return std::int64_t{index} + 1; };
  text.put(" ", number(vertex));
  if (texture || normal) text.put("/");
  if (texture) text.put(number(*texture));
  if (normal) text.put("/", number(*normal));
}

/// Which elements of a list the corners of all triangles have: those of their vertices, or others.
const Vec3i* corners_of(const TriangleMesh& mesh, bool present, const Buffer<Vec3i>& seams) {
  if (!present) return nullptr;
  return seams.empty() ? mesh.triangles.data() : seams.data();
}

void put_faces(TextWriter& text, const TriangleMesh& mesh) {
  const auto materials = mesh.triangle_materials.host();
  const Vec3i* textures =
      corners_of(mesh, !mesh.texture_coordinates.empty(), mesh.texture_triangles);
  const Vec3i* normals = corners_of(
      mesh, !mesh.corner_normals.empty() || !mesh.vertices.normals.empty(), mesh.normal_triangles);
  std::int32_t Vec3i::*const corners[] = {&Vec3i::x, &Vec3i::y, &Vec3i::z};
  std::int32_t current = -1;
  const auto triangles = mesh.triangles.host();
  for (std::size_t i = 0; i < triangles.size(); ++i) {
    const std::int32_t material = materials.empty() ? 0 : materials[i];
    if (!mesh.materials.empty() && material != current) {
      current = material;
      const auto number = static_cast<std::size_t>(material);
      text.put("usemtl ", name_on_line(mesh.materials[number], number), "\n");
    }
    text.put("f");
    for (std::int32_t Vec3i::*corner : corners) {
      put_corner(text, triangles[i].*corner, textures ? &(textures[i].*corner) : nullptr,
                 normals ? &(normals[i].*corner) : nullptr);
    }
    text.put("\n");
  }
}

void write_materials(const std::filesystem::path& path, const TriangleMesh& mesh) {
  std::filesystem::path mtl = path;
  mtl.replace_extension(".mtl");
  std::vector<std::string> textures;
  for (std::size_t i = 0; i < mesh.materials.size(); ++i) {
    std::filesystem::path png = path;
    png.replace_filename(path.stem().string() + "_" + std::to_string(i) + ".png");
    textures.push_back(save_texture(png, mesh.materials[i]));
  }
  write_file_atomically(mtl, [&](FileWriter& file) {
    TextWriter text(file);
    for (std::size_t i = 0; i < mesh.materials.size(); ++i) {
      const Vec3f& c = mesh.materials[i].diffuse;
      text.put("newmtl ", name_on_line(mesh.materials[i], i), "\n");
      text.put("Kd ", c.x, " ", c.y, " ", c.z, "\n");
      if (!textures[i].empty()) text.put("map_Kd ", textures[i], "\n");
    }
    text.flush();
  });
}

std::vector<std::string> dropped_parts(const TriangleMesh& mesh) {
  std::vector<std::string> dropped = detail::mesh::shape_and_pose(mesh.vertices);
  for (const Attribute& attribute : mesh.vertices.attributes) {
    dropped.push_back("attribute " + attribute.name);
  }
  return dropped;
}

}  // namespace

std::vector<std::string> write_obj(const std::filesystem::path& path, const TriangleMesh& mesh) {
  detail::mesh::require_writable(path, mesh);
  if (!mesh.materials.empty()) write_materials(path, mesh);
  write_file_atomically(path, [&](FileWriter& file) {
    TextWriter text(file);
    if (!mesh.materials.empty()) {
      text.put("mtllib ", path.stem().string(), ".mtl\n");
    }
    put_vertices(text, mesh);
    put_faces(text, mesh);
    text.flush();
  });
  return dropped_parts(mesh);
}

}  // namespace sextant
