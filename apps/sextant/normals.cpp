// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/normals.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/sextant/command/command.h"
#include "apps/sextant/command/options_cli.h"
#include "apps/sextant/input/surface_input.h"
#include "apps/sextant/picture/cloud_picture.h"
#include "apps/sextant/subcommands.h"
#include "sextant/geometry/mesh.h"
#include "sextant/io/image_file.h"
#include "sextant/render/color_map.h"
#include "sextant/surface/cloud_curvature.h"
#include "sextant/surface/cloud_normals.h"
#include "sextant/surface/cloud_resolution.h"
#include "sextant/surface/voting.h"

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

/// Depth maps err along their rays. Scans are noisy, so weights are the default for clouds; a
/// number of neighbours or a radius asks for the plain plane.
Method method_for(const NormalsCommand& command, bool organised, bool neighbours_given) {
  if (command.method != Method::kAutomatic) return command.method;
  if (organised) return Method::kRay;
  return neighbours_given ? Method::kPca : Method::kWeighted;
}

Buffer<Vec3f> window_normals(const Context& context, const Surface& surface, NormalsOptions options,
                             NormalsMethod method) {
  options.method = method;
  return std::move(estimate_normals(context, surface.point_image(), options).pixels());
}

/// Adds what voting says of the points, and returns their normals.
Buffer<Vec3f> voted_normals(const Context& context, const NormalsCommand& command,
                            Surface& surface) {
  VotingOptions options = command.voting;
  options.sigma_m = command.unorganised.sigma_m;
  options.orient = true;
  options.viewpoint_m = command.unorganised.viewpoint_m;
  VotingResult result = vote(context, surface.points, options);
  const std::vector<Saliency> saliencies = to_host(context, result.saliencies);
  const auto attach = [&](const char* name, float Saliency::*value) {
    std::vector<float> values;
    for (const Saliency& saliency : saliencies) values.push_back(saliency.*value);
    std::erase_if(surface.attributes, [&](const Attribute& a) { return a.name == name; });
    surface.attributes.push_back({name, copy(context, values)});
  };
  attach("stick", &Saliency::stick);
  attach("plate", &Saliency::plate);
  attach("ball", &Saliency::ball);
  attach("confidence", &Saliency::confidence);
  return std::move(result.normals);
}

/// Normals of the quadrics that curvature is read from.
Buffer<Vec3f> quadric_normals(const Context& context, const NormalsCommand& command,
                              const Surface& surface) {
  if (surface.organised()) {
    const Image<Vec3f> first = estimate_normals(context, surface.point_image());
    return std::move(estimate_curvature(context, surface.point_image(), first).normals.pixels());
  }
  CloudCurvatureOptions options;
  options.radius_m = command.unorganised.radius_m;
  options.viewpoint_m = command.unorganised.viewpoint_m;
  return std::move(estimate_cloud_curvature(context, surface.points, {}, options).normals);
}

Buffer<Vec3f> normals_by(Method method, const Context& context, const NormalsCommand& command,
                         Surface& surface) {
  CloudNormalsOptions unorganised = command.unorganised;
  switch (method) {
    case Method::kVoting:
      return voted_normals(context, command, surface);
    case Method::kWeighted:
      unorganised.method = CloudNormalsMethod::kWeighted;
      return estimate_cloud_normals(context, surface.points, unorganised);
    case Method::kQuadric:
      return quadric_normals(context, command, surface);
    case Method::kPca:
      return surface.organised()
                 ? window_normals(context, surface, command.organised, NormalsMethod::kPca)
                 : estimate_cloud_normals(context, surface.points, unorganised);
    default:
      require_organised(surface, command.input.file);
      return window_normals(
          context, surface, command.organised,
          method == Method::kCurved ? NormalsMethod::kCurved : NormalsMethod::kRay);
  }
}

/// The shares of λ1: stick red, plate green, ball blue. A plane is half stick and half ball, so
/// surfaces are purple, curves green and scattered points blue.
std::vector<Rgb8> saliency_colors(const Cloud& cloud) {
  const auto values = [&](std::string_view name) {
    return std::find_if(cloud.attributes.begin(), cloud.attributes.end(),
                        [&](const Attribute& a) { return a.name == name; })
        ->values.host();
  };
  const auto stick = values("stick"), plate = values("plate"), ball = values("ball");
  std::vector<Rgb8> colors;
  for (std::size_t i = 0; i < stick.size(); ++i) {
    const float most = stick[i] + plate[i] + ball[i];
    const auto shade = [&](float part) {
      const float share = part / most;
      return static_cast<std::uint8_t>(share > 0.0f ? 255.0f * std::sqrt(share) + 0.5f : 0.0f);
    };
    colors.push_back({shade(stick[i]), shade(plate[i]), shade(ball[i])});
  }
  return colors;
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

void run(const NormalsCommand& command, bool neighbours_given) {
  const Context context = context_for(command.common);
  StepTimes times;
  Surface surface = read_surface_input(context, command.input, times);
  const Method method = method_for(command, surface.organised(), neighbours_given);
  surface.normals =
      times.time("normals", context, [&] { return normals_by(method, context, command, surface); });
  TriangleMesh mesh;
  mesh.vertices = to_host(context, surface);
  const Cloud& vertices = mesh.vertices;
  const auto valid = std::count_if(vertices.normals.host().begin(), vertices.normals.host().end(),
                                   [](const Vec3f& n) { return is_finite(n); });
  Result result;
  result.document = {{"input", command.input.file},       {"device", to_string(context.device())},
                     {"points", vertices.size()},         {"normals", valid},
                     {"organised", vertices.organised()}, {"method", name_of(method, kMethods)},
                     {"times_ms", times.to_json()}};
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
          "(default: "
          "ray for images, weighted for clouds, pca for clouds with --k or --radius-m)")
      ->check(CLI::IsMember({"ray", "pca", "curved", "weighted", "voting", "quadric"}));
  add_flags(*command, state->organised, {}, {"method"});
  add_flags(*command, state->unorganised, {}, {"method"});
  add_flags(*command, state->voting, {},
            {"sigma_m", "orient", "viewpoint_x_m", "viewpoint_y_m", "viewpoint_z_m"});
  command->callback([state, command]() {
    require_an_output({state->output, state->picture}, "--output or --picture");
    run(*state, command->count("--k") + command->count("--radius-m") > 0);
  });
}

}  // namespace sextant::app
