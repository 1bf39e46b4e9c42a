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

enum class PlyEncoding : std::int32_t { kAscii, kBinaryLittleEndian, kBinaryBigEndian };

inline constexpr Choice<PlyEncoding> kPlyEncodings[] = {
    {"ascii", PlyEncoding::kAscii},
    {"binary_little_endian", PlyEncoding::kBinaryLittleEndian},
    {"binary_big_endian", PlyEncoding::kBinaryBigEndian}};

/// How a PLY file is written.
struct PlyWriteOptions {
  PlyEncoding encoding = PlyEncoding::kBinaryLittleEndian;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("encoding", self.encoding, "ascii, or binary in one of the two byte orders",
          kPlyEncodings);
  }
};

/// Reads a mesh to the host from a PLY file in any of its three encodings; without faces it is a
/// cloud.
///
/// Vertices: x y z of any number type, about an origin where floats cannot hold them
/// (Cloud::origin_m); nx ny nz; colours as red green blue, r g b or diffuse_red ... (floats count
/// from 0 to 1, or to 255 where one is above 1); texture coordinates as floats called texture_u
/// texture_v, u v or s t. Every other property, alpha among them, becomes an attribute of its type,
/// a list of one length its components. Faces:
/// vertex_indices or vertex_index, and texture coordinates of the corners as texcoord; polygons,
/// concave ones too, become triangles, faces of fewer than three corners are left out, an index out
/// of range is an Error. `tristrips` are unrolled. A range_grid over all vertices (Stanford's
/// scans) makes the cloud organised, a camera (PCL) gives the size of an organised cloud and the
/// sensor's pose. Other elements and properties are left out; `read_geometry` names them. "comment
/// TextureFile NAME" gives a material; its image is loaded when it lies beside the file, and left
/// empty when it does not.
///
/// Binary vertices cost one copy: x y z alone are read straight into the cloud.
TriangleMesh read_ply(const std::filesystem::path& path, const ReadOptions& options = {});
/// Reads the same from memory; opens no other file. `name` stands for the file in messages.
TriangleMesh read_ply(std::span<const std::byte> file, const std::string& name,
                      const ReadOptions& options = {});

/// Writes all of a mesh on the host: points about an origin as doubles, attributes in their types,
/// those of several components as lists, texture coordinates of corners as texcoord, the size of an
/// organised cloud and the sensor's pose as comments, the texture of a single material as a PNG
/// beside the file. Returns the names of parts that the format cannot hold and that were therefore
/// left out: normals of corners, several materials.
std::vector<std::string> write_ply(const std::filesystem::path& path, const TriangleMesh& mesh,
                                   const PlyWriteOptions& options = {});
std::vector<std::string> write_ply(const std::filesystem::path& path, const Cloud& cloud,
                                   const PlyWriteOptions& options = {});

}  // namespace sextant
