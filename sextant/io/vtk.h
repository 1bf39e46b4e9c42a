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
/// POLYGONS become fans of triangles and TRIANGLE_STRIPS are unrolled; VERTICES and LINES are
/// checked and left out. Of POINT_DATA, NORMALS become normals, COLOR_SCALARS and SCALARS of three
/// or four unsigned_char become colours, TEXTURE_COORDINATES of two numbers become just that, and
/// all else becomes attributes: SCALARS NAME, arrays of several components NAME_0, NAME_1 and so
/// on. CELL_DATA, FIELD data of the file and METADATA are skipped.
TriangleMesh read_vtk(const std::filesystem::path& path, const ReadOptions& options = {});
/// Reads the same from memory; `name` stands for the file in messages.
TriangleMesh read_vtk(std::span<const std::byte> file, const std::string& name,
                      const ReadOptions& options = {});

/// Writes a mesh on the host as ASCII, version 3.0; points without triangles get VERTICES, so that
/// they are seen. Returns the names of parts that the format cannot hold and that were therefore
/// left out: materials, the size of an organised cloud, the sensor's pose.
std::vector<std::string> write_vtk(const std::filesystem::path& path, const TriangleMesh& mesh);

}  // namespace sextant
