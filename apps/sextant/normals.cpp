// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/normals.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/sextant/command/command.h"
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
enum class Method { kAutomatic, kRay, kPca, kWeighted, kVoting, kQuadric };
constexpr Choice<Method> kMethods[] = {{"ray", Method::kRay},
                                       {"pca", Method::kPca},
                                       {"weighted", Method::kWeighted},
                                       {"voting", Method::kVoting},
                                       {"quadric", Method::kQuadric}};

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
Method method_for(const NormalsCommand& command, bool camera_rows) {
  if (command.method != Method::kAutomatic) return command.method;
  if (camera_rows) return Method::kRay;
  return method_of(command.unorganised) == CloudNormalsMethod::kPca ? Method::kPca
                                                                    : Method::kWeighted;
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
    options.unorganised.radius_m = unorganised.radius_m;
    options.unorganised.viewpoint_m = unorganised.viewpoint_m;
    surface.normals = std::move(estimate_curvature(context, surface, options).normals);
  } else if (method == Method::kPca && !camera_rows) {
    surface.normals = neighbour_normals(context, surface, unorganised, CloudNormalsMethod::kPca);
  } else {
    require(camera_rows, "--method ray: ", command.input.file,
            " has no rows of a camera; take another method");
    window_normals(context, surface, command.organised,
                   method == Method::kPca ? NormalsMethod::kPca : NormalsMethod::kRay);
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

void run(const NormalsCommand& command) {
  const Context context = context_for(command.common);
  StepTimes times;
  Surface surface = read_surface_input(context, command.input, times);
  const Method method = method_for(command, has_camera_rows(context, surface));
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
          "ray, pca and quadric for images; pca, weighted, voting and quadric for clouds (default: "
          "ray for images, pca of 15 neighbours for clouds, weighted with --sigma-m); weighted is "
          "best for noisy clouds; voting adds saliencies, but its normals are worse than weighted "
          "ones, and on depth frames worse than pca")
      ->check(CLI::IsMember({"ray", "pca", "weighted", "voting", "quadric"}));
  add_flags(*command, state->organised, {}, {"method"});
  add_flags(*command, state->unorganised, {}, {"method"});
  add_flags(*command, state->voting, {},
            {"sigma_m", "orient", "viewpoint_x_m", "viewpoint_y_m", "viewpoint_z_m"});
  command->callback([state]() {
    require_an_output({state->output, state->picture}, "--output or --picture");
    run(*state);
  });
}

}  // namespace sextant::app
