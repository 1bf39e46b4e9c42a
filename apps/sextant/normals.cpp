// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/normals.h"

#include <fmt/format.h>

#include <algorithm>

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
#include "sextant/render/color_map.h"
#include "sextant/surface/surface_operations.h"

namespace sextant::app {

namespace {

/// All methods of the command: those of organised images, and those of clouds in any order, which
/// take the points of an image too.
enum class Method { kAutomatic, kRay, kPca, kCurved, kWeighted, kVoting, kQuadric };
constexpr Choice<Method> kMethods[] = {{"ray", Method::kRay},       {"pca", Method::kPca},
                                       {"curved", Method::kCurved}, {"weighted", Method::kWeighted},
                                       {"voting", Method::kVoting}, {"quadric", Method::kQuadric}};

struct NormalsCommand {
  CommonOptions common;
  SurfaceInput input;
  Method method = Method::kAutomatic;
  NormalsOptions organised;
  CloudNormalsOptions unorganised;
  VotingOptions voting;
  std::string output;
  std::string picture;
};

/// Depth maps err along their rays; for clouds CloudNormalsOptions decides.
Method method_for(const CLI::App& flags, const NormalsCommand& command, bool camera_rows) {
  if (command.method != Method::kAutomatic) return command.method;
  if (camera_rows) return Method::kRay;
  if (is_given(flags, "--sigma-m")) return Method::kWeighted;
  return method_of(command.unorganised) == CloudNormalsMethod::kPca ? Method::kPca
                                                                    : Method::kWeighted;
}

/// The flags that a method listens to, of points in the rows of an image or in any order.
std::vector<std::string> flags_of_method(Method method, bool organised) {
  const std::vector<std::string> window = flags_of<NormalsOptions>();
  const std::vector<std::string> viewpoint{"--viewpoint-x-m", "--viewpoint-y-m", "--viewpoint-z-m"};
  std::vector<std::string> flags;
  const auto add = [&](const std::vector<std::string>& more) {
    flags.insert(flags.end(), more.begin(), more.end());
  };
  const bool by_windows =
      organised && (method == Method::kRay || method == Method::kPca || method == Method::kCurved);
  if (by_windows) add(window);
  if (!by_windows && !(organised && method == Method::kQuadric)) add(viewpoint);
  if (!organised && method == Method::kPca) add({"--k", "--radius-m"});
  if (!organised && method == Method::kQuadric) add({"--radius-m"});
  if (method == Method::kWeighted || method == Method::kVoting) add({"--sigma-m"});
  if (method == Method::kVoting) add(flags_of<VotingOptions>());
  return flags;
}

/// Error where the user gave a flag that this method does not listen to.
void check_flags(const CLI::App& command, const std::string& file, Method method, bool organised) {
  const std::vector<std::string> heard = flags_of_method(method, organised);
  std::vector<std::string> idle;
  for (const auto& flags :
       {flags_of<NormalsOptions>(), flags_of<CloudNormalsOptions>(), flags_of<VotingOptions>()}) {
    for (const std::string& flag : flags) {
      const bool is_heard = std::find(heard.begin(), heard.end(), flag) != heard.end();
      if (!is_heard && flag != "--method") idle.push_back(flag);
    }
  }
  refuse_flags_for_input(
      command, idle,
      fmt::format("--method {} does not use it where a file ({}) has {}", name_of(method, kMethods),
                  file, organised ? "the rows of an image" : "points in any order"));
}

/// By windows of pixels.
void window_normals(const Context& context, Surface& surface, NormalsOptions options,
                    NormalsMethod method) {
  options.method = method;
  estimate_normals(context, surface, {.organised = options});
}

/// By neighbours, whether the points have rows or not.
Buffer<Vec3f> neighbour_normals(const Context& context, const Surface& surface,
                                CloudNormalsOptions options, CloudNormalsMethod method) {
  options.method = method;
  return estimate_cloud_normals(context, surface.points, options);
}

void normals_by(Method method, const Context& context, const NormalsCommand& command,
                Surface& surface) {
  const bool camera_rows = has_camera_rows(context, surface);
  CloudNormalsOptions unorganised = command.unorganised;
  unorganised.viewpoint_m = viewpoint_or_sensor(surface, unorganised.viewpoint_m);
  if (method == Method::kVoting) {
    VotingOptions options = command.voting;
    options.sigma_m = unorganised.sigma_m;
    options.orient = true;
    options.viewpoint_m = unorganised.viewpoint_m;
    surface.normals = vote_on(context, surface, options);
  } else if (method == Method::kWeighted) {
    surface.normals =
        neighbour_normals(context, surface, unorganised, CloudNormalsMethod::kWeighted);
  } else if (method == Method::kQuadric) {
    surface.normals = {};
    SurfaceCurvatureOptions options;
    // A normal may be good where the curvature is uncertain.
    options.organised.most_deviation_per_m = 0.0f;
    options.unorganised.radius_m = unorganised.radius_m;
    options.unorganised.viewpoint_m = unorganised.viewpoint_m;
    surface.normals = std::move(estimate_curvature(context, surface, options).normals);
  } else if (method == Method::kPca && !camera_rows) {
    surface.normals = neighbour_normals(context, surface, unorganised, CloudNormalsMethod::kPca);
  } else {
    require(camera_rows, "--method ", name_of(method, kMethods), ": ", command.input.file,
            " has no rows of a camera; take another method");
    window_normals(context, surface, command.organised,
                   method == Method::kPca      ? NormalsMethod::kPca
                   : method == Method::kCurved ? NormalsMethod::kCurved
                                               : NormalsMethod::kRay);
  }
}

/// The normals as colours or, by voting, the saliencies: in the rows of the image, or as a map.
Image<Rgb8> picture_of(const Cloud& cloud, Method method) {
  const int size = static_cast<int>(cloud.size());
  Image<Rgb8> row =
      method == Method::kVoting
          ? Image<Rgb8>(copy(Context::cpu(), saliency_colors(cloud)), size, 1)
          : normal_map(ImageView<const Vec3f>{cloud.normals.data(), size, 1, size, Device{}});
  if (!cloud.organised()) return cloud_picture(cloud.points, row.pixels());
  return Image<Rgb8>(std::move(row.pixels()), cloud.width, cloud.height);
}

void run(const CLI::App& flags, NormalsCommand command) {
  const Context context = context_for(command.common);
  StepTimes times;
  Surface surface = read_surface_input(context, command.input, times);
  command.unorganised.viewpoint_m = about_origin(surface, command.unorganised.viewpoint_m);
  const bool camera_rows = has_camera_rows(context, surface);
  const Method method = method_for(flags, command, camera_rows);
  check_flags(flags, command.input.file, method, camera_rows);
  times.time("normals", context, [&] { normals_by(method, context, command, surface); });
  TriangleMesh mesh;
  mesh.vertices = to_host(context, surface);
  const Cloud& vertices = mesh.vertices;
  const auto valid = std::count_if(vertices.normals.host().begin(), vertices.normals.host().end(),
                                   [](const Vec3f& n) { return is_finite(n); });
  Result result;
  result.document = {{"input", command.input.file},         {"device", to_string(context.device())},
                     {"points", vertices.size()},           {"normals", valid},
                     {"organised", vertices.organised()},   {"rows", rows_to_json(surface)},
                     {"method", name_of(method, kMethods)}, {"times_ms", times.to_json()}};
  result.text = fmt::format("{}: {} normals for {} points ({})\n", command.input.file, valid,
                            vertices.size(), times.text());
  if (!command.picture.empty()) {
    write_image(command.picture, picture_of(vertices, method));
    result.wrote("picture", command.picture);
  }
  if (!command.output.empty()) {
    write_geometry_noting(command.output, mesh);
    result.wrote("output", command.output);
  }
  print_result(command.common, result);
}

}  // namespace

void add_normals(CLI::App& app) {
  auto state = std::make_shared<NormalsCommand>();
  CLI::App* command = add_command(app, "normals", "Surface normals of a depth map or a cloud",
                                  "sextant normals depth.png --camera camera.json -o normals.ply "
                                  "--picture normals.png\n"
                                  "  sextant normals scan.ply -o scan_with_normals.ply --k 20\n"
                                  "  sextant normals scan.ply --method voting -o saliency.ply",
                                  state->common);
  add_surface_input(*command, state->input);
  command->add_option("-o,--output", state->output, "cloud with normals (PLY, PCD, OBJ, VTK)");
  command->add_option("--picture", state->picture,
                      "image of the normals: right red, up green, towards the camera blue; by "
                      "voting: surfaces purple, curves green, scattered points blue");
  command
      ->add_option_function<std::string>(
          "--method",
          [state](const std::string& text) {
            for (const Choice<Method>& choice : kMethods) {
              if (choice.name == text) state->method = choice.value;
            }
          },
          "ray, pca, curved and quadric for images; pca, weighted, voting and quadric for clouds "
          "(default: ray for images, pca of 15 neighbours for clouds, weighted with --sigma-m); "
          "curved is for depth without a sensor's noise, and worse than ray with it; weighted is "
          "best for noisy clouds; voting adds saliencies, but its normals are worse "
          "than weighted ones, and on depth frames worse than pca")
      ->check(CLI::IsMember({"ray", "pca", "curved", "weighted", "voting", "quadric"}));
  add_flags(*command, state->organised, {}, {"method"});
  add_flags(*command, state->unorganised, {}, {"method"});
  add_flags(*command, state->voting, {},
            {"sigma_m", "orient", "viewpoint_x_m", "viewpoint_y_m", "viewpoint_z_m"});
  command->callback([state, command]() {
    require_an_output({state->output, state->picture}, "--output or --picture");
    check_files(input_files(state->input), {{"--output", state->output, kCloudFiles},
                                            {"--picture", state->picture, kPictureFiles}});
    if (is_given(*command, "--radius-m") && state->unorganised.radius_m > 0) {
      refuse_flags(*command, {"--k"}, "--radius-m takes all neighbours that are near enough");
    }
    run(*command, *state);
  });
}

}  // namespace sextant::app
