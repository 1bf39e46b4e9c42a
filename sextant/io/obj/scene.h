// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sextant/io/file/byte_source.h"
#include "sextant/io/file/facts.h"
#include "sextant/io/mesh/polygons.h"
#include "sextant/io/obj.h"

namespace sextant::detail::obj {

/// What the lines of an OBJ file say. Corners of triangles name texture coordinates and normals by
/// their place, -1 where the file names none.
struct ObjScene {
  std::vector<Vec3d> positions_m;
  /// Empty, or one per position; NaN where a vertex of a file that has colours has none.
  std::vector<Vec3f> color_levels;
  std::vector<Vec2f> texture_coordinates;
  std::vector<Vec3f> normals;
  std::vector<Vec3i> triangles;
  std::vector<mesh::Fan> fans;                   ///< those that are parts of larger polygons
  std::vector<Vec3i> texture_triangles;          ///< one per triangle
  std::vector<Vec3i> normal_triangles;           ///< one per triangle
  std::vector<std::int32_t> triangle_materials;  ///< index into `materials`, -1 before any usemtl
  std::vector<std::string> materials;            ///< in the order of their first use by usemtl
  std::vector<std::string> material_files;       ///< what the mtllib lines name
  std::vector<std::string> comments;
  std::vector<std::string> left_out;  ///< kinds of lines that a mesh has no place for
};

/// Parses everything that the source has left.
ObjScene parse_obj(FileReader& source, double unit_m, file::ReadProgress& progress);

/// Looks the materials up by their names in the MTL files that the scene refers to, and loads their
/// textures. Files that are not there are passed over.
void load_materials(const std::filesystem::path& folder, const ObjScene& scene,
                    std::vector<Material>& materials);

/// Does the same as read_obj on an open source; MTL files are looked for in `folder`, or nowhere
/// when it is null.
TriangleMesh read_obj(FileReader& source, const std::filesystem::path* folder,
                      const ReadOptions& options, file::FileFacts* facts = nullptr);

}  // namespace sextant::detail::obj
