// SPDX-License-Identifier: Apache-2.0
#include "sextant/pose/align.h"

#include <fmt/format.h>

#include <locale>
#include <numbers>
#include <sstream>

#include "apps/sextant/command/command.h"
#include "apps/sextant/command/files.h"
#include "apps/sextant/command/options_cli.h"
#include "apps/sextant/input/file_kind.h"
#include "apps/sextant/input/surface_input.h"
#include "apps/sextant/subcommands.h"
#include "sextant/geometry/transform.h"
#include "sextant/io/file.h"
#include "sextant/pose/descriptor_alignment.h"
#include "sextant/surface/surface_operations.h"

namespace sextant::app {

namespace {

struct AlignCommand {
  CommonOptions common;
  SurfaceInput source, target;
  std::string camera;  ///< of both depth maps
  double unit_m = 0;
  bool filter = false;
  bool global = false;
  std::string guess;  ///< file with target_from_source
  AlignOptions options;
  DescriptorAlignmentOptions global_options;
  std::string output;
};

/// A pose as 16 numbers, row by row, with or without commas and brackets around them.
Rigid3d read_pose(const std::string& file) {
  const FileBytes bytes = read_file(file, 1 << 20);
  std::string text(bytes.text());
  for (char& c : text) {
    if (c == ',' || c == '[' || c == ']' || c == ';') c = ' ';
  }
  std::istringstream words(text);
  words.imbue(std::locale::classic());
  double m[16];
  for (double& number : m) {
    require(static_cast<bool>(words >> number), file,
            ": expected 16 numbers, target_from_source row by row in metres");
  }
  const Rigid3d pose{{{{m[0], m[1], m[2]}, {m[4], m[5], m[6]}, {m[8], m[9], m[10]}}},
                     {m[3], m[7], m[11]}};
  const Mat3d product = pose.rotation * transpose(pose.rotation);
  const double off = norm(product.row[0] - Vec3d{1, 0, 0}) + norm(product.row[1] - Vec3d{0, 1, 0}) +
                     norm(product.row[2] - Vec3d{0, 0, 1});
  require(off < 1e-2 && determinant(pose.rotation) > 0, file, ": is no rigid motion");
  return renormalized(pose);
}

nlohmann::json to_json(const Rigid3d& pose) {
  nlohmann::json numbers = nlohmann::json::array();
  const double t[3] = {pose.translation.x, pose.translation.y, pose.translation.z};
  for (int i = 0; i < 3; ++i) {
    const Vec3d& row = pose.rotation.row[i];
    for (double number : {row.x, row.y, row.z, t[i]}) numbers.push_back(number);
  }
  for (double number : {0.0, 0.0, 0.0, 1.0}) numbers.push_back(number);
  return numbers;
}

nlohmann::json to_json(const SymN<double, 6>& matrix) {
  nlohmann::json numbers = nlohmann::json::array();
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) numbers.push_back(matrix.at(i, j));
  }
  return numbers;
}

/// The directions that slide, as (rotation, translation) of unit length with angles times the
/// length that they are weighed with.
nlohmann::json degenerate_to_json(const Alignment& alignment) {
  nlohmann::json list = nlohmann::json::array();
  for (int k = 0; k < alignment.degenerate; ++k) {
    nlohmann::json direction = nlohmann::json::array();
    for (double number : alignment.directions.directions[k]) direction.push_back(number);
    list.push_back(direction);
  }
  return list;
}

Surface with_normals(const Context& context, const SurfaceInput& input, StepTimes& times) {
  Surface surface = read_surface_input(context, input, times);
  if (surface.normals.empty()) {
    times.time("normals", context, [&] { estimate_normals(context, surface); });
  }
  return surface;
}

/// Where the source lies, by descriptors of both, which are compared on the host.
Rigid3d global_guess(const AlignCommand& command, const Context& context, const Surface& source,
                     const Surface& target) {
  const Context host = Context::cpu(command.common.threads);
  const RansacAlignment found = align_by_descriptors(
      host, to_host(context, source), to_host(context, target), command.global_options);
  require(found.found, "--global: ", command.source.file, " was not found on ", command.target.file,
          " (", found.reason, "); give a first pose with --guess");
  return found.target_from_source;
}

void run(const AlignCommand& command) {
  const Context context = context_for(command.common);
  StepTimes times;
  const Surface source = with_normals(context, command.source, times);
  const Surface target = with_normals(context, command.target, times);
  // Files say poses in their own coordinates, while points are kept about an origin each.
  const Vec3d from_m = source.origin_m, to_m = target.origin_m;
  Rigid3d guess = command.guess.empty() ? Rigid3d{} : read_pose(command.guess);
  guess.translation = guess.translation - to_m + guess.rotation * from_m;
  if (command.global) {
    guess = times.time("global", context,
                       [&] { return global_guess(command, context, source, target); });
  }
  const Alignment alignment = times.time(
      "align", context, [&] { return align(context, source, target, guess, command.options); });
  require(alignment.stop != AlignStop::kTooFew, command.source.file, ": only ", alignment.pairs,
          " of its points lie near ", command.target.file,
          "; give a first pose with --guess or --global, or a larger --max-distance-m");
  if (alignment.stop == AlignStop::kIterations) {
    note(fmt::format("{}: still moved after {} steps; the pose may not be final",
                     command.source.file, alignment.iterations));
  }
  if (alignment.degenerate > 0) {
    note(fmt::format("{}: {} of 6 directions slide and were left as the first pose has them",
                     command.source.file, alignment.degenerate));
  }
  if (alignment.inlier_share < 0.3) {
    note(fmt::format("{}: only {:.0f} % of its points fit; look at the result", command.source.file,
                     100 * alignment.inlier_share));
  }
  Rigid3d pose = alignment.target_from_source;
  pose.translation = pose.translation + to_m - pose.rotation * from_m;
  Result result;
  const Vec3d centre = alignment.centre_m + to_m;
  result.document = {{"source", command.source.file},
                     {"target", command.target.file},
                     {"device", to_string(context.device())},
                     {"target_from_source", to_json(pose)},
                     {"rms_m", alignment.rms_m},
                     {"inlier_share", alignment.inlier_share},
                     {"pairs", alignment.pairs},
                     {"iterations", alignment.iterations},
                     {"stop", name_of(alignment.stop, kAlignStops)},
                     {"centre_m", {centre.x, centre.y, centre.z}},
                     {"covariance", to_json(alignment.covariance)},
                     {"degenerate", degenerate_to_json(alignment)},
                     {"length_m", alignment.directions.length_m},
                     {"times_ms", times.to_json()}};
  const Vec3d turn = log_rotation(pose.rotation);
  result.text = fmt::format(
      "{} onto {}: {} after {} steps\n  turned by {:.4f} degrees, moved by ({:.6f}, {:.6f}, "
      "{:.6f}) m\n  {:.1f} % of the points fit, {:.3f} mm RMS along the normals ({})\n",
      command.source.file, command.target.file, name_of(alignment.stop, kAlignStops),
      alignment.iterations, norm(turn) * 180 / std::numbers::pi, pose.translation.x,
      pose.translation.y, pose.translation.z, 100 * alignment.inlier_share, 1e3 * alignment.rms_m,
      times.text());
  for (int i = 0; i < 3; ++i) {
    const Vec3d& row = pose.rotation.row[i];
    const double t[3] = {pose.translation.x, pose.translation.y, pose.translation.z};
    result.text +=
        fmt::format("  {:12.8f} {:12.8f} {:12.8f} {:12.8f}\n", row.x, row.y, row.z, t[i]);
  }
  if (!command.output.empty()) {
    TriangleMesh moved;
    moved.vertices = to_host(context, source);
    moved.triangles = to_host_buffer(context, source.triangles);
    const Context host = Context::cpu();
    const Rigid3d& motion = alignment.target_from_source;
    transform_points_into(host, motion, moved.vertices.points, moved.vertices.points);
    turn_directions_into(host, motion.rotation, moved.vertices.normals, moved.vertices.normals);
    moved.vertices.world_from_sensor = motion * moved.vertices.world_from_sensor;
    moved.vertices.origin_m = to_m;
    write_geometry_noting(command.output, moved);
    result.wrote("output", command.output);
  }
  print_result(command.common, result);
}

/// Hands what is said of depth maps to the inputs that are some.
void share_options(const CLI::App& flags, AlignCommand& command) {
  bool some = false;
  for (SurfaceInput* input : {&command.source, &command.target}) {
    const bool depth = kind_of_content(input->file) == FileKind::kImage;
    input->camera = depth ? command.camera : "";
    input->unit_m = command.unit_m;
    input->filter = command.filter && depth;
    some |= depth;
  }
  if (some) return;
  refuse_flags_for_input(flags, {"--camera", "--filter"}, "no input is a depth map");
}

}  // namespace

void add_align(CLI::App& app) {
  auto state = std::make_shared<AlignCommand>();
  CLI::App* command = add_command(
      app, "align", "Move one cloud or depth map onto another, point to plane",
      "sextant align scan_45.ply scan_0.ply -o moved.ply\n"
      "  sextant align object.ply scene.ply --global --json\n"
      "  sextant align depth_1.png depth_0.png --camera camera.json --association projected",
      state->common);
  command->add_option("source", state->source.file, "cloud, mesh or depth map that is moved")
      ->required();
  command->add_option("target", state->target.file, "cloud, mesh or depth map that stays")
      ->required();
  command->add_option("--camera", state->camera, "camera file of the depth maps");
  command
      ->add_option("--unit-m", state->unit_m,
                   "metres per unit of both files; 0: metres for clouds, what the camera says or "
                   "millimetres for depth")
      ->check(within<double>({0, 1e6}));
  command->add_flag("--filter", state->filter, "smooth depth with the bilateral filter first");
  command->add_option("--guess", state->guess,
                      "file with a first target_from_source: 16 numbers, row by row");
  command->add_flag("--global", state->global,
                    "find the first pose by descriptors, wherever the clouds lie");
  command->add_option("-o,--output", state->output, "the source where it was moved to");
  add_flags(*command, state->options);
  add_flags(*command, state->global_options, "global");
  command->callback([state, command]() {
    if (state->global) {
      refuse_flags(*command, {"--guess"}, "--global finds the first pose");
    } else {
      refuse_flags(*command, flags_of<DescriptorAlignmentOptions>("global"),
                   "it is for --global alone");
    }
    check_files({{"source", state->source.file},
                 {"target", state->target.file},
                 {"--camera", state->camera},
                 {"--guess", state->guess}},
                {{"--output", state->output, kCloudFiles}});
    share_options(*command, *state);
    run(*state);
  });
}

}  // namespace sextant::app
