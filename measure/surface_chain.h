// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/depth/bilateral.h"
#include "sextant/depth/deproject.h"
#include "sextant/surface/normals.h"
#include "sextant/surface/triangulate.h"

namespace sextant::measure {

/// The camera of the frames that are measured: VGA, as a Kinect has it.
inline Camera vga_camera() { return {640, 480, 525, 525, 319.5, 239.5, {}}; }

/// One frame from depth to triangles: the buffers and a function for each step, none of which
/// waits.
struct SurfaceChain {
  Context context;
  Camera camera;
  NormalsMethod method;
  Image<float> depth_m, filtered_m;
  Buffer<Vec3f> points;
  Image<Vec3f> normals;
  Buffer<SurfaceStatistics> statistics;
  Workspace workspace;
  Image<std::uint8_t> cells;

  /// `depth_on_host_m` is what the camera sees.
  SurfaceChain(const Context& on, const Camera& seen_by, const Image<float>& depth_on_host_m,
               NormalsMethod normals_method)
      : context(on),
        camera(seen_by),
        method(normals_method),
        depth_m(copy(on, depth_on_host_m)),
        filtered_m(on, camera.width, camera.height),
        points(on, std::int64_t{camera.width} * camera.height),
        normals(on, camera.width, camera.height),
        statistics(on, 1),
        cells(on, camera.width - 1, camera.height - 1) {}

  ImageView<const Vec3f> point_image() const {
    return {points.data(), camera.width, camera.height, camera.width, context.device()};
  }

  void filter() { bilateral_filter_into(context, depth_m, {}, filtered_m); }
  void project() { deproject_into(context, filtered_m, camera, points); }
  void estimate() { estimate_normals_into(context, point_image(), {.method = method}, normals); }
  void gather_statistics() {
    surface_statistics_into(context, point_image(), normals, {}, statistics, workspace);
  }
  void mesh() { triangulate_into(context, point_image(), normals, statistics, {}, cells); }
  /// Depth in, triangles out.
  void make_surface() {
    filter();
    project();
    estimate();
    gather_statistics();
    mesh();
  }
};

}  // namespace sextant::measure
