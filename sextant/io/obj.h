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

/// Reads a mesh to the host from a Wavefront OBJ file and the MTL files and textures beside it.
///
/// Read are v (with an optional weight, which is ignored, or red green blue from 0 to 1, or to 255
/// where one is above 1), vt, vn,
/// f with every form of indices, negative ones and those of lines that follow included, usemtl and
/// mtllib. A backslash continues any line but a comment. Polygons, concave ones too, become
/// triangles. Every v
/// line is one vertex, about an origin where floats cannot hold the coordinates (Cloud::origin_m).
/// Texture coordinates and normals belong to the vertices where each vertex has one; otherwise
/// they belong to the corners of the triangles (TriangleMesh::texture_triangles,
/// normal_triangles), and the vertices have no normals. Where a corner names no normal or texture
/// coordinate although others do, it is zero. Without faces, vn and vt of the same number as v
/// belong to the vertices. An index out of range is an Error, and so is a file without a vertex
/// that holds words which the format does not have. Other lines are left out; `read_geometry` names
/// what they describe.
///
/// Materials come in the order of their first use; faces before the first usemtl get one called
/// "default". A missing MTL file, and a texture that is missing or cannot be decoded, is no Error:
/// the material keeps its name and Material::texture_file, and Material::texture stays empty.
TriangleMesh read_obj(const std::filesystem::path& path, const ReadOptions& options = {});
/// Reads the same from memory; opens no other file, so materials have only their names. `name`
/// stands for the file in messages.
TriangleMesh read_obj(std::span<const std::byte> file, const std::string& name,
                      const ReadOptions& options = {});

/// Reads the materials of an MTL file: newmtl, Kd and map_Kd (its options are skipped). Textures
/// are loaded relative to the file, as read_obj does.
std::vector<Material> read_mtl(const std::filesystem::path& path);
/// Reads the same from memory; opens no other file, so the textures stay empty.
std::vector<Material> read_mtl(std::span<const std::byte> file, const std::string& name);

/// Writes a mesh on the host, points about an origin with all their digits: NAME.obj, and when it
/// has materials NAME.mtl and for each texture image NAME_<number>.png beside it. Returns the names
/// of parts that the format cannot hold and that were therefore left out: attributes, the size of
/// an organised cloud, the sensor's pose.
std::vector<std::string> write_obj(const std::filesystem::path& path, const TriangleMesh& mesh);

}  // namespace sextant
