// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/describe/described_surface.h"

#include <algorithm>

#include "apps/sextant/command/options_cli.h"
#include "sextant/descriptor/mesh_tensor.h"
#include "sextant/io/camera_json.h"
#include "sextant/surface/cloud_resolution.h"

namespace sextant::app {

namespace {

void prepare_organised(const Context& context, const DescribedSurfaceOptions& options,
                       DescribedSurface& surface, StepTimes& times) {
  surface.kind = "organised cloud";
  Cloud& cloud = surface.mesh.vertices;
  surface.mesh.triangles = {};  // those of the pixels count
  const ImageView<const Vec3f> points = organised_points(cloud);
  if (cloud.normals.empty()) {
    NormalsOptions normals = options.organised;
    const bool along_rays =
        !options.input.camera.empty() || seen_from_origin(to_host(context, cloud));
    if (!along_rays) normals.method = NormalsMethod::kPca;
    cloud.normals = times.time("normals", context, [&] {
      return std::move(estimate_normals(context, points, normals).pixels());
    });
  }
  const ImageView<const Vec3f> normals = organised_normals(cloud);
  const SurfaceStatistics statistics = times.time(
      "statistics", context, [&] { return surface_statistics(context, points, normals); });
  surface.resolution_m = statistics.resolution_m;
  surface.cells = times.time("triangulate", context, [&] {
    return triangulate(context, points, normals, statistics, options.triangulate);
  });
}

void prepare_mesh(const Context& context, DescribedSurface& surface, StepTimes& times) {
  surface.kind = "mesh";
  Cloud& cloud = surface.mesh.vertices;
  if (cloud.normals.empty()) {
    cloud.normals = times.time("normals", context, [&] {
      return copy(context, vertex_normals(to_host(context, surface.mesh)));
    });
  }
  surface.resolution_m = times.time("resolution", context, [&] {
    return mesh_resolution(context, cloud.points, surface.mesh.triangles);
  });
}

void prepare_cloud(const Context& context, const DescribedSurfaceOptions& options,
                   DescribedSurface& surface, StepTimes& times) {
  Cloud& cloud = surface.mesh.vertices;
  if (cloud.normals.empty()) {
    cloud.normals = times.time("normals", context, [&] {
      return estimate_cloud_normals(context, cloud.points, options.unorganised);
    });
  }
  surface.resolution_m =
      times.time("resolution", context, [&] { return cloud_resolution_m(context, cloud.points); });
}

}  // namespace

void add_described_surface(CLI::App& command, DescribedSurfaceOptions& options) {
  add_surface_input(command, options.input);
  add_depth_input(command, options.input);
  command.add_flag("--new-normals", options.new_normals,
                   "estimate normals also where the file has some");
  add_flags(command, options.organised, "normals");
  add_flags(command, options.unorganised, "normals", {"method"});
  add_flags(command, options.triangulate, "mesh");
}

DescribedSurface read_described_surface(const Context& context,
                                        const DescribedSurfaceOptions& options, StepTimes& times) {
  DescribedSurface surface;
  surface.mesh = read_surface_mesh(context, options.input, times);
  if (!options.input.camera.empty()) {
    surface.camera = read_camera_json(options.input.camera).camera;
  }
  if (options.new_normals) surface.mesh.vertices.normals = {};
  if (surface.organised()) {
    prepare_organised(context, options, surface, times);
  } else if (!surface.mesh.triangles.empty()) {
    prepare_mesh(context, surface, times);
  } else {
    prepare_cloud(context, options, surface, times);
  }
  require(surface.resolution_m > 0, options.input.file, ": its ", surface.cloud().size(),
          " points are no surface: no two of them are neighbours");
  return surface;
}

}  // namespace sextant::app
