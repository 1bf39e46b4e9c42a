// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>

#include "sextant/io/mesh/host_parts.h"
#include "sextant/io/obj/texture_file.h"
#include "sextant/io/ply/header.h"
#include "sextant/io/points/columns.h"
#include "sextant/io/points/origin.h"

namespace sextant {

namespace detail::ply {

namespace {

constexpr std::int64_t kBlockPoints = 8192;

bool has_one_material(const TriangleMesh& mesh) {
  const auto indices = mesh.triangle_materials.host();
  return mesh.materials.size() == 1 &&
         std::all_of(indices.begin(), indices.end(), [](std::int32_t i) { return i == 0; });
}

/// Says what of the materials stays behind.
std::vector<std::string> dropped_materials(const TriangleMesh* mesh) {
  if (!mesh || mesh->materials.empty()) return {};
  if (!has_one_material(*mesh)) return {"materials"};
  if (!(mesh->materials.front().diffuse == Vec3f{1, 1, 1})) return {"diffuse colour"};
  return {};
}

std::string write_texture(const std::filesystem::path& path, const TriangleMesh* mesh) {
  if (!mesh || !has_one_material(*mesh)) return {};
  std::filesystem::path png = path;
  png.replace_filename(path.stem().string() + "_texture.png");
  return obj::save_texture(png, mesh->materials.front());
}

points::PointColumns columns_of(const std::string& file, const Cloud& cloud,
                                const TriangleMesh* mesh) {
  points::PointColumns columns(file, points::Several::kLists);
  columns.add_points(cloud);
  if (!cloud.normals.empty()) columns.add(cloud.normals, "nx", "ny", "nz");
  if (!cloud.colors.empty()) columns.add(cloud.colors, "red", "green", "blue");
  if (mesh && !mesh->texture_coordinates.empty() && mesh->texture_triangles.empty()) {
    columns.add(mesh->texture_coordinates, "texture_u", "texture_v");
  }
  for (const Attribute& attribute : cloud.attributes) columns.add(attribute);
  return columns;
}

/// The faces of a mesh, and the texture coordinates of their corners where they have some.
struct Faces {
  std::span<const Vec3i> triangles;
  std::span<const Vec3i> texture_triangles;
  std::span<const Vec2f> texture_coordinates;

  explicit Faces(const TriangleMesh* mesh) {
    if (!mesh) return;
    triangles = mesh->triangles.host();
    texture_triangles = mesh->texture_triangles.host();
    texture_coordinates = mesh->texture_coordinates.host();
  }
  bool has_texture() const { return !texture_triangles.empty(); }
  std::array<Vec2f, 3> texture(std::size_t triangle) const {
    const Vec3i& t = texture_triangles[triangle];
    const auto at = [&](std::int32_t i) {
      return texture_coordinates[static_cast<std::size_t>(i)];
    };
    return {at(t.x), at(t.y), at(t.z)};
  }
};

void put_property(text::TextWriter& text, const points::Column& column) {
  text.put("property ");
  if (column.count > 1) text.put("list ", ply_name(points::length_type(column)), " ");
  text.put(ply_name(column.type), " ", column.name, "\n");
}

void put_header(text::TextWriter& text, const Cloud& cloud, const points::PointColumns& columns,
                const Faces& faces, const std::string& texture, PlyEncoding encoding) {
  text.put("ply\nformat ", name_of(encoding, kPlyEncodings), " 1.0\n");
  if (cloud.organised()) {
    text.put("comment sextant width ", cloud.width, " height ", cloud.height, "\n");
  }
  const Rigid3d sensor = points::sensor_in_file(cloud);
  if (!mesh::is_identity(sensor)) {
    text.put("comment sextant world_from_sensor");
    for (const double value : mesh::pose_numbers(sensor)) text.put(" ", value);
    text.put("\n");
  }
  if (!texture.empty()) text.put("comment TextureFile ", texture, "\n");
  text.put("element vertex ", cloud.size(), "\n");
  for (const points::Column& column : columns.columns()) put_property(text, column);
  if (!faces.triangles.empty()) {
    text.put("element face ", faces.triangles.size(), "\nproperty list uchar int vertex_indices\n");
    if (faces.has_texture()) text.put("property list uchar float texcoord\n");
  }
  text.put("end_header\n");
  text.flush();
}

void write_text_body(text::TextWriter& text, const points::PointColumns& columns,
                     std::int64_t points, const Faces& faces) {
  for (std::int64_t i = 0; i < points; ++i) {
    columns.put_text(i, text);
    text.put("\n");
  }
  for (std::size_t i = 0; i < faces.triangles.size(); ++i) {
    const Vec3i& t = faces.triangles[i];
    text.put("3 ", t.x, " ", t.y, " ", t.z);
    if (faces.has_texture()) {
      text.put(" 6");
      for (const Vec2f& uv : faces.texture(i)) text.put(" ", uv.x, " ", uv.y);
    }
    text.put("\n");
  }
  text.flush();
}

void write_binary_body(FileWriter& file, const points::PointColumns& columns, std::int64_t points,
                       const Faces& faces, bool swap_bytes) {
  const std::int64_t bytes = columns.bytes_per_point();
  std::vector<std::byte> block(static_cast<std::size_t>(std::min(points, kBlockPoints) * bytes));
  for (std::int64_t first = 0; first < points; first += kBlockPoints) {
    const std::int64_t count = std::min(kBlockPoints, points - first);
    columns.gather(first, count, swap_bytes, block.data());
    file.write(block.data(), static_cast<std::size_t>(count * bytes));
  }
  // A length and its numbers of four bytes each.
  const auto put_list = [&](std::uint8_t length, const auto& numbers) {
    std::byte list[1 + sizeof(numbers)] = {std::byte{length}};
    std::memcpy(list + 1, &numbers, sizeof(numbers));
    for (std::size_t at = 1; swap_bytes && at < sizeof(list); at += 4) {
      std::reverse(list + at, list + at + 4);
    }
    file.write(list, sizeof(list));
  };
  for (std::size_t i = 0; i < faces.triangles.size(); ++i) {
    put_list(3, faces.triangles[i]);
    if (faces.has_texture()) put_list(6, faces.texture(i));
  }
}

std::vector<std::string> write(const std::filesystem::path& path, const Cloud& cloud,
                               const TriangleMesh* mesh, const PlyWriteOptions& options) {
  check_options(options);
  const points::PointColumns columns = columns_of(path.string(), cloud, mesh);
  const std::string texture = write_texture(path, mesh);
  const Faces faces(mesh);
  write_file_atomically(path, [&](FileWriter& file) {
    text::TextWriter text(file);
    put_header(text, cloud, columns, faces, texture, options.encoding);
    if (options.encoding == PlyEncoding::kAscii) {
      write_text_body(text, columns, cloud.size(), faces);
    } else {
      PlyHeader header;
      header.encoding = options.encoding;
      write_binary_body(file, columns, cloud.size(), faces, header.swap_bytes());
    }
  });
  std::vector<std::string> dropped = dropped_materials(mesh);
  if (mesh && !mesh->corner_normals.empty()) dropped.emplace_back("corner normals");
  return dropped;
}

}  // namespace

}  // namespace detail::ply

std::vector<std::string> write_ply(const std::filesystem::path& path, const TriangleMesh& mesh,
                                   const PlyWriteOptions& options) {
  detail::mesh::require_writable(path, mesh);
  return detail::ply::write(path, mesh.vertices, &mesh, options);
}

std::vector<std::string> write_ply(const std::filesystem::path& path, const Cloud& cloud,
                                   const PlyWriteOptions& options) {
  detail::mesh::require_writable(path, cloud);
  return detail::ply::write(path, cloud, nullptr, options);
}

}  // namespace sextant
