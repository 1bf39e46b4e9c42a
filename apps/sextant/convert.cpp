// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>

#include "apps/sextant/command/command.h"
#include "apps/sextant/command/options_cli.h"
#include "apps/sextant/command/progress_bar.h"
#include "apps/sextant/input/file_kind.h"
#include "apps/sextant/subcommands.h"
#include "sextant/io/geometry_file.h"
#include "sextant/io/image_file.h"
#include "sextant/io/jpeg.h"

namespace sextant::app {

namespace {

namespace fs = std::filesystem;

struct ConvertOptions {
  double unit_m = 1.0;
  std::string encoding;
  double depth_unit_m = 0;         ///< 0: 0.001 for integers, 1 for floats
  double output_depth_unit_m = 0;  ///< 0: 0.001, and metres in a TIFF
  int quality = 95;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("unit_m", self.unit_m, "metres per unit of the input (0.001 for millimetres)",
          Range{1e-9, 1e9});
    visit("depth_unit_m", self.depth_unit_m,
          "metres per step of a depth map (0: 0.001 for integers, 1 for floats)", Range{1e-9, 1e3});
    visit("output_depth_unit_m", self.output_depth_unit_m,
          "metres per step of a depth map that becomes a PNG or PGM (0: 0.001)", Range{1e-9, 1e3});
    visit("quality", self.quality, "quality of a JPEG output", Range{1, 100});
  }
};

struct ConvertCommand {
  CommonOptions common;
  ConvertOptions options;
  std::vector<std::string> files;
  std::string into;
  std::string extension;
};

/// One finished conversion; `dropped` names what the output format cannot hold.
struct Converted {
  std::string from;
  std::string to;
  std::vector<std::string> dropped;
};

std::vector<std::string> convert_geometry(const fs::path& from, const fs::path& to,
                                          const ConvertOptions& options) {
  ProgressBar bar("reading " + from.filename().string(), {"MB", 1e-6});
  ReadOptions reading;
  reading.unit_m = options.unit_m;
  reading.progress = bar.callback();
  const TriangleMesh mesh = read_geometry(from, reading);
  return write_geometry(to, mesh, options.encoding);
}

void convert_image(const fs::path& from, const fs::path& to, const ConvertOptions& options) {
  const std::string extension = lower_extension(to);
  const ImageInfo info = image_info(from);
  if (is_depth_image(info)) {
    require(extension != ".jpg" && extension != ".jpeg", to.string(), ": ", from.string(),
            " is a depth map, which .png, .pgm and .tif keep");
    DepthFileOptions reading{.unit_m = options.depth_unit_m};
    // Steps that become steps of the same size are the same numbers, whatever a step is.
    const bool steps = !info.floating && extension != ".tif" && extension != ".tiff";
    if (steps && options.depth_unit_m == 0 && options.output_depth_unit_m == 0) {
      reading.unit_m = 0.001;
    }
    write_depth(to, read_depth(from, reading), options.output_depth_unit_m);
  } else if (extension == ".jpg" || extension == ".jpeg") {
    write_jpeg(to, read_image(from), {.quality = options.quality});
  } else {
    write_image(to, read_image(from));
  }
}

Converted convert(const fs::path& from, const fs::path& to, const ConvertOptions& options) {
  const FileKind kind = kind_of_content(from);
  const FileKind target = kind_of_extension(to);
  require(kind == target, to.string(), ": ", from.string(), " holds ", describe(kind),
          " and cannot become ", describe(target));
  if (kind == FileKind::kImage) {
    convert_image(from, to, options);
    return {from, to, {}};
  }
  return {from, to, convert_geometry(from, to, options)};
}

nlohmann::json to_json(const std::vector<Converted>& finished) {
  nlohmann::json files = nlohmann::json::array();
  for (const Converted& file : finished) {
    files.push_back({{"from", file.from}, {"to", file.to}, {"dropped", file.dropped}});
  }
  return {{"files", files}};
}

/// What goes where: INPUT OUTPUT, or every INPUT into a folder.
std::vector<std::pair<fs::path, fs::path>> plan(const ConvertCommand& command) {
  std::vector<std::pair<fs::path, fs::path>> pairs;
  if (command.into.empty()) {
    pairs.emplace_back(command.files[0], command.files[1]);
    return pairs;
  }
  fs::create_directories(command.into);
  for (const std::string& file : command.files) {
    const fs::path name = fs::path(file).filename().replace_extension(command.extension);
    pairs.emplace_back(file, fs::path(command.into) / name);
    for (std::size_t earlier = 0; earlier + 1 < pairs.size(); ++earlier) {
      require(pairs[earlier].second != pairs.back().second, file, ": would overwrite what ",
              pairs[earlier].first.string(), " becomes; convert them into different folders");
    }
  }
  return pairs;
}

void run(const ConvertCommand& command) {
  context_for(command.common);
  const auto pairs = plan(command);
  std::vector<Converted> finished;
  std::size_t failures = 0;
  for (const auto& [from, to] : pairs) {
    throw_if_interrupted();
    try {
      finished.push_back(convert(from, to, command.options));
      note_dropped(finished.back().to, finished.back().dropped);
    } catch (const Cancelled&) {
      throw;
    } catch (const Error& error) {
      if (pairs.size() == 1) throw;
      note(fmt::format("sextant: {}", error.what()));
      ++failures;
    }
  }
  std::string text;
  for (const Converted& file : finished) text += fmt::format("wrote {}\n", file.to);
  print_result(command.common, {to_json(finished), text});
  require(failures == 0, failures, " of ", pairs.size(), " files could not be converted");
}

/// --to and --into belong together, and without them there is one input and one output.
void check_usage(const ConvertCommand& command) {
  if (command.into.empty() != command.extension.empty()) {
    throw CLI::ValidationError("--into and --to are given together");
  }
  if (command.into.empty() && command.files.size() != 2) {
    throw CLI::ValidationError(
        "INPUT and OUTPUT are needed, or several inputs with --into and --to");
  }
}

}  // namespace

void add_convert(CLI::App& app) {
  auto state = std::make_shared<ConvertCommand>();
  CLI::App* command = add_command(app, "convert",
                                  "Converts clouds and meshes (PLY, PCD, OBJ, VTK), images (PNG, "
                                  "JPEG) and depth maps (PNG, PGM, "
                                  "TIFF)",
                                  "sextant convert scan.pcd scan.ply\n"
                                  "  sextant convert part_in_mm.obj part.ply --unit-m 0.001\n"
                                  "  sextant convert *.pcd --into clouds --to ply --encoding ascii",
                                  state->common);
  command->add_option("FILES", state->files, "INPUT OUTPUT, or inputs for --into")->required();
  command->add_option("--into", state->into, "folder for several outputs");
  command->add_option("--to", state->extension, "extension of the outputs in --into");
  command
      ->add_option(
          "--encoding", state->options.encoding,
          "encoding of the output: ascii, binary, binary_big_endian (PLY) or binary_compressed "
          "(PCD); binary where the format has it")
      ->check(CLI::IsMember(
          {"ascii", "binary", "binary_little_endian", "binary_big_endian", "binary_compressed"}));
  add_flags(*command, state->options);
  command->callback([state]() {
    check_usage(*state);
    run(*state);
  });
}

}  // namespace sextant::app
