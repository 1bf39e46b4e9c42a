// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/recognize/frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "apps/sextant/command/command.h"
#include "apps/sextant/command/files.h"
#include "apps/sextant/command/progress_bar.h"
#include "apps/sextant/input/cloud_frame.h"
#include "apps/sextant/input/depth_map.h"
#include "apps/sextant/input/file_kind.h"
#include "apps/sextant/input/sensor_cloud.h"
#include "sextant/core/eigen3.h"
#include "sextant/geometry/transform.h"
#include "sextant/geometry/undistort.h"
#include "sextant/io/geometry_file.h"
#include "sextant/io/image_file.h"

namespace sextant::app {

namespace {

namespace fs = std::filesystem;

constexpr double kLeastInFront = 0.9;  // of the points that a camera must have before it

bool has_extension(const fs::path& path, Extensions extensions) {
  return std::find(extensions.begin(), extensions.end(), lower_extension(path)) != extensions.end();
}

/// Whether a file of a folder is taken as a frame. A broken one is: reading it says what is wrong.
bool is_depth_file(const fs::path& path) {
  if (!has_extension(path, kDepthFiles)) return false;
  try {
    return is_depth_image(image_info(path));
  } catch (const Error&) {
    return true;
  }
}

void add_folder(const fs::path& folder, std::vector<FrameFile>& frames) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!it->is_directory()) files.push_back(it->path());
  }
  require(!error, folder.string(), ": ", error.message());
  std::sort(files.begin(), files.end());
  std::vector<std::string> others;
  const std::size_t before = frames.size();
  for (const fs::path& file : files) {
    if (is_depth_file(file)) {
      frames.push_back({file.string(), "", false});
    } else {
      others.push_back(file.filename().string());
    }
  }
  require(frames.size() > before, folder.string(), ": holds no depth map: no ",
          "PNG, PGM or TIFF of 16-bit integers or floats");
  if (others.empty()) return;
  constexpr std::size_t kMostNames = 3;
  std::string names;
  for (std::size_t i = 0; i < std::min(kMostNames, others.size()); ++i) {
    names += (i > 0 ? ", " : "") + others[i];
  }
  if (others.size() > kMostNames) names += ", ...";
  note(fmt::format("{}: {} of its files {} and {} left out: {}", folder.string(), others.size(),
                   others.size() == 1 ? "is no depth map" : "are no depth maps",
                   others.size() == 1 ? "is" : "are", names));
}

FrameFile frame_of_file(const std::string& word) {
  const FileKind kind = kind_of_content(word);
  require(kind != FileKind::kCamera, word, ": is a camera; pass it with --camera");
  require(kind != FileKind::kMoped, word, ": is a model of MOPED; 'sextant learn' takes it");
  return {word, "", kind == FileKind::kGeometry};
}

/// The picture of a folder that has the frame's name.
std::string picture_for(const fs::path& frame, const fs::path& folder) {
  for (const char* extension : {".png", ".jpg", ".jpeg"}) {
    const fs::path picture = folder / (frame.stem().string() + extension);
    if (fs::exists(picture)) return picture.string();
  }
  fail("--color: ", folder.string(), " has no picture ", frame.stem().string(),
       ".png, .jpg or .jpeg for ", frame.string());
}

void add_colors(const FrameInput& input, FrameList& list) {
  if (input.color.empty()) return;
  const bool folder = fs::is_directory(input.color);
  require(folder == list.several, "--color: ", input.color,
          list.several ? " is a file; of several frames it names a folder with a picture of the "
                         "name of each"
                       : " is a folder; of one frame it names a picture");
  for (FrameFile& frame : list.frames) {
    if (frame.is_points) continue;
    frame.color = folder ? picture_for(frame.file, input.color) : input.color;
  }
}

SeenFrame read_depth_frame(const FrameInput& input, const FrameFile& file) {
  DepthMap map = read_depth_map(file.file, input.camera, input.unit_m);
  SeenFrame frame;
  frame.camera = map.camera->camera;
  frame.depth_m = std::move(map.depth_m);
  frame.unit_m = map.unit_m;
  frame.unit_from = map.unit_from;
  if (!file.color.empty()) {
    frame.color = read_color_image(file.color);
    require(frame.color.width() == frame.depth_m.width() &&
                frame.color.height() == frame.depth_m.height(),
            file.color, ": ", frame.color.width(), " x ", frame.color.height(),
            " px, but the depth has ", frame.depth_m.width(), " x ", frame.depth_m.height(),
            "; the picture must have the pixels of the depth map");
  }
  if (frame.camera.distortion.is_zero()) return frame;
  const Camera plain = without_distortion(frame.camera);
  const Context host = Context::cpu();
  frame.depth_m = undistort(host, frame.depth_m, frame.camera, plain);
  if (!frame.color.empty()) frame.color = undistort(host, frame.color, frame.camera, plain);
  frame.camera = plain;
  return frame;
}

/// The share of the finite points that a camera has before it.
double share_in_front(const Cloud& cloud, const Rigid3d& points_from_camera) {
  const Rigid3d camera_from_points = inverse(points_from_camera);
  std::int64_t all = 0, front = 0;
  for (const Vec3f& p : cloud.points.host()) {
    if (!is_finite(p)) continue;
    ++all;
    front += (camera_from_points * cast<double>(p)).z > 0;
  }
  return all > 0 ? static_cast<double>(front) / static_cast<double>(all) : 0;
}

/// A camera that looks at the middle of the points; z of the points is up as far as it can be.
Rigid3d looking_at(const Cloud& cloud, const Vec3d& from_m) {
  const Bounds box = bounds(Context::cpu(), cloud.points);
  const Vec3d away = cast<double>(box.low + box.high) / 2.0 - from_m;
  require(norm(away) > 0, "--viewpoint-m: lies in the middle of the points");
  const Vec3d forward = normalized(away);
  Vec3d right = cross(forward, Vec3d{0, 0, 1});
  right = norm(right) > 1e-3 ? normalized(right) : detail::any_perpendicular(forward);
  return {Mat3d::from_columns(right, cross(forward, right), forward), from_m};
}

/// Where a virtual camera stands that sees points in any order.
Rigid3d find_view(const FrameInput& input, const Cloud& cloud) {
  if (!input.viewpoint_m.empty()) {
    const Vec3d at{input.viewpoint_m[0], input.viewpoint_m[1], input.viewpoint_m[2]};
    return looking_at(cloud, at - cloud.origin_m);
  }
  // Cameras look along z; scanners and graphics along -z, with y upwards.
  const Rigid3d along_z, along_minus_z{{{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}}, {}};
  const Rigid3d& sensor = cloud.world_from_sensor;
  for (const Rigid3d& pose : {sensor, along_z, along_minus_z, sensor * along_minus_z}) {
    if (share_in_front(cloud, pose) >= kLeastInFront) return pose;
  }
  fail(
      "its points lie on all sides of the place where a sensor would stand; say with --viewpoint-m "
      "X Y Z where they are seen from");
}

SeenFrame frame_of_points(TriangleMesh scene, const Rigid3d& points_from_camera) {
  TriangleMesh seen;
  seen.vertices.points =
      transform_points(Context::cpu(), inverse(points_from_camera), scene.vertices.points);
  if (!scene.triangles.empty()) seen.triangles = copy(Context::cpu(), scene.triangles);
  DepthFrame made = frame_of_scene(seen);
  return {made.camera,      std::move(made.depth_m), {}, true, false,
          std::move(scene), points_from_camera};
}

SeenFrame read_points_frame(const FrameInput& input, const FrameFile& file) {
  ReadOptions options;
  if (input.unit_m > 0) options.unit_m = input.unit_m;
  TriangleMesh mesh;
  {
    ProgressBar bar("reading", {"MB", 1e-6});
    options.progress = bar.callback();
    mesh = read_geometry(file.file, options);
  }
  note_origin(file.file, mesh.vertices);
  TriangleMesh scene;
  scene.triangles = std::move(mesh.triangles);
  Surface surface(std::move(mesh.vertices));
  prepare_cloud(file.file, surface);
  const bool rows = scene.triangles.empty() && surface.camera_rows.value_or(false);
  const Rigid3d points_from_camera = surface.points_from_camera;
  scene.vertices = std::move(static_cast<Cloud&>(surface));
  try {
    if (!rows) {
      const Rigid3d view = find_view(input, scene.vertices);
      return frame_of_points(std::move(scene), view);
    }
    require(input.viewpoint_m.empty(),
            "--viewpoint-m: has no effect: the rows tell where its camera stood");
    std::optional<CloudFrame> made;
    try {
      made = frame_of_cloud(scene.vertices, file.file);
    } catch (const Error&) {
      // A lens with distortion saw them, or they were moved: then their places count alone.
      return frame_of_points(std::move(scene), points_from_camera);
    }
    return {made->frame.camera,
            std::move(made->frame.depth_m),
            std::move(made->frame.color),
            true,
            true,
            std::move(scene),
            inverse(made->camera_from_points)};
  } catch (const Error& error) {
    const std::string what = error.what();
    if (what.rfind(file.file, 0) == 0) throw;
    fail(file.file, ": ", what);
  }
}

}  // namespace

FrameList list_frames(const FrameInput& input) {
  FrameList list;
  for (const std::string& word : input.words) {
    if (fs::is_directory(word)) {
      list.several = true;
      add_folder(word, list.frames);
    } else {
      list.frames.push_back(frame_of_file(word));
    }
  }
  list.several = list.several || list.frames.size() > 1;
  const auto first_map = std::find_if(list.frames.begin(), list.frames.end(),
                                      [](const FrameFile& frame) { return !frame.is_points; });
  const auto first_points = std::find_if(list.frames.begin(), list.frames.end(),
                                         [](const FrameFile& frame) { return frame.is_points; });
  if (first_map != list.frames.end()) {
    require(!input.camera.empty(), first_map->file,
            ": a depth map needs its camera; pass --camera FILE");
  } else {
    require(input.camera.empty(), "--camera: ", first_points->file,
            " is a cloud, which has no use for it");
    require(input.color.empty(), "--color: is for depth maps; ", first_points->file, " is none");
  }
  require(input.viewpoint_m.empty() || first_points != list.frames.end(),
          "--viewpoint-m: has no effect: a depth map is seen from its camera");
  add_colors(input, list);
  return list;
}

SeenFrame read_frame(const FrameInput& input, const FrameFile& frame) {
  return frame.is_points ? read_points_frame(input, frame) : read_depth_frame(input, frame);
}

Rigid3d file_from_camera(const SeenFrame& frame) {
  Rigid3d pose = frame.scene_from_camera;
  pose.translation = pose.translation + frame.scene.vertices.origin_m;
  return pose;
}

}  // namespace sextant::app
