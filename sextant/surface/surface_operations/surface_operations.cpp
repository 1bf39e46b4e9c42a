// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/surface_operations.h"

#include "sextant/surface/cloud_resolution.h"
#include "sextant/surface/mesh_resolution.h"
#include "sextant/surface/surface_operations/camera_axes.h"

namespace sextant {

using detail::surface_operations::CameraAxes;

namespace {

Buffer<Vec3f> window_normals(const Context& context, const Surface& surface, const Rigid3d& pose,
                             const NormalsOptions& options) {
  const CameraAxes seen(context, surface, pose);
  Image<Vec3f> normals = estimate_normals(context, seen.points(), options);
  seen.turn_back(context, normals.pixels());
  return std::move(normals.pixels());
}

Buffer<Vec3f> triangle_normals(const Context& context, const Surface& surface) {
  TriangleMesh mesh;
  mesh.vertices.points = to_host_buffer(context, surface.points);
  mesh.triangles = to_host_buffer(context, surface.triangles);
  return copy(context, vertex_normals(mesh));
}

CloudCurvature patch_curvature(const Context& context, const Surface& surface, const Rigid3d& pose,
                               const CurvatureOptions& options) {
  const CameraAxes seen(context, surface, pose);
  const Image<Vec3f> normals = estimate_normals(context, seen.points());
  Curvature found = estimate_curvature(context, seen.points(), normals, options);
  seen.turn_back(context, found.direction1.pixels());
  seen.turn_back(context, found.normals.pixels());
  seen.move_back(context, found.points.pixels());
  return {std::move(found.k1_per_m.pixels()),   std::move(found.k2_per_m.pixels()),
          std::move(found.direction1.pixels()), std::move(found.normals.pixels()),
          std::move(found.points.pixels()),     std::move(found.valid.pixels())};
}

}  // namespace

Vec3f viewpoint_or_sensor(const Surface& surface, const Vec3f& viewpoint_m) {
  if (!(viewpoint_m == Vec3f{})) return viewpoint_m;
  return cast<float>(surface.camera_rows.value_or(false) ? surface.points_from_camera.translation
                                                         : surface.world_from_sensor.translation);
}

bool has_camera_rows(const Context& context, const Surface& surface) {
  return row_camera(context, surface).has_value();
}

void estimate_normals(const Context& context, Surface& surface,
                      const SurfaceNormalsOptions& options) {
  look_at_rows(context, surface);
  if (const std::optional<Rigid3d> pose = row_camera(context, surface)) {
    surface.normals = window_normals(context, surface, *pose, options.organised);
  } else if (!surface.triangles.empty()) {
    surface.normals = triangle_normals(context, surface);
  } else {
    CloudNormalsOptions unorganised = options.unorganised;
    unorganised.viewpoint_m = viewpoint_or_sensor(surface, unorganised.viewpoint_m);
    surface.normals = estimate_cloud_normals(context, surface.points, unorganised);
  }
}

CloudCurvature estimate_curvature(const Context& context, const Surface& surface,
                                  const SurfaceCurvatureOptions& options) {
  if (const std::optional<Rigid3d> pose = row_camera(context, surface)) {
    return patch_curvature(context, surface, *pose, options.organised);
  }
  CloudCurvatureOptions unorganised = options.unorganised;
  unorganised.viewpoint_m = viewpoint_or_sensor(surface, unorganised.viewpoint_m);
  return estimate_cloud_curvature(context, surface.points, surface.normals, unorganised);
}

CloudSegmentation segment(const Context& context, const Surface& surface,
                          const SurfaceSegmentOptions& options, const PointSaliency& saliency) {
  const std::optional<Rigid3d> pose = row_camera(context, surface);
  if (!pose || !saliency.stick.empty()) {
    return segment_cloud(context, surface.points, surface.normals, saliency, options.unorganised);
  }
  const CameraAxes seen(context, surface, *pose);
  Segmentation found = segment(context, seen.points(), seen.normals(), options.organised);
  seen.move_back(found.regions);
  return {std::move(found.labels.pixels()), std::move(found.regions), 0.0f};
}

void estimate_resolution(const Context& context, Surface& surface) {
  look_at_rows(context, surface);
  if (has_camera_rows(context, surface)) {
    // Lengths and angles are the same in all axes.
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
  look_at_rows(context, surface);
  const std::optional<Rigid3d> pose = row_camera(context, surface);
  require(pose.has_value(), "surface: its ", surface.size(), " points ",
          surface.organised() ? "have rows that are not those of a camera" : "are in no rows",
          ", between which there are no triangles");
  const CameraAxes seen(context, surface, *pose);
  const SurfaceStatistics statistics =
      surface_statistics(context, seen.points(), seen.normals(), statistics_options);
  surface.resolution_m = statistics.resolution_m;
  surface.cells = triangulate(context, seen.points(), seen.normals(), statistics, options);
  return statistics;
}

Buffer<Vec3i> triangles_of(const Context& context, const Surface& surface) {
  if (!surface.cells.empty()) return triangle_indices(context, surface.cells);
  return copy(context, surface.triangles);
}

}  // namespace sextant
