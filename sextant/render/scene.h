// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sextant/geometry/mesh.h"

namespace sextant {

namespace detail {

/// Where one mesh lies in the arrays of a scene; -1 for a part that it does not have.
struct SceneMesh {
  std::int64_t first_vertex = 0;
  std::int64_t first_triangle = 0;
  std::int64_t first_normal_triangle = 0;   ///< which normals the corners have
  std::int64_t first_texture_triangle = 0;  ///< which texture coordinates the corners have
  std::int64_t first_normal = -1;
  std::int64_t first_color = -1;
  std::int64_t first_texture_coordinate = -1;
  std::int64_t first_triangle_material = -1;
  std::uint32_t triangle_count = 0;
  std::int32_t first_material = 0;
};

struct SceneMaterial {
  Vec3f diffuse{1, 1, 1};
  std::int32_t texture_width = 0;  ///< 0 without texture
  std::int32_t texture_height = 0;
  std::int64_t first_texel = 0;
};

/// What kernels get of a scene.
struct SceneView {
  const Vec3f* vertices = nullptr;
  const Vec3f* normals = nullptr;
  const Rgb8* colors = nullptr;
  const Vec2f* texture_coordinates = nullptr;
  const Vec3i* triangles = nullptr;  ///< indices into the vertices of their own mesh
  const std::int32_t* triangle_materials = nullptr;
  const SceneMaterial* materials = nullptr;
  const Rgb8* texels = nullptr;
  const SceneMesh* meshes = nullptr;
  std::int32_t mesh_count = 0;
};

}  // namespace detail

/// Meshes laid out for rendering on one device: made once, drawn in any number of poses.
class RenderScene {
 public:
  /// Nothing to draw, on the CPU.
  RenderScene() = default;
  /// Copies the meshes, whatever device they lie on, to the context's. An instance names a mesh by
  /// its place in the list. Throws Error when a mesh does not hold together or an index is out of
  /// range. It passes through the host and takes seconds for tens of millions of triangles, so do
  /// not make one for every frame.
  RenderScene(const Context& context, std::span<const TriangleMesh* const> meshes);
  /// Makes the scene of one mesh.
  RenderScene(const Context& context, const TriangleMesh& mesh);

  int mesh_count() const { return static_cast<int>(triangle_counts_.size()); }
  /// Returns the number of triangles of each mesh.
  std::span<const std::uint32_t> triangle_counts() const { return triangle_counts_; }
  Device device() const { return device_; }

  detail::SceneView view() const;

 private:
  Buffer<Vec3f> vertices_;
  Buffer<Vec3f> normals_;
  Buffer<Rgb8> colors_;
  Buffer<Vec2f> texture_coordinates_;
  Buffer<Vec3i> triangles_;
  Buffer<std::int32_t> triangle_materials_;
  Buffer<detail::SceneMaterial> materials_;
  Buffer<Rgb8> texels_;
  Buffer<detail::SceneMesh> meshes_;
  std::vector<std::uint32_t> triangle_counts_;
  Device device_;
};

}  // namespace sextant
