// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/normals.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/sextant/command.h"
#include "apps/sextant/options_cli.h"
#include "apps/sextant/surface_input.h"
#include "sextant/geometry/mesh.h"
#include "sextant/io/geometry_file.h"
#include "sextant/io/image_file.h"
#include "sextant/render/color_map.h"
#include "sextant/surface/cloud_normals.h"

namespace sextant::app {

namespace {

struct NormalsCommand {
  CommonOptions common;
  SurfaceInput input;
  NormalsOptions organised;
  CloudNormalsOptions unorganised;
  std::string output;
  std::string picture;
};

void run(const NormalsCommand& command) {
  const Context context = context_for(command.common.device);
  StepTimes times;
  Cloud cloud = read_surface_input(context, command.input, times);
  require(command.picture.empty() || cloud.organised(), "--picture: the points of ",
          command.input.file, " are in no rows");
  cloud.normals = times.time("normals", context, [&] {
    if (!cloud.organised()) {
      return estimate_cloud_normals(context, cloud.points, command.unorganised);
    }
    return std::move(
        estimate_normals(context, organised_points(cloud), command.organised).pixels());
  });
  TriangleMesh result;
  result.vertices = to_host(context, cloud);
  const Cloud& vertices = result.vertices;
  const auto valid = std::count_if(vertices.normals.host().begin(), vertices.normals.host().end(),
                                   [](const Vec3f& n) { return is_finite(n); });
  const std::string method =
      cloud.organised() ? std::string(name_of(command.organised.method, kNormalsMethods)) : "pca";
  nlohmann::json document{
      {"input", command.input.file},       {"device", to_string(context.device())},
      {"points", vertices.size()},         {"normals", valid},
      {"organised", vertices.organised()}, {"method", method},
      {"times_ms", times.to_json()}};
  std::string text = fmt::format("{}: {} normals for {} points ({})\n", command.input.file, valid,
                                 vertices.size(), times.text());
  if (!command.picture.empty()) {
    write_image(command.picture, normal_map(organised_normals(vertices)));
    document["picture"] = command.picture;
    text += fmt::format("wrote {}\n", command.picture);
  }
  if (!command.output.empty()) {
    for (const std::string& part : write_geometry(command.output, result)) {
      note(fmt::format("{}: this format cannot hold {}; left out", command.output, part));
    }
    document["output"] = command.output;
    text += fmt::format("wrote {}\n", command.output);
  }
  print_result(command.common, document, text);
}

}  // namespace

void add_normals(CLI::App& app) {
  auto state = std::make_shared<NormalsCommand>();
  CLI::App* command = add_command(app, "normals", "Surface normals of a depth map or a cloud",
                                  "sextant normals depth.png --camera camera.json -o normals.ply "
                                  "--picture normals.png\n"
                                  "  sextant normals scan.ply -o scan_with_normals.ply --k 20",
                                  state->common);
  add_surface_input(*command, state->input);
  command->add_option("-o,--output", state->output, "cloud with normals (PLY, PCD, OBJ, VTK)");
  command->add_option("--picture", state->picture,
                      "image of the normals: right red, up green, towards the camera blue");
  add_flags(*command, state->organised);
  add_flags(*command, state->unorganised);
  command->callback([state]() {
    if (state->output.empty() && state->picture.empty()) {
      throw CLI::ValidationError("nothing to write: pass --output or --picture");
    }
    run(*state);
  });
}

}  // namespace sextant::app
