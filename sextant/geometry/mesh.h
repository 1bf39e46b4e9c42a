// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/cloud.h"

namespace sextant {

/// How a set of triangles looks.
struct Material {
  std::string name;
  Vec3f diffuse{1, 1, 1};    ///< multiplies the texture; 0 to 1
  std::string texture_file;  ///< as written in the file, relative to it; empty without texture
  Image<Rgb8> texture;       ///< empty when there is none
};

/// Triangles over a cloud of vertices. Without triangles it is just the cloud.
///
/// A vertex stands for one place, however many triangles meet there. At a seam, where triangles
/// that share a vertex have different texture coordinates or normals, these belong to the corners
/// of the triangles: `texture_triangles` and `normal_triangles` then say which of them each corner
/// has.
struct TriangleMesh {
  Cloud vertices;
  /// Empty, one per vertex, or with `texture_triangles` any number: (0, 0) is the lower left corner
  /// of the texture image, v points up.
  Buffer<Vec2f> texture_coordinates;
  /// Empty, or for each triangle the texture coordinates of its corners.
  Buffer<Vec3i> texture_triangles;
  Buffer<Vec3f> corner_normals;             ///< empty without `normal_triangles`
  Buffer<Vec3i> normal_triangles;           ///< empty, or which of `corner_normals` each corner has
  Buffer<Vec3i> triangles;                  ///< counter-clockwise seen from outside
  Buffer<std::int32_t> triangle_materials;  ///< empty (all of material 0), or one per triangle
  std::vector<Material> materials;

  Device device() const { return vertices.device(); }
};

/// Throws Error unless the parts agree in size and device and, on the host, every index is in
/// range.
void check_mesh(const TriangleMesh& mesh);

/// The same mesh on the context's device, and in host memory.
TriangleMesh copy(const Context& context, const TriangleMesh& from);
TriangleMesh to_host(const Context& context, const TriangleMesh& from);

/// For each vertex the mean of the normals of its triangles by their area, of unit length; NaN
/// where there is none. In host memory, of a mesh there.
Buffer<Vec3f> vertex_normals(const TriangleMesh& mesh);

}  // namespace sextant
