// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/input/surface_input.h"

#include <cmath>

#include "apps/sextant/command/command.h"
#include "apps/sextant/command/options_cli.h"
#include "apps/sextant/command/progress_bar.h"
#include "apps/sextant/input/depth_map.h"
#include "apps/sextant/input/file_kind.h"
#include "apps/sextant/input/sensor_cloud.h"
#include "sextant/depth/surface_from_depth.h"
#include "sextant/io/geometry_file.h"
#include "sextant/io/image_file.h"

namespace sextant::app {

namespace {

Surface read_depth(const Context& context, const SurfaceInput& input, StepTimes& times) {
  require(!input.camera.empty() || !is_depth_image(image_info(input.file)), input.file,
          ": a depth map needs its camera; pass --camera FILE");
  Camera camera;
  Image<float> depth_m = times.time("read", context, [&] {
    DepthMap map = read_depth_map(input.file, input.camera, input.unit_m);
    camera = map.camera->camera;
    return copy(context, map.depth_m);
  });
  if (input.filter) {
    depth_m = times.time("filter", context,
                         [&] { return bilateral_filter(context, depth_m, input.bilateral); });
  }
  if (input.color.empty()) {
    return times.time("deproject", context,
                      [&] { return surface_from_depth(context, depth_m, camera); });
  }
  const Image<Rgb8> color = copy(context, read_color_image(input.color));
  require(color.width() == depth_m.width() && color.height() == depth_m.height(), input.color, ": ",
          color.width(), " x ", color.height(), " px, but the depth has ", depth_m.width(), " x ",
          depth_m.height(), "; 'sextant depth' colours a cloud by an image of another camera");
  return times.time("deproject", context,
                    [&] { return surface_from_depth(context, depth_m, camera, color); });
}

/// Smooths the depth of a cloud on the host that has rows; its points move along their rays.
void filter_organised(Surface& surface, const SurfaceInput& input) {
  require_organised(surface, input.file);
  require(surface.camera_rows.value_or(false), "--filter: the rows of ", input.file,
          " are not those of a camera, so there is no depth to filter");
  const Context host = Context::cpu();
  Image<float> depth_m(host, surface.width, surface.height);
  const auto points = surface.points.host();
  const Vec3f sensor = cast<float>(surface.points_from_camera.translation);
  const Vec3f forward = cast<float>(surface.points_from_camera.rotation.column(2));
  for (std::size_t i = 0; i < points.size(); ++i) {
    depth_m.pixels().host()[i] = dot(forward, points[i] - sensor);
  }
  const Image<float> filtered_m = bilateral_filter(host, depth_m, input.bilateral);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const float share = filtered_m.pixels().host()[i] / depth_m.pixels().host()[i];
    points[i] = sensor + (points[i] - sensor) * share;
  }
  surface.normals = {};  // of the points as they were
}

/// What a file of geometry holds, on the host.
TriangleMesh read_mesh_file(const SurfaceInput& input) {
  require(input.camera.empty(), "--camera: ", input.file, " is a cloud, which has no use for it");
  require(input.color.empty(), "--color: is for depth maps; ", input.file, " is none");
  ReadOptions options;
  if (input.unit_m > 0) options.unit_m = input.unit_m;
  ProgressBar bar("reading", {"MB", 1e-6});
  options.progress = bar.callback();
  TriangleMesh mesh = read_geometry(input.file, options);
  note_origin(input.file, mesh.vertices);
  return mesh;
}

bool is_depth_map(const SurfaceInput& input) {
  const FileKind kind = kind_of_content(input.file);
  require(kind != FileKind::kCamera, input.file, ": is a camera; the depth map comes first");
  require(kind != FileKind::kMoped, input.file,
          ": is a model of MOPED, not a surface; 'sextant learn' takes it");
  return kind == FileKind::kImage;
}

}  // namespace

void add_surface_input(CLI::App& command, SurfaceInput& input) {
  command
      .add_option(
          "INPUT", input.file,
          "cloud (PLY, PCD, OBJ, VTK, XYZ), or depth map with --camera: PNG, PGM or TIFF with "
          "16-bit integers, or TIFF with floats")
      ->required();
  command.add_option("--camera", input.camera, "camera JSON of a depth map (docs/camera.md)");
  command
      .add_option("--unit-m", input.unit_m,
                  "metres per unit of the input (default: 1 for clouds; for depth maps what the "
                  "camera file says, else 0.001 for integers and 1 for floats)")
      ->check(within<double>({1e-9, 1e9}));
}

void add_depth_input(CLI::App& command, SurfaceInput& input) {
  command.add_option("--color", input.color, "colour image registered to a depth map");
  command.add_flag("--filter", input.filter, "bilateral filter of a depth map");
  add_flags(command, input.bilateral, "filter");
}

std::vector<InputFile> input_files(const SurfaceInput& input) {
  return {{"INPUT", input.file}, {"--camera", input.camera}, {"--color", input.color}};
}

Surface read_surface_input(const Context& context, const SurfaceInput& input, StepTimes& times) {
  if (is_depth_map(input)) return read_depth(context, input, times);
  return times.time("read", context, [&] {
    Surface surface(read_mesh_file(input));
    prepare_cloud(input.file, surface);
    if (input.filter) filter_organised(surface, input);
    if (surface.normals.empty() && !surface.triangles.empty()) {
      const Context host = Context::cpu();
      TriangleMesh mesh;
      mesh.vertices.points = copy(host, surface.points);
      mesh.triangles = copy(host, surface.triangles);
      surface.normals = vertex_normals(mesh);
    }
    return copy(context, surface);
  });
}

Vec3f about_origin(const Cloud& cloud, const Vec3f& viewpoint_m) {
  return viewpoint_m == Vec3f{} ? viewpoint_m : viewpoint_m - cast<float>(cloud.origin_m);
}

void require_organised(const Cloud& cloud, const std::string& file) {
  require(cloud.organised(), file, ": its ", cloud.size(),
          " points are in no rows; an organised PLY or PCD or a depth map is needed");
}

}  // namespace sextant::app
