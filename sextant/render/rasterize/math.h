// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/render/rasterize/job.h"

// This is the geometry of one triangle, from its mesh to the pixels it covers. It uses only +, -,
// ×, ÷ and floor on doubles, and integers: with contraction switched off every compiler gives the
// same bits.

namespace sextant::detail::rasterize {

/// Corners are rounded to 1/256 px.
inline constexpr int kSubpixelBits = 8;
/// Triangles are cut at ±2²⁰ px, so that corners fit 29 bits and products of their differences 60.
inline constexpr double kGuardBandPx = 1 << 20;
inline constexpr int kMaxImageSidePx = 1 << 15;
/// A triangle has 3 corners and each cut adds at most one: near, left, right, top, bottom.
inline constexpr int kMaxPolygonPoints = 8;
/// Below this size the edge functions fit 32 bits anywhere in the triangle's box: 2 · 2¹⁸ · 2¹⁰.
inline constexpr std::int32_t kMaxExtent32 = 1 << (10 + kSubpixelBits);

/// The triangle in the camera's frame, in metres.
struct CameraTriangle {
  Vec3d corners[3];
};

/// A corner on the screen in 1/256 px; (0, 0) is the centre of the first pixel.
struct ScreenPoint {
  std::int32_t x = 0;
  std::int32_t y = 0;
};

/// Pixels from (u_min, v_min) to (u_max, v_max), both included.
struct PixelBox {
  int u_min = 0, v_min = 0, u_max = -1, v_max = -1;

  SEXTANT_HD bool empty() const { return u_max < u_min || v_max < v_min; }
  SEXTANT_HD std::int64_t pixels() const {
    return std::int64_t{u_max - u_min + 1} * (v_max - v_min + 1);
  }
};

/// 1/z of a plane is linear on the screen. The clamp keeps triangles seen edge-on, whose plane says
/// little, within their own depth.
struct DepthPlane {
  double at_origin = 0, along_u = 0, along_v = 0;
  double lowest = 0, highest = 0;

  SEXTANT_HD float depth_m(int u, int v) const {
    const double inverse = (at_origin + along_v * v) + along_u * u;
    return 1.0f / static_cast<float>(clamp(inverse, lowest, highest));
  }
};

/// Instances are data: one that names what is not there has no triangles.
SEXTANT_HD inline const Camera& camera_of(const RasterJob& job, std::int32_t view) {
  return job.cameras[job.camera_count == 1 ? 0 : view];
}
SEXTANT_HD inline std::uint32_t triangle_count(const RasterJob& job, const Instance& instance) {
  if (instance.mesh < 0 || instance.mesh >= job.scene.mesh_count) return 0;
  if (instance.view < 0 || instance.view >= job.views) return 0;
  const Camera& camera = camera_of(job, instance.view);
  const bool usable = camera.fx_px > 0 && camera.fy_px > 0 && camera.distortion.is_zero() &&
                      std::isfinite(camera.fx_px + camera.fy_px + camera.cx_px + camera.cy_px);
  return usable ? job.scene.meshes[instance.mesh].triangle_count : 0;
}

/// The instance that a primitive belongs to: the last with first_primitives[i] <= primitive.
SEXTANT_HD inline std::int64_t instance_of(const RasterJob& job, std::uint32_t primitive) {
  std::int64_t low = 0;
  std::int64_t high = job.instance_count;
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    if (job.first_primitives[middle] <= primitive) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

SEXTANT_HD inline Vec3d to_camera(const Rigid3f& camera_from_object, const Vec3f& point_m) {
  const Vec3d p = cast<double>(point_m);
  const Mat3f& r = camera_from_object.rotation;
  return Vec3d{dot(cast<double>(r.row[0]), p), dot(cast<double>(r.row[1]), p),
               dot(cast<double>(r.row[2]), p)} +
         cast<double>(camera_from_object.translation);
}

/// False when a corner is not finite.
SEXTANT_HD inline bool load_triangle(const SceneView& scene, const Instance& instance,
                                     std::uint32_t triangle, CameraTriangle& loaded) {
  const SceneMesh& mesh = scene.meshes[instance.mesh];
  const Vec3i t = scene.triangles[mesh.first_triangle + triangle];
  const Vec3f* vertices = scene.vertices + mesh.first_vertex;
  loaded.corners[0] = to_camera(instance.camera_from_object, vertices[t.x]);
  loaded.corners[1] = to_camera(instance.camera_from_object, vertices[t.y]);
  loaded.corners[2] = to_camera(instance.camera_from_object, vertices[t.z]);
  return is_finite(loaded.corners[0]) && is_finite(loaded.corners[1]) &&
         is_finite(loaded.corners[2]);
}

SEXTANT_HD inline Vec2d to_pixel(const Camera& camera, const Vec3d& p) {
  return {camera.fx_px * p.x / p.z + camera.cx_px, camera.fy_px * p.y / p.z + camera.cy_px};
}

/// The pixel must lie in the guard band.
SEXTANT_HD inline ScreenPoint snap(const Vec2d& pixel) {
  constexpr double kScale = 1 << kSubpixelBits;
  return {static_cast<std::int32_t>(std::floor(pixel.x * kScale + 0.5)),
          static_cast<std::int32_t>(std::floor(pixel.y * kScale + 0.5))};
}

enum class Projection { kInvisible, kInside, kNeedsClipping };

/// Treats the common case: all corners lie before the near plane and within the guard band.
SEXTANT_HD inline Projection project(const Camera& camera, double near_m,
                                     const CameraTriangle& triangle, ScreenPoint points[3]) {
  const Vec3d* c = triangle.corners;
  if (c[0].z < near_m && c[1].z < near_m && c[2].z < near_m) return Projection::kInvisible;
  if (c[0].z < near_m || c[1].z < near_m || c[2].z < near_m) return Projection::kNeedsClipping;
  for (int i = 0; i < 3; ++i) {
    const Vec2d pixel = to_pixel(camera, c[i]);
    const bool inside = pixel.x >= -kGuardBandPx && pixel.x <= kGuardBandPx &&
                        pixel.y >= -kGuardBandPx && pixel.y <= kGuardBandPx;
    if (!inside) return Projection::kNeedsClipping;
    points[i] = snap(pixel);
  }
  return Projection::kInside;
}

/// How far a point lies on the inner side of a cutting plane: the near plane, then u and v at the
/// guard band, multiplied by z so that they hold behind the camera too.
SEXTANT_HD inline double inside_distance(int plane, const Camera& camera, double near_m,
                                         const Vec3d& p) {
  switch (plane) {
    case 0:
      return p.z - near_m;
    case 1:
      return (kGuardBandPx + camera.cx_px) * p.z + camera.fx_px * p.x;
    case 2:
      return (kGuardBandPx - camera.cx_px) * p.z - camera.fx_px * p.x;
    case 3:
      return (kGuardBandPx + camera.cy_px) * p.z + camera.fy_px * p.y;
    default:
      return (kGuardBandPx - camera.cy_px) * p.z - camera.fy_px * p.y;
  }
}

/// Cuts the triangle at the near plane and at the guard band (Sutherland and Hodgman) and returns
/// the number of points, 0 when nothing is left. A cut is computed from the inner to the outer end
/// of the edge, so the two triangles that share the edge get the same point.
SEXTANT_HD inline int clip(const Camera& camera, double near_m, const CameraTriangle& triangle,
                           ScreenPoint points[kMaxPolygonPoints]) {
  Vec3d polygon[2][kMaxPolygonPoints];
  for (int i = 0; i < 3; ++i) polygon[0][i] = triangle.corners[i];
  int count = 3;
  int current = 0;
  for (int plane = 0; plane < 5; ++plane) {
    const Vec3d* from = polygon[current];
    Vec3d* to = polygon[1 - current];
    int kept = 0;
    for (int i = 0; i < count; ++i) {
      const Vec3d& a = from[i];
      const Vec3d& b = from[i + 1 < count ? i + 1 : 0];
      const double da = inside_distance(plane, camera, near_m, a);
      const double db = inside_distance(plane, camera, near_m, b);
      // Rounding may bend the polygon by an ulp; more points than a convex one has are dropped.
      if (da >= 0 && kept < kMaxPolygonPoints) to[kept++] = a;
      if ((da >= 0) != (db >= 0) && kept < kMaxPolygonPoints) {
        Vec3d cut = da >= 0 ? a + (b - a) * (da / (da - db)) : b + (a - b) * (db / (db - da));
        if (plane == 0) cut.z = near_m;
        to[kept++] = cut;
      }
    }
    count = kept;
    current = 1 - current;
  }
  if (count < 3) return 0;
  for (int i = 0; i < count; ++i) {
    const Vec2d pixel = to_pixel(camera, polygon[current][i]);
    points[i] = snap(
        {clamp(pixel.x, -kGuardBandPx, kGuardBandPx), clamp(pixel.y, -kGuardBandPx, kGuardBandPx)});
  }
  return count;
}

/// The pixels of the image whose centres may lie in the polygon.
SEXTANT_HD inline PixelBox pixel_box(const ScreenPoint* points, int count, int width, int height) {
  std::int32_t x_min = points[0].x, x_max = points[0].x;
  std::int32_t y_min = points[0].y, y_max = points[0].y;
  for (int i = 1; i < count; ++i) {
    x_min = min_of(x_min, points[i].x);
    x_max = max_of(x_max, points[i].x);
    y_min = min_of(y_min, points[i].y);
    y_max = max_of(y_max, points[i].y);
  }
  constexpr std::int32_t kUp = (1 << kSubpixelBits) - 1;
  return {max_of(0, (x_min + kUp) >> kSubpixelBits), max_of(0, (y_min + kUp) >> kSubpixelBits),
          min_of(width - 1, x_max >> kSubpixelBits), min_of(height - 1, y_max >> kSubpixelBits)};
}

/// The plane of the triangle, from its corners in the camera's frame and not from rounded pixels.
/// False when the triangle is to be culled.
SEXTANT_HD inline bool depth_plane(const Camera& camera, double near_m, bool cull_back_faces,
                                   const CameraTriangle& triangle, DepthPlane& plane) {
  const Vec3d* c = triangle.corners;
  const Vec3d n = cross(c[1] - c[0], c[2] - c[0]);
  const double d = dot(n, c[0]);
  if (cull_back_faces && !(d < 0)) return false;
  plane.lowest = 1.0 / max_of(c[0].z, max_of(c[1].z, c[2].z));
  plane.highest = 1.0 / max_of(near_m, min_of(c[0].z, min_of(c[1].z, c[2].z)));
  // z (n · (x/z, y/z, 1)) = d, with x/z and y/z linear in the pixel.
  const double nu = n.x / camera.fx_px;
  const double nv = n.y / camera.fy_px;
  plane.along_u = nu / d;
  plane.along_v = nv / d;
  plane.at_origin = (n.z - nu * camera.cx_px - nv * camera.cy_px) / d;
  if (!std::isfinite(plane.along_u) || !std::isfinite(plane.along_v) ||
      !std::isfinite(plane.at_origin)) {
    plane.along_u = plane.along_v = 0;  // exactly edge-on
    plane.at_origin = plane.highest;
  }
  return true;
}

/// Three integer edge functions; a pixel centre is covered where none is negative. The offset from
/// the pixel (u_min, v_min) of a box keeps the numbers small.
template <class Int>
struct TriangleEdges {
  Int at_origin[3], along_u[3], along_v[3];

  SEXTANT_HD Int value(int edge, int du, int dv) const {
    return at_origin[edge] + along_u[edge] * du + along_v[edge] * dv;
  }
  SEXTANT_HD bool covers(int du, int dv) const {
    return (value(0, du, dv) | value(1, du, dv) | value(2, du, dv)) >= 0;
  }
};

/// False when the triangle has no area on the screen. Either orientation is drawn.
template <class Int>
SEXTANT_HD bool make_edges(const ScreenPoint& a, const ScreenPoint& b, const ScreenPoint& c,
                           int u_min, int v_min, TriangleEdges<Int>& edges) {
  const std::int64_t area =
      std::int64_t{b.x - a.x} * (c.y - a.y) - std::int64_t{b.y - a.y} * (c.x - a.x);
  if (area == 0) return false;
  const ScreenPoint points[3] = {a, area > 0 ? b : c, area > 0 ? c : b};
  for (int i = 0; i < 3; ++i) {
    const ScreenPoint& p = points[i];
    const ScreenPoint& q = points[i < 2 ? i + 1 : 0];
    const std::int64_t dx = q.x - p.x;
    const std::int64_t dy = q.y - p.y;
    // With y down and the inside at the right hand: a left edge goes up, a top edge to the right.
    const bool owns_its_pixels = dy < 0 || (dy == 0 && dx > 0);
    const std::int64_t value = dx * ((std::int64_t{v_min} << kSubpixelBits) - p.y) -
                               dy * ((std::int64_t{u_min} << kSubpixelBits) - p.x);
    // One pixel changes the value by a multiple of 256, so the sign survives dropping the rest.
    edges.at_origin[i] = static_cast<Int>((value - (owns_its_pixels ? 0 : 1)) >> kSubpixelBits);
    edges.along_u[i] = static_cast<Int>(-dy);
    edges.along_v[i] = static_cast<Int>(dx);
  }
  return true;
}

/// What a triangle leaves on the screen: a fan around the first point.
struct ScreenPolygon {
  int count = 0;  ///< 0 when there is nothing to draw
  ScreenPoint points[kMaxPolygonPoints];
  PixelBox box;
  DepthPlane plane;
};

/// Brings triangles of every kind from the mesh to the screen of a view.
struct ViewSetUp {
  SceneView scene;
  double near_m;
  bool cull_back_faces;
  int width, height;

  SEXTANT_HD ScreenPolygon operator()(const Camera& camera, const Instance& instance,
                                      std::uint32_t triangle) const {
    ScreenPolygon polygon;
    CameraTriangle corners;
    if (!load_triangle(scene, instance, triangle, corners)) return polygon;
    const Projection projection = project(camera, near_m, corners, polygon.points);
    if (projection == Projection::kInvisible) return polygon;
    const int count =
        projection == Projection::kInside ? 3 : clip(camera, near_m, corners, polygon.points);
    if (count == 0) return polygon;
    polygon.box = pixel_box(polygon.points, count, width, height);
    if (polygon.box.empty()) return polygon;
    if (depth_plane(camera, near_m, cull_back_faces, corners, polygon.plane)) {
      polygon.count = count;
    }
    return polygon;
  }
};
SEXTANT_HD inline ScreenPolygon set_up(const RasterJob& job, const Instance& instance,
                                       std::uint32_t triangle) {
  return ViewSetUp{job.scene, job.near_m, job.cull_back_faces, job.width, job.height}(
      camera_of(job, instance.view), instance, triangle);
}

}  // namespace sextant::detail::rasterize
