// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sextant/io/file/byte_source.h"
#include "sextant/io/file/facts.h"
#include "sextant/io/obj.h"

namespace sextant::detail::obj {

/// A corner of a face: indices from 0, -1 where the file names none.
struct ObjCorner {
  std::int32_t vertex = -1;
  std::int32_t texture = -1;
  std::int32_t normal = -1;

  friend bool operator==(const ObjCorner&, const ObjCorner&) = default;
};

/// What the lines of an OBJ file say.
struct ObjScene {
  std::vector<Vec3f> positions;
  std::vector<Rgb8> colors;  ///< empty, or one per position
  std::vector<Vec2f> texture_coordinates;
  std::vector<Vec3f> normals;
  /// What each vertex is made of: one for each position in its order (all -1 where no face uses
  /// it), then those that positions with several normals or texture coordinates need besides.
  std::vector<ObjCorner> vertices;
  std::vector<Vec3i> triangles;
  std::vector<std::int32_t> triangle_materials;  ///< index into `materials`, -1 before any usemtl
  std::vector<std::string> materials;            ///< in the order of their first use by usemtl
  std::vector<std::string> material_files;       ///< what the mtllib lines name
  std::vector<std::string> comments;
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
