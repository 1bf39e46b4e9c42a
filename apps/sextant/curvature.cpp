// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/curvature.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/sextant/command/command.h"
#include "apps/sextant/command/files.h"
#include "apps/sextant/command/options_cli.h"
#include "apps/sextant/input/sensor_cloud.h"
#include "apps/sextant/input/surface_input.h"
#include "apps/sextant/picture/cloud_picture.h"
#include "apps/sextant/picture/curvature_picture.h"
#include "apps/sextant/subcommands.h"
#include "sextant/geometry/mesh.h"
#include "sextant/io/image_file.h"
#include "sextant/render/color_map.h"
#include "sextant/surface/curvature_measures.h"
#include "sextant/surface/surface_operations.h"

namespace sextant::app {

namespace {

struct CurvatureCommand {
  CommonOptions common;
  SurfaceInput input;
  CurvatureOptions options;
  std::string output;
  std::string picture;
  bool denoised = false;
  float limit_per_m = 0;
  std::vector<float> viewpoint_m;  ///< x y z, or nothing
};

/// The options of clouds are a part of those of images.
CloudCurvatureOptions cloud_options(const CurvatureCommand& command, const Cloud& cloud) {
  CloudCurvatureOptions options;
  options.radius_m = command.options.radius_m;
  if (command.options.iterations > 0) options.iterations = command.options.iterations;
  options.weights = command.options.weights;
  options.weight_scale_m = command.options.weight_scale_m;
  options.first_unweighted = command.options.first_unweighted;
  options.remove_bias = command.options.remove_bias;
  options.least_samples = command.options.least_samples;
  options.clamp_per_m = command.options.clamp_per_m;
  if (!command.viewpoint_m.empty()) {
    options.viewpoint_m = {command.viewpoint_m[0], command.viewpoint_m[1], command.viewpoint_m[2]};
    options.viewpoint_m = options.viewpoint_m - cast<float>(cloud.origin_m);
  }
  return options;
}

CloudCurvature on_host(const Context& context, const CloudCurvature& found) {
  const auto host = [&](const auto& buffer) { return to_host_buffer(context, buffer); };
  return {host(found.k1_per_m), host(found.k2_per_m), host(found.direction1),
          host(found.normals),  host(found.points),   host(found.valid)};
}

/// The colours of (k1, k2) with their key: in the rows of the image, or as a map of the cloud.
Image<Rgb8> picture_of(const Cloud& cloud, const CloudCurvature& found, float limit_per_m) {
  const bool rows = cloud.organised();
  const int width = rows ? cloud.width : static_cast<int>(cloud.size());
  const int height = rows ? cloud.height : 1;
  const ImageView<const float> k1{found.k1_per_m.data(), width, height, width, {}};
  const ImageView<const float> k2{found.k2_per_m.data(), width, height, width, {}};
  Image<Rgb8> colors = curvature_map(k1, k2, limit_per_m);
  if (!rows) colors = cloud_picture(cloud.points, colors.pixels());
  return with_curvature_key(colors, limit_per_m);
}

/// The values as properties of the cloud's points.
void attach(Cloud& cloud, CloudCurvature& found, bool denoised) {
  const auto size = static_cast<std::size_t>(cloud.size());
  constexpr const char* kNames[] = {"mean",         "gaussian",     "shape_index", "curvedness",
                                    "direction1_x", "direction1_y", "direction1_z"};
  std::vector<Buffer<float>> values;
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    values.emplace_back(Context::cpu(), cloud.size());
  }
  for (std::size_t i = 0; i < size; ++i) {
    const CurvatureMeasures m =
        curvature_measures(found.k1_per_m.host()[i], found.k2_per_m.host()[i]);
    const Vec3f d = found.direction1.host()[i];
    const float row[] = {
        m.mean_per_m, m.gaussian_per_sq_m, m.shape_index, m.curvedness_per_m, d.x, d.y, d.z};
    for (std::size_t j = 0; j < std::size(row); ++j) values[j].host()[i] = row[j];
  }
  cloud.attributes.push_back({"k1", std::move(found.k1_per_m)});
  cloud.attributes.push_back({"k2", std::move(found.k2_per_m)});
  for (std::size_t j = 0; j < std::size(kNames); ++j) {
    cloud.attributes.push_back({kNames[j], std::move(values[j])});
  }
  cloud.normals = std::move(found.normals);
  if (denoised) cloud.points = std::move(found.points);
}

/// The quantiles that describe what was found.
nlohmann::json quantiles(const Buffer<float>& values) {
  std::vector<float> finite;
  for (const float value : values.host()) {
    if (std::isfinite(value)) finite.push_back(value);
  }
  if (finite.empty()) return nullptr;
  std::sort(finite.begin(), finite.end());
  const auto at = [&](double share) {
    return finite[static_cast<std::size_t>(share * static_cast<double>(finite.size() - 1) + 0.5)];
  };
  return {{"p5", at(0.05)}, {"median", at(0.5)}, {"p95", at(0.95)}};
}

/// Wrong usage where one flag leaves another without effect, and files that cannot be written.
void check_usage(const CLI::App& flags, const CurvatureCommand& command) {
  require_an_output({command.output, command.picture}, "--output or --picture");
  check_files(input_files(command.input), {{"--output", command.output, kValueFiles},
                                           {"--picture", command.picture, kPictureFiles}});
  if (command.output.empty()) refuse_flags(flags, {"--denoised"}, "it belongs to --output");
  if (command.picture.empty()) refuse_flags(flags, {"--limit-per-m"}, "it belongs to --picture");
  const CurvatureOptions& options = command.options;
  if (!options.average_cells) {
    refuse_flags(flags, {"--relative-cell-gate"}, "it belongs to --average-cells");
  }
  if (!options.cut_at_edges) {
    refuse_flags(flags, {"--depth-gate-m", "--relative-depth-gate"},
                 "it belongs to --cut-at-edges");
  }
  if (options.weights == CurvatureWeights::kNone || options.weights == CurvatureWeights::kCode) {
    refuse_flags(flags, {"--weight-scale-m"}, "it belongs to other --weights");
  }
  if (options.weights == CurvatureWeights::kNone) {
    refuse_flags(flags, {"--first-unweighted"}, "--weights none has no weights");
  }
}

/// Error where the user gave a flag that only patches of pixels listen to.
void check_flags(const CLI::App& command, const std::string& file) {
  const std::vector<std::string> heard = flags_of<CloudCurvatureOptions>();
  std::vector<std::string> idle;
  for (const std::string& flag : flags_of<CurvatureOptions>()) {
    if (std::find(heard.begin(), heard.end(), flag) == heard.end()) idle.push_back(flag);
  }
  refuse_flags_for_input(command, idle,
                         "the points of " + file + " are taken in any order, not as pixels");
}

void run(const CLI::App& flags, const CurvatureCommand& command) {
  const Context context = context_for(command.common);
  StepTimes times;
  Surface surface = read_surface_input(context, command.input, times);
  const nlohmann::json rows = rows_to_json(surface);
  // Who says where the sensor stood asks for neighbours.
  if (!command.viewpoint_m.empty()) surface.camera_rows = false;
  const bool by_pixels = has_camera_rows(context, surface);
  if (!by_pixels) check_flags(flags, command.input.file);
  CloudCurvature found = times.time("curvature", context, [&] {
    return on_host(context, estimate_curvature(context, surface,
                                               {.organised = command.options,
                                                .unorganised = cloud_options(command, surface)}));
  });
  const auto valid = std::count_if(found.k1_per_m.host().begin(), found.k1_per_m.host().end(),
                                   [](float k) { return std::isfinite(k); });
  Result result;
  result.document = {{"input", command.input.file},
                     {"device", to_string(context.device())},
                     {"points", surface.size()},
                     {"curvatures", valid},
                     {"organised", surface.organised()},
                     {"rows", rows},
                     {"patches", by_pixels ? "pixels" : "neighbours"},
                     {"k1_per_m", quantiles(found.k1_per_m)},
                     {"k2_per_m", quantiles(found.k2_per_m)},
                     {"times_ms", times.to_json()}};
  result.text = fmt::format("{}: curvature of {} of {} points ({})\n", command.input.file, valid,
                            surface.size(), times.text());
  if (!command.picture.empty()) {
    const float limit_per_m = command.limit_per_m > 0
                                  ? command.limit_per_m
                                  : fitting_limit_per_m(found.k1_per_m, found.k2_per_m);
    const Cloud cloud = to_host(context, static_cast<const Cloud&>(surface));
    write_image(command.picture, picture_of(cloud, found, limit_per_m));
    result.document["limit_per_m"] = limit_per_m;
    result.wrote("picture", command.picture);
  }
  if (!command.output.empty()) {
    TriangleMesh mesh;
    mesh.vertices = to_host(context, surface);
    attach(mesh.vertices, found, command.denoised);
    write_geometry_noting(command.output, mesh);
    result.wrote("output", command.output);
  }
  print_result(command.common, result);
}

}  // namespace

void add_curvature(CLI::App& app) {
  auto state = std::make_shared<CurvatureCommand>();
  CLI::App* command =
      add_command(app, "curvature", "Principal curvatures in 1/m of a depth map or a cloud",
                  "sextant curvature depth.png --camera camera.json -o curvature.ply "
                  "--picture curvature.png\n"
                  "  sextant curvature scan.ply -o curvature.ply --radius-m 0.01",
                  state->common);
  add_surface_input(*command, state->input);
  command->add_option("-o,--output", state->output,
                      "cloud with k1, k2, mean, gaussian, shape_index, curvedness, direction1 and "
                      "the normals of the fit (PLY, PCD, VTK)");
  command->add_option(
      "--picture", state->picture,
      "image in the colours of (k1, k2), with their key; clouds in no rows as a map");
  command->add_flag("--denoised", state->denoised,
                    "write the points on the fitted surfaces instead of the measured ones");
  command
      ->add_option("--limit-per-m", state->limit_per_m,
                   "curvature of the strongest colour; 0 takes it from the data")
      ->check(within<double>({0, 1e6}))
      ->capture_default_str();
  command
      ->add_option("--viewpoint-m", state->viewpoint_m,
                   "x y z of the sensor, for points in any order without normals (default: what "
                   "the file says, else 0 0 0)")
      ->expected(3)
      ->check(within<double>({-1e9, 1e9}));
  add_flags(*command, state->options);
  command->callback([state, command]() {
    check_usage(*command, *state);
    run(*command, *state);
  });
}

}  // namespace sextant::app
