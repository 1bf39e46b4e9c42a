// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/segment.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "apps/sextant/command/command.h"
#include "apps/sextant/command/files.h"
#include "apps/sextant/command/options_cli.h"
#include "apps/sextant/input/sensor_cloud.h"
#include "apps/sextant/input/surface_input.h"
#include "apps/sextant/picture/cloud_picture.h"
#include "apps/sextant/subcommands.h"
#include "apps/sextant/voting/saliency.h"
#include "sextant/geometry/mesh.h"
#include "sextant/io/image_file.h"
#include "sextant/io/png.h"
#include "sextant/render/label_colors.h"
#include "sextant/surface/surface_operations.h"

namespace sextant::app {

namespace {

/// Where stick, plate and ball saliencies come from, which find creases in clouds.
enum class SaliencySource { kNone, kFile, kVoting };
const std::map<std::string, SaliencySource> kSaliencySources{{"none", SaliencySource::kNone},
                                                             {"file", SaliencySource::kFile},
                                                             {"voting", SaliencySource::kVoting}};

struct SegmentCommand {
  CommonOptions common;
  SurfaceInput input;
  SegmentOptions organised;
  CloudSegmentOptions unorganised;
  SaliencySource saliency = SaliencySource::kNone;
  std::string output;
  std::string labels;
  std::string picture;
  int rows = 20;  ///< of the table on the terminal
};

/// Labels on the host and what they stand for.
struct Regions {
  std::vector<std::int32_t> labels;
  std::vector<SurfaceRegion> regions;
};

/// What the segmentation of the points in any order is told of creases.
PointSaliency find_saliency(const Context& context, const SegmentCommand& command, Surface& surface,
                            StepTimes& times) {
  if (command.saliency == SaliencySource::kNone) return {};
  if (command.saliency == SaliencySource::kVoting) {
    times.time("voting", context, [&] {
      // Ball votes make every plane half ball; only stick votes say that it is a surface.
      VotingOptions options{.second_pass = true};
      options.orient = true;
      options.viewpoint_m = viewpoint_or_sensor(surface, {});
      Buffer<Vec3f> normals = vote_on(context, surface, options);
      if (surface.normals.empty()) surface.normals = std::move(normals);
    });
  }
  return saliency_of(context, surface, command.input.file);
}

Regions find_regions(const Context& context, const SegmentCommand& command, Surface& surface,
                     StepTimes& times) {
  const PointSaliency saliency = find_saliency(context, command, surface, times);
  if (surface.normals.empty()) {
    times.time("normals", context, [&] { estimate_normals(context, surface); });
  }
  CloudSegmentation found = times.time("segment", context, [&] {
    return segment(context, surface,
                   {.organised = command.organised, .unorganised = command.unorganised}, saliency);
  });
  return {to_host(context, found.labels), std::move(found.regions)};
}

nlohmann::json numbers(const Vec3f& v) { return {v.x, v.y, v.z}; }

nlohmann::json to_json(const SurfaceRegion& region) {
  nlohmann::json document{{"kind", name_of(region.kind, kSurfaceKinds)},
                          {"points", region.points},
                          {"area_m2", region.area_m2},
                          {"centre_m", numbers(region.centre_m)},
                          {"normal", numbers(region.normal)},
                          {"rms_m", region.rms_m}};
  if (region.kind == SurfaceKind::kPlane) document["offset_m"] = region.offset_m;
  if (region.kind == SurfaceKind::kSphere || region.kind == SurfaceKind::kCylinder) {
    document["radius_m"] = region.radius_m;
    document["model_centre_m"] = numbers(region.model_centre_m);
  }
  if (region.kind == SurfaceKind::kCylinder) document["axis"] = numbers(region.axis);
  return document;
}

/// What is special about a region of its kind.
std::string details(const SurfaceRegion& r) {
  const auto vector = [](const Vec3f& v) {
    return fmt::format("({:.3f}, {:.3f}, {:.3f})", v.x, v.y, v.z);
  };
  switch (r.kind) {
    case SurfaceKind::kPlane:
      return fmt::format("normal {}, offset {:.4f} m", vector(r.normal), r.offset_m);
    case SurfaceKind::kSphere:
      return fmt::format("radius {:.1f} mm, centre {} m", 1e3 * r.radius_m,
                         vector(r.model_centre_m));
    case SurfaceKind::kCylinder:
      return fmt::format("radius {:.1f} mm, axis {}", 1e3 * r.radius_m, vector(r.axis));
    case SurfaceKind::kFreeForm:
      break;
  }
  return fmt::format("centre {} m", vector(r.centre_m));
}

std::string table(const std::vector<SurfaceRegion>& regions, int rows) {
  std::string text = fmt::format("{:>5}  {:<9} {:>8} {:>9} {:>8}  {}\n", "label", "kind", "points",
                                 "cm2", "rms mm", "");
  const std::size_t shown = std::min(regions.size(), static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < shown; ++i) {
    const SurfaceRegion& r = regions[i];
    text += fmt::format("{:>5}  {:<9} {:>8} {:>9.1f} {:>8.2f}  {}\n", i + 1,
                        name_of(r.kind, kSurfaceKinds), r.points, 1e4 * r.area_m2, 1e3 * r.rms_m,
                        details(r));
  }
  if (shown < regions.size()) text += fmt::format("{} more\n", regions.size() - shown);
  return text;
}

void write_cloud(const std::string& path, Cloud cloud, const std::vector<std::int32_t>& labels) {
  const Context host = Context::cpu(1);
  TriangleMesh result;
  cloud.colors = Buffer<Rgb8>(host, cloud.size());
  Buffer<std::int32_t> label(host, cloud.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    cloud.colors.host()[i] = label_color(labels[i]);
    label.host()[i] = labels[i];
  }
  std::erase_if(cloud.attributes, [](const Attribute& a) { return a.name == "label"; });
  cloud.attributes.push_back({"label", std::move(label)});
  result.vertices = std::move(cloud);
  write_geometry_noting(path, result);
}

/// The labels as the integers of a 16-bit PNG.
void write_labels(const std::string& path, ImageView<const std::int32_t> labels,
                  std::size_t regions) {
  require(regions <= 65535, path, ": ", regions, " regions are more than 16 bits hold; raise ",
          "--min-points");
  Image<float> values(Context::cpu(1), labels.width, labels.height);
  std::copy_n(labels.data, labels.pixels(), values.pixels().data());
  write_depth_png(path, values, {.unit_m = 1});
}

/// Error where the user gave a flag of the other kind of input.
void check_flags(const CLI::App& command, const std::string& file, bool organised) {
  const std::vector<std::string> image = flags_of<SegmentOptions>();
  const std::vector<std::string> cloud = flags_of<CloudSegmentOptions>();
  const std::vector<std::string>& heard = organised ? image : cloud;
  std::vector<std::string> idle;
  for (const std::string& flag : organised ? cloud : image) {
    if (std::find(heard.begin(), heard.end(), flag) == heard.end()) idle.push_back(flag);
  }
  refuse_flags_for_input(command, idle,
                         file + (organised ? " has the rows of an image and is segmented by pixels"
                                           : " has points in any order"));
}

/// The regions in their colours: as the camera sees them, or a map of points in any order.
Image<Rgb8> picture_of(const Context& context, const Surface& surface,
                       const std::vector<std::int32_t>& labels) {
  if (surface.organised()) {
    return label_map({labels.data(), surface.width, surface.height, surface.width, Device{}});
  }
  std::vector<Rgb8> colors(labels.size());
  std::transform(labels.begin(), labels.end(), colors.begin(), label_color);
  const Context host = Context::cpu();
  return cloud_picture(copy(host, to_host(context, surface.points)), copy(host, colors));
}

void run(const CLI::App& flags, const SegmentCommand& command) {
  const Context context = context_for(command.common);
  StepTimes times;
  Surface surface = read_surface_input(context, command.input, times);
  if (!command.labels.empty()) require_organised(surface, command.input.file);
  check_flags(flags, command.input.file,
              command.saliency == SaliencySource::kNone && has_camera_rows(context, surface));
  const Regions found = find_regions(context, command, surface, times);
  const auto in_regions = std::accumulate(
      found.regions.begin(), found.regions.end(), std::int64_t{0},
      [](std::int64_t sum, const SurfaceRegion& region) { return sum + region.points; });
  nlohmann::json list = nlohmann::json::array();
  for (const SurfaceRegion& region : found.regions) list.push_back(to_json(region));
  Result result;
  result.document = {{"input", command.input.file},
                     {"device", to_string(context.device())},
                     {"points", surface.size()},
                     {"organised", surface.organised()},
                     {"rows", rows_to_json(surface)},
                     {"points_in_regions", in_regions},
                     {"regions", list},
                     {"times_ms", times.to_json()}};
  result.text = fmt::format("{}: {} regions with {} of {} points ({})\n{}", command.input.file,
                            found.regions.size(), in_regions, surface.size(), times.text(),
                            table(found.regions, command.rows));
  const ImageView<const std::int32_t> labels{found.labels.data(), surface.width, surface.height,
                                             surface.width, Device{}};
  if (!command.labels.empty()) {
    write_labels(command.labels, labels, found.regions.size());
    result.wrote("labels", command.labels);
  }
  if (!command.picture.empty()) {
    write_image(command.picture, picture_of(context, surface, found.labels));
    result.wrote("picture", command.picture);
  }
  if (!command.output.empty()) {
    write_cloud(command.output, to_host(context, surface), found.labels);
    result.wrote("output", command.output);
  }
  print_result(command.common, result);
}

}  // namespace

void add_segment(CLI::App& app) {
  auto state = std::make_shared<SegmentCommand>();
  CLI::App* command = add_command(
      app, "segment", "Planes, spheres, cylinders and free forms in a depth map or a cloud",
      "sextant segment depth.png --camera camera.json -o regions.ply --labels labels.png \\\n"
      "      --picture regions.png\n"
      "  sextant segment scan.ply -o regions.ply --json",
      state->common);
  add_surface_input(*command, state->input);
  command->add_flag("--filter", state->input.filter,
                    "smooth the depth first (bilateral filter); rarely of use, as the noise is "
                    "taken from the frame");
  command->add_option("-o,--output", state->output,
                      "cloud with label, colour and normal (PLY, PCD, VTK)");
  command->add_option("--labels", state->labels, "16-bit PNG of the labels, 0 for none");
  command->add_option("--picture", state->picture, "image of the regions in distinct colours");
  command->add_option("--rows", state->rows, "regions that the table shows")
      ->check(within<int>({0, 1e6}))
      ->capture_default_str();
  command
      ->add_option("--saliency", state->saliency,
                   "find creases by tensor voting's saliencies, the points taken in any order: "
                   "none, file (its properties stick, plate, ball) or voting")
      ->transform(CLI::CheckedTransformer(kSaliencySources, CLI::ignore_case))
      ->type_name("NAME")
      ->default_str("none");
  add_flags(*command, state->organised);
  // Images and clouds have these two in common.
  add_flags(*command, state->unorganised, {}, {"min_points", "merge_angle_rad"});
  command->callback([state, command]() {
    check_files(input_files(state->input), {{"--output", state->output, kValueFiles},
                                            {"--labels", state->labels, kPngFiles},
                                            {"--picture", state->picture, kPictureFiles}});
    if (state->common.json) refuse_flags(*command, {"--rows"}, "--json lists all regions");
    state->unorganised.min_points = state->organised.min_points;
    state->unorganised.merge_angle_rad = state->organised.merge_angle_rad;
    run(*command, *state);
  });
}

}  // namespace sextant::app
