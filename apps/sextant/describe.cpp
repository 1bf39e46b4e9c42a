// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "apps/sextant/command/command.h"
#include "apps/sextant/command/files.h"
#include "apps/sextant/command/options_cli.h"
#include "apps/sextant/describe/describe_flags.h"
#include "apps/sextant/describe/frame_picture.h"
#include "apps/sextant/subcommands.h"
#include "sextant/io/image_file.h"
#include "sextant/io/npy.h"

namespace sextant::app {

namespace {

struct DescribeCommand {
  CommonOptions common;
  DescribedSurfaceOptions surface;
  DescribeOptions options;
  FramePictureOptions view;
  std::string output;
  std::string npy;
  std::string picture;
};

template <class T, class Numbers>
std::span<const T> numbers_of(const Numbers& list) {
  return {reinterpret_cast<const T*>(list.data()), list.size() * sizeof(list[0]) / sizeof(T)};
}

/// The descriptors as rows of one array, and their places in three others.
std::vector<std::string> write_arrays(const std::string& file, const DescriptorFile& descriptors) {
  const std::filesystem::path path = file;
  const std::int64_t count = descriptors.count();
  using Shape = std::vector<std::int64_t>;
  write_npy<float>(path, dense_values(descriptors), Shape{count, descriptors.length});
  const std::filesystem::path frames = beside(path, "frames");
  write_npy<float>(frames, numbers_of<float>(descriptors.axes), Shape{count, 3, 3});
  const std::filesystem::path positions = beside(path, "positions");
  write_npy<float>(positions, numbers_of<float>(descriptors.positions_m), Shape{count, 3});
  const std::filesystem::path points = beside(path, "points");
  std::vector<std::int32_t> indices = descriptors.points;
  if (!descriptors.partners.empty()) {
    indices.clear();
    for (std::size_t i = 0; i < descriptors.points.size(); ++i) {
      indices.insert(indices.end(), {descriptors.points[i], descriptors.partners[i]});
    }
  }
  const Shape index_shape = descriptors.partners.empty() ? Shape{count} : Shape{count, 2};
  write_npy<std::int32_t>(points, indices, index_shape);
  return {file, frames.string(), positions.string(), points.string()};
}

/// Wrong usage and files that cannot be written, before the work.
void check_usage(const CLI::App& flags, DescribeCommand& command) {
  require_an_output({command.output, command.npy, command.picture}, "--output, --npy or --picture");
  std::vector<OutputFile> outputs{{"--output", command.output, kDescriptorFiles},
                                  {"--picture", command.picture, kPictureFiles},
                                  {"--npy", command.npy, kArrayFiles}};
  for (const char* part : {"frames", "positions", "points"}) {
    if (command.npy.empty()) break;
    outputs.push_back({"--npy", beside(command.npy, part).string(), kArrayFiles});
  }
  check_files(input_files(command.surface.input), outputs);
  check_surface_flags(flags, command.surface);
  check_describe_flags(flags, command.surface, command.options, !command.picture.empty());
}

/// Writes the files that were asked for and returns their names.
std::vector<std::string> write_outputs(const DescribeCommand& command,
                                       const Description& description) {
  std::vector<std::string> written;
  if (!command.output.empty()) {
    write_descriptor_file(command.output, description.file);
    written.push_back(command.output);
  }
  if (!command.npy.empty()) {
    const std::vector<std::string> arrays = write_arrays(command.npy, description.file);
    written.insert(written.end(), arrays.begin(), arrays.end());
  }
  return written;
}

void run(const CLI::App& flags, const DescribeCommand& command) {
  const Context context = context_for(command.common);
  StepTimes times;
  const bool tensor = command.options.descriptor == DescriptorKind::kTensor;
  const bool with_triangles = tensor || !command.picture.empty();
  Surface surface = read_described_surface(context, command.surface, times);
  check_described_input(flags, surface, command.surface, command.options, with_triangles);
  complete_surface(context, command.surface, with_triangles, surface, times);
  Description description =
      (tensor ? describe_tensors : describe_shot)(context, surface, command.options, times);
  description.file.resolution_m = surface.resolution_m;
  if (!(surface.origin_m == Vec3d{})) {
    description.facts["origin_m"] = {surface.origin_m.x, surface.origin_m.y, surface.origin_m.z};
  }
  description.file.options = description.facts.dump();
  std::vector<std::string> files =
      times.time("write", context, [&] { return write_outputs(command, description); });
  if (!command.picture.empty()) {
    const FramePicture picture = times.time("picture", context, [&] {
      return draw_frames(context, surface, description.file, command.view);
    });
    write_image(command.picture, picture.image);
    description.facts["frames_shown"] = picture.frames;
    description.text += fmt::format("  the picture shows {} of {} frames\n", picture.frames,
                                    description.file.count());
    files.push_back(command.picture);
  }
  const std::int64_t points = surface.size();
  Result result;
  nlohmann::json& document = result.document;
  document = description.facts;
  document["input"] = command.surface.input.file;
  document["device"] = to_string(context.device());
  document["descriptor"] = name_of(description.file);
  document["written"] = description.file.count();
  document["surface"] = {{"kind", kind_of(surface)},
                         {"points", points},
                         {"triangles", surface.triangles.size()},
                         {"resolution_m", surface.resolution_m}};
  document["times_ms"] = times.to_json();
  document["downloads"] = context.counters().downloads;
  result.text =
      fmt::format("{}: {} of {} points, {:.2f} mm apart\n{}  {} on {}\n",
                  command.surface.input.file, kind_of(surface), points, 1000 * surface.resolution_m,
                  description.text, times.text(), to_string(context.device()));
  result.wrote("outputs", files);
  print_result(command.common, result);
}

}  // namespace

void add_describe(CLI::App& app) {
  auto state = std::make_shared<DescribeCommand>();
  CLI::App* command = add_command(
      app, "describe", "Descriptors of a surface: 3D tensors or SHOT, with their frames",
      "sextant describe depth.png --camera camera.json --filter --descriptor tensor -o "
      "tensors.sxd\n"
      "  sextant describe scan.ply --descriptor shot --keypoints iss --npy shot.npy\n"
      "  sextant describe depth.png --camera camera.json --color color.png --descriptor cshot \\\n"
      "      -o colors.sxd --picture frames.png",
      state->common);
  add_described_surface(*command, state->surface);
  add_flags(*command, state->options);
  add_flags(*command, state->options.voxels);
  add_flags(*command, state->options.shot, "shot", {"radius_m", "radius_resolutions", "content"});
  add_flags(*command, state->options.iss, "iss");
  add_flags(*command, state->options.pairs, "pair", {"seed"});
  add_flags(*command, state->options.tensor, "tensor");
  command->add_option("-o,--output", state->output,
                      "file for the descriptors with all that belongs to them");
  command->add_option("--npy", state->npy,
                      "NumPy array, a row a descriptor; FILE_frames, _positions and _points beside "
                      "it");
  command->add_option("--picture", state->picture, "image of the frames on the surface");
  add_flags(*command, state->view, "picture");
  command->callback([state, command]() {
    check_usage(*command, *state);
    run(*command, *state);
  });
}

}  // namespace sextant::app
