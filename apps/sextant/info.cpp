// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <numbers>

#include "apps/sextant/command/command.h"
#include "apps/sextant/command/files.h"
#include "apps/sextant/command/options_cli.h"
#include "apps/sextant/command/progress_bar.h"
#include "apps/sextant/input/depth_map.h"
#include "apps/sextant/input/file_kind.h"
#include "apps/sextant/picture/axes_picture.h"
#include "apps/sextant/subcommands.h"
#include "sextant/geometry/diameter.h"
#include "sextant/geometry/mesh_health.h"
#include "sextant/io/camera_json.h"
#include "sextant/io/file.h"
#include "sextant/io/geometry_file.h"
#include "sextant/io/image_file.h"
#include "sextant/io/moped_model.h"
#include "sextant/surface/symmetries.h"

namespace sextant::app {

namespace {

/// Objects and rooms are smaller, and a scan in millimetres is larger.
constexpr float kSuspiciousExtent_m = 50.0f;

struct InfoCommand {
  CommonOptions common;
  std::string file;
  double unit_m = 0;  ///< 0: metres for geometry, millimetres for depth maps
  bool symmetries = false;
  std::string picture;  ///< of the axes of symmetries
};

template <class T>
nlohmann::json to_json(const Vec3<T>& v) {
  return {v.x, v.y, v.z};
}

/// A corner of the bounds in coordinates of the file.
nlohmann::json corner(const GeometryInfo& info, const Vec3f& v) {
  return info.origin_m == Vec3d{} ? to_json(v) : to_json(cast<double>(v) + info.origin_m);
}

nlohmann::json to_json(const Symmetries& symmetries) {
  nlohmann::json document = {{"discrete", nlohmann::json::array()},
                             {"continuous", nlohmann::json::array()}};
  for (const Rigid3d& m : symmetries.discrete) {
    nlohmann::json rows = nlohmann::json::array();
    for (const Vec3d& row : m.rotation.row) rows.push_back(to_json(row));
    document["discrete"].push_back({{"rotation", rows}, {"translation_m", to_json(m.translation)}});
  }
  for (const ContinuousSymmetry& c : symmetries.continuous) {
    document["continuous"].push_back({{"axis", to_json(c.axis)}, {"point_m", to_json(c.point_m)}});
  }
  return document;
}

/// "every turn about an axis and 1 more", "3 rotations", "none".
std::string in_words(const Symmetries& s) {
  if (s.none()) return "none";
  if (s.continuous.size() > 1) return "every turn (a ball)";
  const std::size_t n = s.discrete.size();
  if (s.continuous.empty()) return fmt::format("{} rotation{}", n, n == 1 ? "" : "s");
  return "every turn about an axis" + (n > 0 ? fmt::format(", with {} across it", n) : "");
}

/// Adds what learning an object would find out about the mesh or cloud.
void describe_object(const InfoCommand& command, const ReadOptions& options, Result& result) {
  const Context cpu = Context::cpu(command.common.threads);
  const MendedMesh mended = mend_mesh(cpu, read_geometry(command.file, options));
  const MeshHealth& h = mended.health;
  const double diameter = diameter_m(cpu, mended.mesh.vertices.points);
  result.document["diameter_m"] = diameter;
  result.text += fmt::format("  diameter {:.4g} m\n", diameter);
  if (h.triangles > 0) {
    result.document["health"] = {{"watertight", h.watertight()},
                                 {"parts", h.parts},
                                 {"closed_parts", h.closed_parts},
                                 {"turned_parts", h.turned_parts},
                                 {"turned_triangles", h.turned_triangles},
                                 {"holes", h.holes},
                                 {"open_edges", h.open_edges},
                                 {"crowded_edges", h.crowded_edges},
                                 {"remarks", h.remarks}};
    if (h.remarks.empty()) result.text += "  sound: closed, and its triangles face outwards\n";
    if (!h.remarks.empty()) result.text += "  to learn it, this would be mended or borne:\n";
    for (const std::string& remark : h.remarks) result.text += fmt::format("    {}\n", remark);
  }
  if (!command.symmetries) return;
  ProgressBar bar("symmetries", {"steps", 1});
  const FoundSymmetries found = find_symmetries(cpu, mended.mesh, {}, bar.callback());
  result.document["symmetries"] = {{"shape", to_json(found.shape)},
                                   {"appearance", to_json(found.appearance)}};
  result.text += fmt::format("  symmetries of the shape: {}; of the appearance: {}\n",
                             in_words(found.shape), in_words(found.appearance));
  if (command.picture.empty()) return;
  require(!mended.mesh.triangles.empty(), "--picture: ", command.file, " has no triangles to draw");
  write_image(command.picture, axes_picture(cpu, mended.mesh, found.shape));
}

Result describe_geometry(const InfoCommand& command) {
  ReadOptions options;
  if (command.unit_m > 0) options.unit_m = command.unit_m;
  ProgressBar bar("reading", {"MB", 1e-6});
  options.progress = bar.callback();
  const GeometryInfo info = geometry_info(command.file, options);
  const Bounds& box = info.bounds;
  Result result;
  result.document = {{"format", to_string(info.format)},
                     {"encoding", info.encoding},
                     {"points", info.points},
                     {"invalid_points", info.invalid_points},
                     {"triangles", info.triangles},
                     {"fields", info.fields},
                     {"materials", info.materials},
                     {"width", info.width},
                     {"height", info.height},
                     {"comments", info.comments},
                     {"left_out", info.left_out},
                     {"origin_m", to_json(info.origin_m)},
                     {"low_m", nullptr},
                     {"high_m", nullptr}};
  result.text = fmt::format("{}: {} ({}), {} points", command.file, to_string(info.format),
                            info.encoding, info.points);
  if (info.width > 0) result.text += fmt::format(" in {} x {}", info.width, info.height);
  if (info.invalid_points > 0)
    result.text += fmt::format(", {} of them holes", info.invalid_points);
  if (info.triangles > 0) result.text += fmt::format(", {} triangles", info.triangles);
  result.text += "\n";
  if (!info.fields.empty()) {
    result.text += fmt::format("  with {}\n", fmt::join(info.fields, ", "));
  }
  if (!info.materials.empty()) {
    result.text += fmt::format("  materials {}\n", fmt::join(info.materials, ", "));
  }
  for (const std::string& part : info.left_out) {
    result.text += fmt::format("  {}, which has no place in a mesh\n", part);
  }
  if (!(info.origin_m == Vec3d{})) {
    result.text +=
        fmt::format("  about the origin {} {} {} m, since floats cannot hold the coordinates\n",
                    info.origin_m.x, info.origin_m.y, info.origin_m.z);
  }
  if (!box.empty()) {
    result.document["low_m"] = corner(info, box.low);
    result.document["high_m"] = corner(info, box.high);
    const Vec3f size = box.high - box.low;
    result.text += fmt::format("  x {:.4g} to {:.4g}, y {:.4g} to {:.4g}, z {:.4g} to {:.4g} m\n",
                               box.low.x, box.high.x, box.low.y, box.high.y, box.low.z, box.high.z);
    result.text += fmt::format("  size {:.4g} x {:.4g} x {:.4g} m\n", size.x, size.y, size.z);
    if (box.diagonal_m() > kSuspiciousExtent_m && command.unit_m == 0) {
      result.text += "  larger than a room: if the file is in millimetres, pass --unit-m 0.001\n";
    }
    if (info.triangles > 0 || command.symmetries) describe_object(command, options, result);
  }
  return result;
}

/// Adds how far the valid pixels of a depth map lie, and doubts where that is hard to believe.
void describe_depth(const InfoCommand& command, std::span<const std::byte> file,
                    const ImageInfo& image, Result& result) {
  const double unit_m = depth_unit_m(image, {.unit_m = command.unit_m});
  const Image<float> depth_m = read_depth(file, command.file, {.unit_m = unit_m});
  const DepthSummary summary = summarize_depth(depth_m);
  const bool believable = believable_depth(depth_m);
  summary.add_to(result.document);
  result.document["unit_m"] = unit_m;
  result.document["believable"] = believable;
  const double share = 100.0 * static_cast<double>(summary.valid_pixels) /
                       static_cast<double>(depth_m.pixels().size());
  result.text += fmt::format("  depth map, {:.1f} % valid{}", share, summary.text());
  if (summary.valid_pixels > 0) result.text += fmt::format(" at {} m a step", unit_m);
  result.text += "\n";
  if (!believable) {
    result.text += fmt::format(
        "  not between {} and {} m: pass --unit-m (0.001 for millimetres), or this is no depth\n",
        kNearestMedian_m, kFarthestMedian_m);
  }
}

Result describe_image(const InfoCommand& command) {
  require(!command.symmetries, "--symmetries: has no effect: ", command.file, " is an image");
  const FileBytes file = read_file(command.file, kMaxImageFileBytes);
  const ImageInfo info = image_info(file, command.file);
  require(is_depth_image(info) || command.unit_m == 0, "--unit-m: has no effect: ", command.file,
          " is a picture, not a depth map");
  Result result;
  result.document = {{"format", to_string(info.format)},
                     {"width", info.width},
                     {"height", info.height},
                     {"channels", info.channels},
                     {"bit_depth", info.bit_depth},
                     {"floating", info.floating}};
  result.text = fmt::format("{}: {}, {} x {} pixels, {} x {} bit{}\n", command.file,
                            to_string(info.format), info.width, info.height, info.channels,
                            info.bit_depth, info.floating ? " floats" : "");
  if (is_depth_image(info)) describe_depth(command, file, info, result);
  return result;
}

/// The angle that an image side spans, in degrees.
double view_deg(int pixels, double focal_px, double centre_px) {
  // Pixel centres are integers, so the image reaches from -½ to pixels - ½.
  const double angle =
      std::atan((pixels - 0.5 - centre_px) / focal_px) + std::atan((centre_px + 0.5) / focal_px);
  return angle * 180 / std::numbers::pi;
}

/// One camera; its size is null where the file has none.
Result describe_one(const CameraFile& file) {
  const Camera& c = file.camera;
  const bool sized = c.width > 0;
  CameraFile whole = file;
  if (!sized) whole.camera.width = whole.camera.height = 1;
  Result result;
  result.document = camera_to_json(whole);
  for (const char* key : {"width", "height"}) {
    if (!sized) result.document[key] = nullptr;
  }
  result.text = sized ? fmt::format("{} x {} px", c.width, c.height) : "no image size";
  result.text +=
      fmt::format(", fx {:.3f} fy {:.3f} cx {:.3f} cy {:.3f} px, {}", c.fx_px, c.fy_px, c.cx_px,
                  c.cy_px, c.distortion.is_zero() ? "no distortion" : "with lens distortion");
  if (file.depth_scale_mm) result.text += fmt::format(", depth {} mm a step", *file.depth_scale_mm);
  if (!sized) return result;
  const double horizontal = view_deg(c.width, c.fx_px, c.cx_px);
  const double vertical = view_deg(c.height, c.fy_px, c.cy_px);
  result.document["horizontal_view_deg"] = horizontal;
  result.document["vertical_view_deg"] = vertical;
  result.text +=
      fmt::format("\n  sees {:.1f} x {:.1f} degrees (without distortion)", horizontal, vertical);
  return result;
}

Result describe_camera(const InfoCommand& command) {
  require(!command.symmetries, "--symmetries: has no effect: ", command.file, " is a camera");
  require(command.unit_m == 0, "--unit-m: has no effect: ", command.file, " is a camera");
  const CameraList list = read_camera_list(command.file);
  Result result = describe_one(list.cameras.front());
  if (list.images.empty()) {
    result.text = fmt::format("{}: camera, {}\n", command.file, result.text);
    return result;
  }
  nlohmann::json cameras = nlohmann::json::array();
  for (const CameraFile& camera : list.cameras) cameras.push_back(describe_one(camera).document);
  result.text =
      fmt::format("{}: cameras of {} images, {} to {}; the first: {}\n", command.file,
                  list.images.size(), list.images.front(), list.images.back(), result.text);
  result.document = {{"images", list.images}, {"cameras", cameras}};
  return result;
}

Result describe_moped(const InfoCommand& command) {
  const std::string why = command.file + " is a model of MOPED";
  require(!command.symmetries, "--symmetries: has no effect: ", why);
  require(command.unit_m == 0, "--unit-m: has no effect: ", why);
  Result result;
  result.document["models"] = nlohmann::json::array();
  for (const MopedModel& model : read_moped_models(command.file)) {
    const double diameter = diameter_m(Context::cpu(), view_of(model.points_m));
    result.document["models"].push_back({{"name", model.name},
                                         {"version", model.version},
                                         {"points", model.points_m.size()},
                                         {"left_out", model.left_out},
                                         {"diameter_m", diameter}});
    result.text +=
        fmt::format("{}: model of MOPED '{}', {} points with SIFT descriptors, diameter {:.4g} m\n",
                    command.file, model.name, model.points_m.size(), diameter);
    if (model.left_out > 0) {
      result.text += fmt::format("  {} points with others, which are not read\n", model.left_out);
    }
  }
  return result;
}

Result describe_file(const InfoCommand& command) {
  switch (kind_of_content(command.file)) {
    case FileKind::kImage:
      return describe_image(command);
    case FileKind::kMoped:
      return describe_moped(command);
    case FileKind::kCamera:
      return describe_camera(command);
    default:
      return describe_geometry(command);
  }
}

}  // namespace

void add_info(CLI::App& app) {
  auto state = std::make_shared<InfoCommand>();
  CLI::App* command =
      add_command(app, "info", "What a cloud, mesh, image, depth map or camera file holds",
                  "sextant info scan.ply\n  sextant info cup.ply --unit-m 0.001 --symmetries\n  "
                  "sextant info --json depth.png --unit-m 0.0002",
                  state->common);
  command
      ->add_option("FILE", state->file,
                   "PLY, PCD, OBJ, VTK, XYZ, PNG, JPEG, PGM, PPM, TIFF or camera JSON")
      ->required();
  command
      ->add_option(
          "--unit-m", state->unit_m,
          "metres per unit of the file (default: 1 for geometry and depth in floats, 0.001 for "
          "depth in integers)")
      ->check(within<double>({1e-9, 1e9}));
  command->add_flag("--symmetries", state->symmetries,
                    "find the rotations that carry the object onto itself");
  command
      ->add_option("--picture", state->picture,
                   "with --symmetries: draw the mesh and the axes of its shape (PNG or JPEG)")
      ->needs("--symmetries");
  command->callback([state]() {
    check_files({{"FILE", state->file}}, {{"--picture", state->picture, kPictureFiles}});
    context_for(state->common);
    print_result(state->common, describe_file(*state));
  });
}

}  // namespace sextant::app
