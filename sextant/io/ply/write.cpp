// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "sextant/io/mesh/host_parts.h"
#include "sextant/io/obj/texture_file.h"
#include "sextant/io/ply/header.h"
#include "sextant/io/points/columns.h"

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
  points::PointColumns columns(file);
  columns.add(cloud.points, "x", "y", "z");
  if (!cloud.normals.empty()) columns.add(cloud.normals, "nx", "ny", "nz");
  if (!cloud.colors.empty()) columns.add(cloud.colors, "red", "green", "blue");
  if (mesh && !mesh->texture_coordinates.empty()) {
    columns.add(mesh->texture_coordinates, "texture_u", "texture_v");
  }
  columns.add(cloud.attributes);
  return columns;
}

void put_header(text::TextWriter& text, const Cloud& cloud, const points::PointColumns& columns,
                std::int64_t triangles, const std::string& texture, PlyEncoding encoding) {
  text.put("ply\nformat ", name_of(encoding, kPlyEncodings), " 1.0\n");
  if (cloud.organised()) {
    text.put("comment sextant width ", cloud.width, " height ", cloud.height, "\n");
  }
  if (!mesh::is_identity(cloud.world_from_sensor)) {
    text.put("comment sextant world_from_sensor");
    for (const double value : mesh::pose_numbers(cloud.world_from_sensor)) text.put(" ", value);
    text.put("\n");
  }
  if (!texture.empty()) text.put("comment TextureFile ", texture, "\n");
  text.put("element vertex ", cloud.size(), "\n");
  for (const points::Column& column : columns.columns()) {
    text.put("property ", ply_name(column.type), " ", column.name, "\n");
  }
  if (triangles > 0) {
    text.put("element face ", triangles, "\nproperty list uchar int vertex_indices\n");
  }
  text.put("end_header\n");
  text.flush();
}

void write_text_body(text::TextWriter& text, const points::PointColumns& columns,
                     std::int64_t points, std::span<const Vec3i> triangles) {
  for (std::int64_t i = 0; i < points; ++i) {
    columns.put_text(i, text);
    text.put("\n");
  }
  for (const Vec3i& t : triangles) text.put("3 ", t.x, " ", t.y, " ", t.z, "\n");
  text.flush();
}

void write_binary_body(FileWriter& file, const points::PointColumns& columns, std::int64_t points,
                       std::span<const Vec3i> triangles, bool swap_bytes) {
  const std::int64_t bytes = columns.bytes_per_point();
  std::vector<std::byte> block(static_cast<std::size_t>(std::min(points, kBlockPoints) * bytes));
  for (std::int64_t first = 0; first < points; first += kBlockPoints) {
    const std::int64_t count = std::min(kBlockPoints, points - first);
    columns.gather(first, count, swap_bytes, block.data());
    file.write(block.data(), static_cast<std::size_t>(count * bytes));
  }
  for (const Vec3i& triangle : triangles) {
    std::byte face[13] = {std::byte{3}};
    std::memcpy(face + 1, &triangle, sizeof(triangle));
    if (swap_bytes) {
      for (std::byte* index = face + 1; index != face + 13; index += 4) {
        std::reverse(index, index + 4);
      }
    }
    file.write(face, sizeof(face));
  }
}

std::vector<std::string> write(const std::filesystem::path& path, const Cloud& cloud,
                               const TriangleMesh* mesh, const PlyWriteOptions& options) {
  check_options(options);
  const points::PointColumns columns = columns_of(path.string(), cloud, mesh);
  const std::string texture = write_texture(path, mesh);
  const auto triangles = mesh ? mesh->triangles.host() : std::span<const Vec3i>();
  write_file_atomically(path, [&](FileWriter& file) {
    text::TextWriter text(file);
    put_header(text, cloud, columns, static_cast<std::int64_t>(triangles.size()), texture,
               options.encoding);
    if (options.encoding == PlyEncoding::kAscii) {
      write_text_body(text, columns, cloud.size(), triangles);
    } else {
      PlyHeader header;
      header.encoding = options.encoding;
      write_binary_body(file, columns, cloud.size(), triangles, header.swap_bytes());
    }
  });
  return dropped_materials(mesh);
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
