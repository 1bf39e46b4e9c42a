// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/describe/described_surface.h"

#include "apps/sextant/command/options_cli.h"

namespace sextant::app {

void add_described_surface(CLI::App& command, DescribedSurfaceOptions& options,
                           bool with_triangles) {
  add_surface_input(command, options.input);
  add_depth_input(command, options.input);
  command.add_flag("--new-normals", options.new_normals,
                   "estimate normals also where the file has some");
  add_flags(command, options.normals.organised, "normals");
  add_flags(command, options.normals.unorganised, "normals", {"method"});
  if (with_triangles) add_flags(command, options.triangulate, "mesh");
}

void check_surface_flags(const CLI::App& command, DescribedSurfaceOptions& options) {
  if (!options.input.filter) {
    refuse_flags(command, flags_of<BilateralOptions>("filter"), "it belongs to --filter");
  }
  // A number of neighbours or a radius asks for a plane, a sigma for weights.
  CloudNormalsMethod& method = options.normals.unorganised.method;
  if (is_given(command, "--normals-sigma-m")) method = CloudNormalsMethod::kWeighted;
  if (is_given(command, "--normals-k") || is_given(command, "--normals-radius-m")) {
    refuse_flags(command, {"--normals-sigma-m"}, "--normals-k and --normals-radius-m fit planes");
    method = CloudNormalsMethod::kPca;
  }
  if (is_given(command, "--normals-radius-m")) {
    refuse_flags(command, {"--normals-k"}, "--normals-radius-m is given");
  }
}

void check_normals_flags(const CLI::App& command, const DescribedSurfaceOptions& options,
                         const Surface& surface) {
  const std::string& file = options.input.file;
  const std::vector<std::string> window = flags_of<NormalsOptions>("normals");
  std::vector<std::string> neighbours = flags_of<CloudNormalsOptions>("normals");
  std::erase(neighbours, "--normals-method");  // is that of windows here
  if (!options.new_normals && !surface.normals.empty()) {
    const std::string why =
        surface.triangles.empty() || surface.organised()
            ? file + " has normals; --new-normals estimates others"
            : file + " is a mesh, whose normals are those of the file or of its triangles";
    refuse_flags_for_input(command, window, why);
    refuse_flags_for_input(command, neighbours, why);
  } else if (surface.organised()) {
    refuse_flags_for_input(command, neighbours, file + " has the rows of an image");
  } else {
    const std::string why =
        file + (surface.triangles.empty() ? " has points in any order"
                                          : " is a mesh, which has the normals of its triangles");
    refuse_flags_for_input(command, window, why);
    if (!surface.triangles.empty()) refuse_flags_for_input(command, neighbours, why);
  }
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
