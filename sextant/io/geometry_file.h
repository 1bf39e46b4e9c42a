// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/geometry/mesh.h"
#include "sextant/io/file.h"
#include "sextant/io/read_options.h"

namespace sextant {

/// The formats of clouds and meshes.
enum class GeometryFormat : std::int32_t { kPly, kPcd, kObj, kVtk, kXyz };

/// "PLY", "PCD", "OBJ", "VTK" or "XYZ".
const char* to_string(GeometryFormat format);

/// A cloud or mesh on the host from a PLY, PCD, OBJ or VTK file, or a text of points (xyz.h). The
/// first bytes decide, and the extension where they do not: an OBJ file starts with anything. Where
/// `left_out` is given, it gets the names of what the file holds and a mesh has no place for
/// ("element edge", "face property quality"): the caller tells the user.
TriangleMesh read_geometry(const std::filesystem::path& path, const ReadOptions& options = {},
                           std::vector<std::string>* left_out = nullptr);
/// The same from an open source; its name stands for the path.
TriangleMesh read_geometry(FileReader& source, const ReadOptions& options = {},
                           std::vector<std::string>* left_out = nullptr);

/// Writes in the format of the extension (.ply, .pcd, .obj, .vtk). `encoding` is empty for the
/// format's default, or ascii; for PLY also binary, binary_little_endian or binary_big_endian; for
/// PCD also binary or binary_compressed. Returns the names of the parts that the format cannot hold
/// and that were therefore left out ("triangles", "attribute intensity"): the caller tells the
/// user.
[[nodiscard]] std::vector<std::string> write_geometry(const std::filesystem::path& path,
                                                      const TriangleMesh& mesh,
                                                      std::string_view encoding = {});

/// What `sextant info` says about a file.
struct GeometryInfo {
  GeometryFormat format = GeometryFormat::kPly;
  std::string encoding;  ///< "ascii", "binary_little_endian", ...
  std::int64_t points = 0;
  std::int64_t invalid_points = 0;  ///< with a coordinate that is NaN or infinite
  std::int64_t triangles = 0;
  /// "normals", "colors", "texture_coordinates", "corner_normals", and attributes.
  std::vector<std::string> fields;
  std::vector<std::string> left_out;  ///< what the file holds and a mesh has no place for
  std::vector<std::string> materials;
  int width = 0;  ///< of an organised cloud; 0 when unorganised
  int height = 0;
  Rigid3d world_from_sensor;
  Vec3d origin_m;                     ///< that the bounds and the sensor are about, see Cloud
  Bounds bounds;                      ///< in metres, of the valid points
  std::vector<std::string> comments;  ///< without the signs that mark them
};

/// Reads the whole file.
GeometryInfo geometry_info(const std::filesystem::path& path, const ReadOptions& options = {});
GeometryInfo geometry_info(FileReader& source, const ReadOptions& options = {});

}  // namespace sextant
