// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/surface_input.h"

#include "apps/sextant/file_kind.h"
#include "apps/sextant/progress_bar.h"
#include "sextant/depth/bilateral.h"
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
    depth_m = times.time("filter", context, [&] { return bilateral_filter(context, depth_m); });
  }
  return times.time("deproject", context,
                    [&] { return deproject(context, depth_m, camera.camera); });
}

/// Smooths the depth of a cloud on the host that has rows; its points move along their rays.
void filter_organised(Cloud& cloud, const std::string& file) {
  require_organised(cloud, file);
  const Context host = Context::cpu();
  Image<float> depth_m(host, cloud.width, cloud.height);
  const auto points = cloud.points.host();
  for (std::size_t i = 0; i < points.size(); ++i) depth_m.pixels().host()[i] = points[i].z;
  const Image<float> filtered_m = bilateral_filter(host, depth_m);
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i] = points[i] * (filtered_m.pixels().host()[i] / points[i].z);
  }
  cloud.normals = {};  // of the points as they were
}

Cloud read_cloud(const Context& context, const SurfaceInput& input, StepTimes& times) {
  require(input.camera.empty(), "--camera: ", input.file, " is a cloud, which has no use for it");
  ReadOptions options;
  if (input.unit_m > 0) options.unit_m = input.unit_m;
  return times.time("read", context, [&] {
    ProgressBar bar("reading", {"MB", 1e-6});
    options.progress = bar.callback();
    TriangleMesh read = read_geometry(input.file, options);
    if (input.filter) filter_organised(read.vertices, input.file);
    return copy(context, read.vertices);
  });
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

Cloud read_surface_input(const Context& context, const SurfaceInput& input, StepTimes& times) {
  const FileKind kind = kind_of_content(input.file);
  require(kind != FileKind::kCamera, input.file, ": is a camera; the depth map comes first");
  return kind == FileKind::kImage ? read_depth(context, input, times)
                                  : read_cloud(context, input, times);
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
