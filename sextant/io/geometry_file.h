// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/geometry/mesh.h"
#include "sextant/io/read_options.h"

namespace sextant {

/// The formats of clouds and meshes.
enum class GeometryFormat : std::int32_t { kPly, kPcd, kObj, kVtk };

/// "PLY", "PCD", "OBJ" or "VTK".
const char* to_string(GeometryFormat format);

/// A cloud or mesh on the host from a PLY, PCD, OBJ or VTK file. The first bytes decide, and the
/// extension where they do not: an OBJ file starts with anything.
TriangleMesh read_geometry(const std::filesystem::path& path, const ReadOptions& options = {});

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
  std::vector<std::string> fields;  ///< "normals", "colors", "texture_coordinates", attributes
  std::vector<std::string> materials;
  int width = 0;  ///< of an organised cloud; 0 when unorganised
  int height = 0;
  Rigid3d world_from_sensor;
  Bounds bounds;                      ///< in metres, of the valid points
  std::vector<std::string> comments;  ///< without the signs that mark them
};

/// Reads the whole file.
GeometryInfo geometry_info(const std::filesystem::path& path, const ReadOptions& options = {});

}  // namespace sextant
