// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "sextant/geometry/mesh.h"
#include "sextant/io/read_options.h"

namespace sextant {

/// Reads a mesh to the host from a legacy VTK file (versions 1 to 5.1, ASCII or BINARY) that holds
/// POLYDATA.
///
/// Points are about an origin where floats cannot hold them (Cloud::origin_m). POLYGONS, concave
/// ones too, become triangles and TRIANGLE_STRIPS are unrolled; VERTICES and LINES are checked and
/// left out. Of POINT_DATA, NORMALS become normals, COLOR_SCALARS and SCALARS of three or four
/// unsigned_char become colours, TEXTURE_COORDINATES of two numbers become just that, and all else
/// becomes attributes of their types and components. CELL_DATA, FIELD data of the file and METADATA
/// are left out; `read_geometry` names what is.
TriangleMesh read_vtk(const std::filesystem::path& path, const ReadOptions& options = {});
/// Reads the same from memory; `name` stands for the file in messages.
TriangleMesh read_vtk(std::span<const std::byte> file, const std::string& name,
                      const ReadOptions& options = {});

/// Writes a mesh on the host as ASCII, version 3.0; points without triangles get VERTICES, so that
/// they are seen, points about an origin are doubles. Returns the names of parts that the format
/// cannot hold and that were therefore left out: materials, what belongs to corners of triangles,
/// the size of an organised cloud, the sensor's pose.
std::vector<std::string> write_vtk(const std::filesystem::path& path, const TriangleMesh& mesh);

}  // namespace sextant
