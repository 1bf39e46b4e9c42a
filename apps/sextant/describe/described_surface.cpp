// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/describe/described_surface.h"

#include "apps/sextant/command/options_cli.h"

namespace sextant::app {

void add_described_surface(CLI::App& command, DescribedSurfaceOptions& options) {
  add_surface_input(command, options.input);
  add_depth_input(command, options.input);
  command.add_flag("--new-normals", options.new_normals,
                   "estimate normals also where the file has some");
  add_flags(command, options.normals.organised, "normals");
  add_flags(command, options.normals.unorganised, "normals", {"method"});
  add_flags(command, options.triangulate, "mesh");
}

Surface read_described_surface(const Context& context, const DescribedSurfaceOptions& options,
                               StepTimes& times) {
  Surface surface = read_surface_input(context, options.input, times);
  if (has_camera_rows(context, surface)) {
    surface.triangles = {};  // those of the pixels count
  } else {
    surface.width = surface.height = 0;  // rows that are no camera's mean nothing
  }
  return surface;
}

void complete_surface(const Context& context, const DescribedSurfaceOptions& options,
                      bool with_triangles, Surface& surface, StepTimes& times) {
  if (options.new_normals || surface.normals.empty()) {
    SurfaceNormalsOptions normals = options.normals;
    normals.unorganised.viewpoint_m = about_origin(surface, normals.unorganised.viewpoint_m);
    times.time("normals", context, [&] { estimate_normals(context, surface, normals); });
  }
  if (surface.organised() && with_triangles) {
    times.time("triangulate", context, [&] { triangulate(context, surface, options.triangulate); });
  } else {
    times.time("resolution", context, [&] { estimate_resolution(context, surface); });
  }
  require(surface.resolution_m > 0, options.input.file, ": its ", surface.size(),
          " points are no surface: no two of them are neighbours");
}

const char* kind_of(const Surface& surface) {
  if (surface.organised()) return "organised cloud";
  return surface.triangles.empty() ? "cloud" : "mesh";
}

}  // namespace sextant::app
