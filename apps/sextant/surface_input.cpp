// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/surface_input.h"

#include <cmath>

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

/// Sums of the triangles' normals, long where triangles are large: which side of a mesh is outside.
Buffer<Vec3f> triangle_normals(const TriangleMesh& mesh) {
  std::vector<Vec3f> normals(static_cast<std::size_t>(mesh.vertices.size()));
  const auto points = mesh.vertices.points.host();
  for (const Vec3i& t : mesh.triangles.host()) {
    const auto a = static_cast<std::size_t>(t.x);
    const auto b = static_cast<std::size_t>(t.y);
    const auto c = static_cast<std::size_t>(t.z);
    const Vec3f normal = cross(points[b] - points[a], points[c] - points[a]);
    for (const std::size_t corner : {a, b, c}) normals[corner] += normal;
  }
  for (Vec3f& normal : normals) normal = normalized(normal);
  return copy(Context::cpu(), normals);
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
    if (read.vertices.normals.empty() && !read.triangles.empty()) {
      read.vertices.normals = triangle_normals(read);
    }
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

bool seen_from_origin(const Cloud& cloud) {
  if (!cloud.organised()) return false;
  // Correlations of x/z with the column and of y/z with the row.
  double count = 0, before = 0;
  double sum[4] = {}, product[4] = {}, mixed[2] = {};
  const auto points = cloud.points.host();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec3d p = cast<double>(points[i]);
    if (!is_finite(p)) continue;
    count += 1;
    if (!(p.z > 0)) continue;
    before += 1;
    const auto width = static_cast<std::size_t>(cloud.width);
    const double values[4] = {static_cast<double>(i % width), p.x / p.z,
                              static_cast<double>(i / width), p.y / p.z};
    for (int j = 0; j < 4; ++j) {
      sum[j] += values[j];
      product[j] += values[j] * values[j];
    }
    for (int j = 0; j < 2; ++j) mixed[j] += values[2 * j] * values[2 * j + 1];
  }
  if (!(before > 0.99 * count) || count < 3) return count < 3;
  for (int j = 0; j < 2; ++j) {
    const double a = product[2 * j] - sum[2 * j] * sum[2 * j] / before;
    const double b = product[2 * j + 1] - sum[2 * j + 1] * sum[2 * j + 1] / before;
    const double ab = mixed[j] - sum[2 * j] * sum[2 * j + 1] / before;
    // A single row or column of points says nothing.
    if (a > 0 && b > 0 && ab < 0.99 * std::sqrt(a * b)) return false;
  }
  return true;
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
