// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/curvature.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/sextant/command/command.h"
#include "apps/sextant/command/options_cli.h"
#include "apps/sextant/input/surface_input.h"
#include "apps/sextant/picture/curvature_picture.h"
#include "apps/sextant/subcommands.h"
#include "sextant/geometry/mesh.h"
#include "sextant/io/image_file.h"
#include "sextant/surface/cloud_curvature.h"
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

/// One of each for every point, on the host.
struct PointCurvatures {
  Buffer<float> k1_per_m, k2_per_m;
  Buffer<Vec3f> direction1, normals, points;
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
  options.viewpoint_m = cast<float>(cloud.world_from_sensor.translation);
  if (!command.viewpoint_m.empty()) {
    options.viewpoint_m = {command.viewpoint_m[0], command.viewpoint_m[1], command.viewpoint_m[2]};
  }
  return options;
}

PointCurvatures estimate(const Context& context, const Surface& surface,
                         const CurvatureCommand& command, bool by_pixels, StepTimes& times) {
  const auto on_host = [&](const auto& buffer) { return to_host_buffer(context, buffer); };
  if (by_pixels) {
    const ImageView<const Vec3f> points = surface.point_image();
    const Image<Vec3f> normals =
        times.time("normals", context, [&] { return estimate_normals(context, points); });
    const Curvature found = times.time("curvature", context, [&] {
      return estimate_curvature(context, points, normals, command.options);
    });
    return {on_host(found.k1_per_m.pixels()), on_host(found.k2_per_m.pixels()),
            on_host(found.direction1.pixels()), on_host(found.normals.pixels()),
            on_host(found.points.pixels())};
  }
  CloudCurvatureOptions options = cloud_options(command, surface);
  if (!(options.radius_m > 0)) {
    const float radius_m =
        times.time("radius", context, [&] { return curvature_radius_m(context, surface.points); });
    if (radius_m > 0) options.radius_m = radius_m;
  }
  const CloudCurvature found = times.time("curvature", context, [&] {
    return estimate_cloud_curvature(context, surface.points, surface.normals, options);
  });
  return {on_host(found.k1_per_m), on_host(found.k2_per_m), on_host(found.direction1),
          on_host(found.normals), on_host(found.points)};
}

/// The values as properties of the cloud's points.
void attach(Cloud& cloud, PointCurvatures& found, bool denoised) {
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

void run(const CurvatureCommand& command) {
  const Context context = context_for(command.common);
  StepTimes times;
  const Surface surface = read_surface_input(context, command.input, times);
  require(command.picture.empty() || surface.organised(), "--picture: the points of ",
          command.input.file, " are in no rows");
  const bool by_pixels = command.viewpoint_m.empty() && has_camera_rows(context, surface);
  if (surface.organised() && !by_pixels && command.viewpoint_m.empty()) {
    note(command.input.file +
         ": its rows are not those of a camera at the origin, so its points are taken in any order;"
         " --viewpoint-m says where the sensor stood");
  }
  PointCurvatures found = estimate(context, surface, command, by_pixels, times);
  const auto valid = std::count_if(found.k1_per_m.host().begin(), found.k1_per_m.host().end(),
                                   [](float k) { return std::isfinite(k); });
  Result result;
  result.document = {{"input", command.input.file},
                     {"device", to_string(context.device())},
                     {"points", surface.size()},
                     {"curvatures", valid},
                     {"organised", surface.organised()},
                     {"patches", by_pixels ? "pixels" : "neighbours"},
                     {"k1_per_m", quantiles(found.k1_per_m)},
                     {"k2_per_m", quantiles(found.k2_per_m)},
                     {"times_ms", times.to_json()}};
  result.text = fmt::format("{}: curvature of {} of {} points ({})\n", command.input.file, valid,
                            surface.size(), times.text());
  if (!command.picture.empty()) {
    const ImageView<const float> k1{
        found.k1_per_m.data(), surface.width, surface.height, surface.width, {}};
    const ImageView<const float> k2{
        found.k2_per_m.data(), surface.width, surface.height, surface.width, {}};
    const float limit_per_m =
        command.limit_per_m > 0 ? command.limit_per_m : fitting_limit_per_m(k1, k2);
    write_image(command.picture, curvature_picture(k1, k2, limit_per_m));
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
  command->add_option("--picture", state->picture,
                      "image in the colours of (k1, k2), with their key");
  command->add_flag("--denoised", state->denoised,
                    "write the points on the fitted surfaces instead of the measured ones");
  command
      ->add_option("--limit-per-m", state->limit_per_m,
                   "curvature of the strongest colour; 0 takes it from the data")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command
      ->add_option("--viewpoint-m", state->viewpoint_m,
                   "x y z of the sensor, for points in any order without normals (default: what "
                   "the file says, else 0 0 0)")
      ->expected(3);
  add_flags(*command, state->options);
  command->callback([state]() {
    require_an_output({state->output, state->picture}, "--output or --picture");
    run(*state);
  });
}

}  // namespace sextant::app
