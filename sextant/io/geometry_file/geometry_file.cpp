// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/geometry_file.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "sextant/io/file/byte_source.h"
#include "sextant/io/obj/lines.h"
#include "sextant/io/obj/scene.h"
#include "sextant/io/pcd/header.h"
#include "sextant/io/ply/header.h"
#include "sextant/io/vtk/read.h"
#include "sextant/io/xyz/table.h"

namespace sextant {

namespace {

constexpr std::size_t kRecognisedBytes = 4096;

std::optional<GeometryFormat> format_of_extension(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  if (extension == ".ply") return GeometryFormat::kPly;
  if (extension == ".pcd") return GeometryFormat::kPcd;
  if (extension == ".obj") return GeometryFormat::kObj;
  if (extension == ".vtk") return GeometryFormat::kVtk;
  for (const char* known : {".xyz", ".xyzn", ".xyzrgb", ".pts", ".asc", ".csv", ".txt"}) {
    if (extension == known) return GeometryFormat::kXyz;
  }
  return std::nullopt;
}

std::optional<GeometryFormat> format_of_content(std::string_view start) {
  if (start.starts_with("ply\n") || start.starts_with("ply\r")) return GeometryFormat::kPly;
  if (start.starts_with("# vtk DataFile")) return GeometryFormat::kVtk;
  for (const char* line : {"# .PCD", "VERSION ", "FIELDS "}) {
    if (start.starts_with(line)) return GeometryFormat::kPcd;
  }
  return std::nullopt;
}

/// Texts that say nothing of themselves, for what comes through a pipe.
std::optional<GeometryFormat> format_of_text(std::string_view start) {
  if (detail::obj::begins_with_mesh(start)) return GeometryFormat::kObj;
  if (detail::xyz::begins_with_points(start)) return GeometryFormat::kXyz;
  return std::nullopt;
}

GeometryFormat recognise(FileReader& source) {
  const auto bytes = source.peek(kRecognisedBytes);
  std::string_view start(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (start.starts_with(detail::file::kByteOrderMark)) {
    start.remove_prefix(detail::file::kByteOrderMark.size());
  }
  if (const auto format = format_of_content(start)) return *format;
  if (const auto format = format_of_extension(source.name())) return *format;
  if (const auto format = format_of_text(start)) return *format;
  fail(source.name(), ": is neither PLY, PCD, VTK nor OBJ, nor a text of points");
}

TriangleMesh mesh_of(Cloud cloud) {
  TriangleMesh mesh;
  mesh.vertices = std::move(cloud);
  return mesh;
}

TriangleMesh read(FileReader& any_source, const ReadOptions& options, GeometryFormat& format,
                  detail::file::FileFacts& facts) {
  return detail::file::with_known_size(any_source, [&](FileReader& source) {
    const std::filesystem::path folder = std::filesystem::path(source.name()).parent_path();
    format = recognise(source);
    switch (format) {
      case GeometryFormat::kPly:
        return detail::ply::read_ply(source, &folder, options, &facts);
      case GeometryFormat::kPcd:
        return mesh_of(detail::pcd::read_pcd(source, options, &facts));
      case GeometryFormat::kObj:
        return detail::obj::read_obj(source, &folder, options, &facts);
      case GeometryFormat::kXyz:
        return mesh_of(detail::xyz::read_xyz(source, options, &facts));
      default:
        return detail::vtk::read_vtk(source, options, &facts);
    }
  });
}

template <class Enum, std::size_t N>
Enum encoding_of(const std::filesystem::path& path, std::string_view name, Enum when_empty,
                 const Choice<Enum> (&choices)[N]) {
  if (name.empty()) return when_empty;
  for (const Choice<Enum>& choice : choices) {
    if (choice.name == name) return choice.value;
  }
  std::string known;
  for (const Choice<Enum>& choice : choices) known.append(" ").append(choice.name);
  fail(path.string(), ": the encoding '", name, "' is not one of this format's:", known);
}

std::vector<std::string> write_cloud_only(const std::filesystem::path& path,
                                          const TriangleMesh& mesh, std::string_view encoding) {
  write_pcd(path, mesh.vertices,
            {.encoding = encoding_of(path, encoding, PcdEncoding::kBinary, kPcdEncodings)});
  std::vector<std::string> dropped;
  if (!mesh.triangles.empty()) dropped.emplace_back("triangles");
  if (!mesh.texture_coordinates.empty()) dropped.emplace_back("texture coordinates");
  if (!mesh.corner_normals.empty()) dropped.emplace_back("corner normals");
  if (!mesh.materials.empty()) dropped.emplace_back("materials");
  return dropped;
}

}  // namespace

const char* to_string(GeometryFormat format) {
  switch (format) {
    case GeometryFormat::kPly:
      return "PLY";
    case GeometryFormat::kPcd:
      return "PCD";
    case GeometryFormat::kObj:
      return "OBJ";
    case GeometryFormat::kVtk:
      return "VTK";
    case GeometryFormat::kXyz:
      return "XYZ";
  }
  return "?";
}

TriangleMesh read_geometry(FileReader& source, const ReadOptions& options,
                           std::vector<std::string>* left_out) {
  GeometryFormat format{};
  detail::file::FileFacts facts;
  TriangleMesh mesh = read(source, options, format, facts);
  if (left_out) *left_out = std::move(facts.left_out);
  return mesh;
}

TriangleMesh read_geometry(const std::filesystem::path& path, const ReadOptions& options,
                           std::vector<std::string>* left_out) {
  FileReader source(path);
  return read_geometry(source, options, left_out);
}

std::vector<std::string> write_geometry(const std::filesystem::path& path, const TriangleMesh& mesh,
                                        std::string_view encoding) {
  const std::optional<GeometryFormat> format = format_of_extension(path);
  require(format.has_value() && *format != GeometryFormat::kXyz, path.string(),
          ": cannot be written, the extension is none of .ply, .pcd, .obj and .vtk");
  if (*format == GeometryFormat::kPcd) return write_cloud_only(path, mesh, encoding);
  if (*format == GeometryFormat::kPly) {
    const std::string_view name = encoding == "binary" ? "binary_little_endian" : encoding;
    return write_ply(
        path, mesh,
        {.encoding = encoding_of(path, name, PlyEncoding::kBinaryLittleEndian, kPlyEncodings)});
  }
  require(encoding.empty() || encoding == "ascii", path.string(), ": the encoding '", encoding,
          "' is not one of this format's: ascii");
  return *format == GeometryFormat::kObj ? write_obj(path, mesh) : write_vtk(path, mesh);
}

GeometryInfo geometry_info(const std::filesystem::path& path, const ReadOptions& options) {
  FileReader source(path);
  return geometry_info(source, options);
}

GeometryInfo geometry_info(FileReader& source, const ReadOptions& options) {
  GeometryInfo info;
  detail::file::FileFacts facts;
  const TriangleMesh mesh = read(source, options, info.format, facts);
  info.encoding = std::move(facts.encoding);
  info.comments = std::move(facts.comments);
  info.left_out = std::move(facts.left_out);
  const Cloud& cloud = mesh.vertices;
  info.points = cloud.size();
  info.triangles = mesh.triangles.size();
  if (!cloud.normals.empty()) info.fields.emplace_back("normals");
  if (!cloud.colors.empty()) info.fields.emplace_back("colors");
  if (!mesh.texture_coordinates.empty()) info.fields.emplace_back("texture_coordinates");
  if (!mesh.corner_normals.empty()) info.fields.emplace_back("corner_normals");
  for (const Attribute& attribute : cloud.attributes) info.fields.push_back(attribute.name);
  for (const Material& material : mesh.materials) info.materials.push_back(material.name);
  info.width = cloud.width;
  info.height = cloud.height;
  info.world_from_sensor = cloud.world_from_sensor;
  info.origin_m = cloud.origin_m;
  info.bounds = bounds(Context::cpu(), cloud.points.view());
  const auto points = cloud.points.host();
  info.invalid_points =
      std::count_if(points.begin(), points.end(), [](const Vec3f& p) { return !is_finite(p); });
  return info;
}

}  // namespace sextant
