// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/surface_operations.h"

#include "sextant/surface/cloud_resolution.h"
#include "sextant/surface/mesh_resolution.h"

namespace sextant {

bool has_camera_rows(const Context& context, const Surface& surface) {
  if (!surface.organised()) return false;
  if (surface.camera_rows) return *surface.camera_rows;
  Cloud on_host;
  on_host.points = to_host_buffer(context, surface.points);
  on_host.width = surface.width;
  on_host.height = surface.height;
  return seen_from_origin(on_host);
}

void estimate_normals(const Context& context, Surface& surface,
                      const SurfaceNormalsOptions& options) {
  if (surface.organised()) {
    NormalsOptions organised = options.organised;
    const bool along_rays = organised.method != NormalsMethod::kPca;
    if (along_rays && !has_camera_rows(context, surface)) organised.method = NormalsMethod::kPca;
    surface.normals =
        std::move(estimate_normals(context, surface.point_image(), organised).pixels());
  } else if (!surface.triangles.empty()) {
    TriangleMesh mesh;
    mesh.vertices.points = to_host_buffer(context, surface.points);
    mesh.triangles = to_host_buffer(context, surface.triangles);
    surface.normals = copy(context, vertex_normals(mesh));
  } else {
    surface.normals = estimate_cloud_normals(context, surface.points, options.unorganised);
  }
}

void estimate_resolution(const Context& context, Surface& surface) {
  if (surface.organised()) {
    surface.resolution_m =
        surface_statistics(context, surface.point_image(), surface.normal_image()).resolution_m;
  } else if (!surface.triangles.empty()) {
    surface.resolution_m = mesh_resolution(context, surface.points, surface.triangles);
  } else {
    surface.resolution_m = cloud_resolution_m(context, surface.points);
  }
}

SurfaceStatistics triangulate(const Context& context, Surface& surface,
                              const TriangulateOptions& options,
                              const StatisticsOptions& statistics_options) {
  const ImageView<const Vec3f> points = surface.point_image();
  const ImageView<const Vec3f> normals = surface.normal_image();
  const SurfaceStatistics statistics =
      surface_statistics(context, points, normals, statistics_options);
  surface.resolution_m = statistics.resolution_m;
  surface.cells = triangulate(context, points, normals, statistics, options);
  return statistics;
}

Buffer<Vec3i> triangles_of(const Context& context, const Surface& surface) {
  if (!surface.cells.empty()) return triangle_indices(context, surface.cells);
  return copy(context, surface.triangles);
}

}  // namespace sextant
