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
struct TriangleMesh {
  Cloud vertices;
  /// Empty, or one per vertex: (0, 0) is the lower left corner of the texture image, v points up.
  Buffer<Vec2f> texture_coordinates;
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
