// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/texture/lookup.h"
#include "sextant/render/rasterize/math.h"

// This is what one pixel shows of the triangle it sees. It uses only +, -, ×, ÷, floor and square
// roots.

namespace sextant::detail::rasterize {

/// The unit normal of a triangle towards the camera; zero without area.
SEXTANT_HD inline Vec3f facing_normal(const CameraTriangle& triangle) {
  const Vec3d* c = triangle.corners;
  const Vec3d n = cross(c[1] - c[0], c[2] - c[0]);
  const double side = dot(n, c[0]) < 0 ? -1.0 : 1.0;
  const double length = norm(n);
  return length > 0 && std::isfinite(length) ? cast<float>(n * (-side / length)) : Vec3f{};
}

/// A triangle that some pixel shows, with what all its pixels have in common.
struct VisibleTriangle {
  const Instance* instance = nullptr;
  std::uint32_t triangle = 0;  ///< in its mesh
  Vec3i vertices;              ///< in its mesh
  Vec3d opposite[3];  ///< ± Pj × Pk, the sign such that `ray · opposite[i]` is positive inside
  Vec3f facing;       ///< unit normal towards the camera; zero without area
};

SEXTANT_HD inline VisibleTriangle visible_triangle(const RasterJob& job, std::uint32_t primitive) {
  const std::int64_t number = instance_of(job, primitive);
  VisibleTriangle visible;
  visible.instance = job.instances + number;
  if (!job.normals && !job.colors) return visible;
  visible.triangle = primitive - job.first_primitives[number];
  const SceneMesh& mesh = job.scene.meshes[visible.instance->mesh];
  visible.vertices = job.scene.triangles[mesh.first_triangle + visible.triangle];
  CameraTriangle loaded;
  load_triangle(job.scene, *visible.instance, visible.triangle, loaded);
  const Vec3d* c = loaded.corners;
  const Vec3d n = cross(c[1] - c[0], c[2] - c[0]);
  const double side = dot(n, c[0]) < 0 ? -1.0 : 1.0;
  for (int i = 0; i < 3; ++i) visible.opposite[i] = cross(c[(i + 1) % 3], c[(i + 2) % 3]) * side;
  visible.facing = facing_normal(loaded);
  return visible;
}

/// The point of the triangle that a pixel's ray meets.
struct SurfacePoint {
  Vec3f ray;      ///< (X/Z, Y/Z, 1)
  Vec3d weights;  ///< of the corners, in space: none negative, sum 1
  Vec3f facing;   ///< unit normal of the triangle, towards the camera
};

/// The volumes ray · (Pj × Pk) are in the ratio of the weights, whatever lies behind the camera.
SEXTANT_HD inline SurfacePoint meet(const VisibleTriangle& visible, const Vec3d& ray) {
  Vec3d w{max_of(0.0, dot(ray, visible.opposite[0])), max_of(0.0, dot(ray, visible.opposite[1])),
          max_of(0.0, dot(ray, visible.opposite[2]))};
  const double sum = w.x + w.y + w.z;
  w = sum > 0 && std::isfinite(sum) ? w * (1.0 / sum) : Vec3d{1, 0, 0};
  const Vec3f ray_f = cast<float>(ray);
  // A triangle without area shows a speck at most: it faces the camera.
  const bool has_area = norm_sq(visible.facing) > 0;
  return {ray_f, w, has_area ? visible.facing : normalized(-ray_f)};
}

template <class T>
SEXTANT_HD T mix(const Vec3<T>& weights, T a, T b, T c) {
  return weights.x * a + weights.y * b + weights.z * c;
}

/// Interpolates the mesh's normals, on the side of the triangle that is seen. Near an outline they
/// may turn away from the camera though the triangle does not: they then stop at a right angle.
SEXTANT_HD inline Vec3f normal_at(const SceneView& scene, const VisibleTriangle& visible,
                                  const SurfacePoint& point) {
  const SceneMesh& mesh = scene.meshes[visible.instance->mesh];
  if (mesh.first_normal < 0) return point.facing;
  const Vec3i t = scene.triangles[mesh.first_normal_triangle + visible.triangle];
  const Vec3f* normals = scene.normals + mesh.first_normal;
  const Vec3f w = cast<float>(point.weights);
  Vec3f n = normalized(visible.instance->camera_from_object.rotation *
                       (normals[t.x] * w.x + normals[t.y] * w.y + normals[t.z] * w.z));
  if (!(norm_sq(n) > 0.5f)) return point.facing;
  if (dot(n, point.facing) < 0) n = -n;
  const float away = dot(n, point.ray);
  if (away > 0) n = normalized(n - point.ray * (away / norm_sq(point.ray)));
  return norm_sq(n) > 0.5f ? n : point.facing;
}

SEXTANT_HD inline Vec3f to_float(const Rgb8& color) { return cast<float>(color); }

/// The surface's own colour, 0 to 255.
SEXTANT_HD inline Vec3f albedo_at(const SceneView& scene, const VisibleTriangle& visible,
                                  const SurfacePoint& point) {
  const SceneMesh& mesh = scene.meshes[visible.instance->mesh];
  const std::int32_t number =
      mesh.first_triangle_material < 0
          ? 0
          : scene.triangle_materials[mesh.first_triangle_material + visible.triangle];
  const SceneMaterial& material = scene.materials[mesh.first_material + number];
  Vec3f color{255, 255, 255};
  if (material.texture_width > 0 && mesh.first_texture_coordinate >= 0) {
    const Vec3i t = scene.triangles[mesh.first_texture_triangle + visible.triangle];
    const Vec2f* at = scene.texture_coordinates + mesh.first_texture_coordinate;
    const TextureView texture{scene.texels + material.first_texel, material.texture_width,
                              material.texture_height};
    color = texture_at(
        texture,
        mix<double>(point.weights, double{at[t.x].x}, double{at[t.y].x}, double{at[t.z].x}),
        mix<double>(point.weights, double{at[t.x].y}, double{at[t.y].y}, double{at[t.z].y}));
  } else if (mesh.first_color >= 0) {
    const Vec3i t = visible.vertices;
    const Rgb8* colors = scene.colors + mesh.first_color;
    const Vec3f w = cast<float>(point.weights);
    color = to_float(colors[t.x]) * w.x + to_float(colors[t.y]) * w.y + to_float(colors[t.z]) * w.z;
  }
  return {color.x * material.diffuse.x, color.y * material.diffuse.y, color.z * material.diffuse.z};
}

SEXTANT_HD inline std::uint8_t to_byte(float value) {
  return static_cast<std::uint8_t>(clamp(value, 0.0f, 255.0f) + 0.5f);
}

SEXTANT_HD inline void write_nothing(const RasterJob& job, std::int64_t pixel) {
  if (job.object_ids) job.object_ids[pixel] = -1;
  if (job.normals) job.normals[pixel] = {NAN, NAN, NAN};
  if (job.colors) job.colors[pixel] = {};
}

/// Writes what the job asks for beside depth. `pixel` counts through the batch, (u, v) in its view.
SEXTANT_HD inline void write_pixel(const RasterJob& job, const VisibleTriangle& visible, int u,
                                   int v, std::int64_t pixel) {
  if (job.object_ids) job.object_ids[pixel] = visible.instance->object_id;
  if (!job.normals && !job.colors) return;
  const Camera& camera = camera_of(job, visible.instance->view);
  const SurfacePoint point =
      meet(visible, {(u - camera.cx_px) / camera.fx_px, (v - camera.cy_px) / camera.fy_px, 1.0});
  const bool lamp = job.ambient < 1.0f;
  const Vec3f normal = job.normals || lamp ? normal_at(job.scene, visible, point) : point.facing;
  if (job.normals) job.normals[pixel] = normal;
  if (job.colors) {
    const float lit = max_of(0.0f, dot(normal, job.towards_light));
    const float light = lamp ? job.ambient + (1.0f - job.ambient) * lit : 1.0f;
    const Vec3f color = albedo_at(job.scene, visible, point) * light;
    job.colors[pixel] = {to_byte(color.x), to_byte(color.y), to_byte(color.z)};
  }
}

}  // namespace sextant::detail::rasterize
