// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sextant/io/mesh/polygons.h"
#include "sextant/io/ply/header.h"
#include "sextant/io/ply/numbers.h"

namespace sextant::detail::ply {

/// What the elements of a PLY file give, before they are put together.
struct PlyBody {
  points::PointParts points;
  std::vector<Vec3i> triangles;
  std::vector<mesh::Fan> fans;             ///< triangles that are parts of larger polygons
  std::vector<Vec2f> texture_coordinates;  ///< of the corners of faces, where they have some
  std::vector<Vec3i> texture_triangles;
  std::vector<std::string> left_out;     ///< elements and properties that have no place
  std::vector<std::int32_t> grid;        ///< the vertex in each cell of a range grid, or -1
  std::map<std::string, double> camera;  ///< the properties of a camera element
};

/// Reads all elements from where the source stands behind the header.
PlyBody read_ply_body(FileReader& source, const PlyHeader& header, double unit_m,
                      file::ReadProgress& progress);

}  // namespace sextant::detail::ply
