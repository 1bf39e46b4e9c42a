// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/surface_input.h"

#include "apps/sextant/file_kind.h"
#include "apps/sextant/options_cli.h"
#include "apps/sextant/progress_bar.h"
#include "sextant/depth/color_points.h"
#include "sextant/depth/deproject.h"
#include "sextant/io/camera_json.h"
#include "sextant/io/geometry_file.h"
#include "sextant/io/image_file.h"
#include "sextant/io/png.h"

namespace sextant::app {

namespace {

Cloud read_depth(const Context& context, const SurfaceInput& input, StepTimes& times) {
  require(is_depth_image(image_info(input.file)), input.file,
          ": is a picture, not a 16-bit depth map");
  require(!input.camera.empty(), input.file, ": a depth map needs its camera; pass --camera FILE");
  const CameraFile camera = read_camera_json(input.camera);
  DepthPngOptions options;
  if (camera.depth_scale_mm) options.unit_m = *camera.depth_scale_mm / 1000;
  if (input.unit_m > 0) options.unit_m = input.unit_m;
  Image<float> depth_m = times.time(
      "read", context, [&] { return copy(context, read_depth_png(input.file, options)); });
  if (input.filter) {
    depth_m = times.time("filter", context,
                         [&] { return bilateral_filter(context, depth_m, input.bilateral); });
  }
  Cloud cloud =
      times.time("deproject", context, [&] { return deproject(context, depth_m, camera.camera); });
  if (input.color.empty()) return cloud;
  const Image<Rgb8> color = copy(context, read_image(input.color));
  require(color.width() == cloud.width && color.height() == cloud.height, input.color, ": ",
          color.width(), " x ", color.height(), " px, but the depth has ", cloud.width, " x ",
          cloud.height, "; 'sextant depth' colours a cloud by an image of another camera");
  cloud.colors = color_points(context, cloud.points, color);
  return cloud;
}

/// What a file of geometry holds, on the host.
TriangleMesh read_mesh_file(const SurfaceInput& input) {
  require(input.camera.empty(), "--camera: ", input.file, " is a cloud, which has no use for it");
  require(!input.filter && input.color.empty(), "--filter and --color are for depth maps; ",
          input.file, " is none");
  ReadOptions options;
  if (input.unit_m > 0) options.unit_m = input.unit_m;
  ProgressBar bar("reading", {"MB", 1e-6});
  options.progress = bar.callback();
  return read_geometry(input.file, options);
}

bool is_depth_map(const SurfaceInput& input) {
  const FileKind kind = kind_of_content(input.file);
  require(kind != FileKind::kCamera, input.file, ": is a camera; the depth map comes first");
  return kind == FileKind::kImage;
}

}  // namespace

void add_surface_input(CLI::App& command, SurfaceInput& input) {
  command
      .add_option("INPUT", input.file,
                  "cloud (PLY, PCD, OBJ, VTK), or 16-bit depth PNG with --camera")
      ->required();
  command.add_option("--camera", input.camera, "camera JSON of a depth map");
  command
      .add_option("--unit-m", input.unit_m,
                  "metres per unit of the input (default: 1 for clouds; for depth maps what the "
                  "camera file says, else 0.001)")
      ->check(CLI::Range(1e-9, 1e9));
}

void add_depth_input(CLI::App& command, SurfaceInput& input) {
  command.add_option("--color", input.color, "colour image registered to a depth map");
  command.add_flag("--filter", input.filter, "bilateral filter of a depth map");
  add_flags(command, input.bilateral, "filter");
}

Cloud read_surface_input(const Context& context, const SurfaceInput& input, StepTimes& times) {
  if (is_depth_map(input)) return read_depth(context, input, times);
  return times.time("read", context, [&] { return copy(context, read_mesh_file(input).vertices); });
}

TriangleMesh read_surface_mesh(const Context& context, const SurfaceInput& input,
                               StepTimes& times) {
  if (!is_depth_map(input)) {
    return times.time("read", context, [&] { return copy(context, read_mesh_file(input)); });
  }
  TriangleMesh mesh;
  mesh.vertices = read_depth(context, input, times);
  return mesh;
}

void require_organised(const Cloud& cloud, const std::string& file) {
  require(cloud.organised(), file, ": its ", cloud.size(),
          " points are in no rows; an organised PLY or PCD or a depth map is needed");
}

ImageView<const Vec3f> organised_points(const Cloud& cloud) {
  return {cloud.points.data(), cloud.width, cloud.height, cloud.width, cloud.device()};
}
ImageView<const Vec3f> organised_normals(const Cloud& cloud) {
  return {cloud.normals.data(), cloud.width, cloud.height, cloud.width, cloud.device()};
}

}  // namespace sextant::app
