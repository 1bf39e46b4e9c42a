// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/geometry_file.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "sextant/io/file/byte_source.h"
#include "sextant/io/obj/scene.h"
#include "sextant/io/pcd/header.h"
#include "sextant/io/ply/header.h"
#include "sextant/io/vtk/read.h"

namespace sextant {

namespace {

constexpr std::size_t kRecognisedBytes = 64;

std::optional<GeometryFormat> format_of_extension(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  if (extension == ".ply") return GeometryFormat::kPly;
  if (extension == ".pcd") return GeometryFormat::kPcd;
  if (extension == ".obj") return GeometryFormat::kObj;
  if (extension == ".vtk") return GeometryFormat::kVtk;
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

GeometryFormat recognise(FileReader& source, const std::filesystem::path& path) {
  const auto bytes = source.peek(kRecognisedBytes);
  const std::string_view start(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (const auto format = format_of_content(start)) return *format;
  if (const auto format = format_of_extension(path)) return *format;
  fail(path.string(), ": is neither PLY, PCD nor VTK, and its extension is not .obj");
}

TriangleMesh mesh_of(Cloud cloud) {
  TriangleMesh mesh;
  mesh.vertices = std::move(cloud);
  return mesh;
}

TriangleMesh read(const std::filesystem::path& path, const ReadOptions& options,
                  GeometryFormat& format, detail::file::FileFacts& facts) {
  FileReader any_source(path);
  return detail::file::with_known_size(any_source, [&](FileReader& source) {
    const std::filesystem::path folder = path.parent_path();
    format = recognise(source, path);
    switch (format) {
      case GeometryFormat::kPly:
        return detail::ply::read_ply(source, &folder, options, &facts);
      case GeometryFormat::kPcd:
        return mesh_of(detail::pcd::read_pcd(source, options, &facts));
      case GeometryFormat::kObj:
        return detail::obj::read_obj(source, &folder, options, &facts);
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
  }
  return "?";
}

TriangleMesh read_geometry(const std::filesystem::path& path, const ReadOptions& options) {
  GeometryFormat format{};
  detail::file::FileFacts facts;
  return read(path, options, format, facts);
}

std::vector<std::string> write_geometry(const std::filesystem::path& path, const TriangleMesh& mesh,
                                        std::string_view encoding) {
  const std::optional<GeometryFormat> format = format_of_extension(path);
  require(format.has_value(), path.string(),
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
  GeometryInfo info;
  detail::file::FileFacts facts;
  const TriangleMesh mesh = read(path, options, info.format, facts);
  info.encoding = std::move(facts.encoding);
  info.comments = std::move(facts.comments);
  const Cloud& cloud = mesh.vertices;
  info.points = cloud.size();
  info.triangles = mesh.triangles.size();
  if (!cloud.normals.empty()) info.fields.emplace_back("normals");
  if (!cloud.colors.empty()) info.fields.emplace_back("colors");
  if (!mesh.texture_coordinates.empty()) info.fields.emplace_back("texture_coordinates");
  for (const Attribute& attribute : cloud.attributes) info.fields.push_back(attribute.name);
  for (const Material& material : mesh.materials) info.materials.push_back(material.name);
  info.width = cloud.width;
  info.height = cloud.height;
  info.world_from_sensor = cloud.world_from_sensor;
  info.bounds = bounds(Context::cpu(), cloud.points.view());
  const auto points = cloud.points.host();
  info.invalid_points =
      std::count_if(points.begin(), points.end(), [](const Vec3f& p) { return !is_finite(p); });
  return info;
}

}  // namespace sextant
