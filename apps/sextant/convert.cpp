// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "apps/sextant/command/command.h"
#include "apps/sextant/command/files.h"
#include "apps/sextant/command/options_cli.h"
#include "apps/sextant/command/progress_bar.h"
#include "apps/sextant/input/file_kind.h"
#include "apps/sextant/subcommands.h"
#include "sextant/io/geometry_file.h"
#include "sextant/io/image_file.h"
#include "sextant/io/jpeg.h"
#include "sextant/io/pcd.h"
#include "sextant/io/ply.h"

namespace sextant::app {

namespace {

namespace fs = std::filesystem;

struct ConvertOptions {
  double unit_m = 1.0;
  std::string encoding;
  double depth_unit_m = 0;         ///< 0: 0.001 for integers, 1 for floats
  double output_depth_unit_m = 0;  ///< 0: 0.001, and metres in a TIFF
  int quality = 95;
  bool depth_units_given = false;  ///< for the only input, which then must be a depth map

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("unit_m", self.unit_m, "metres per unit of the input (0.001 for millimetres)",
          Range{1e-9, 1e9});
    visit("depth_unit_m", self.depth_unit_m,
          "metres per step of a depth map (default: 0.001 for integers, 1 for floats)",
          Range{1e-9, 1e3});
    visit("output_depth_unit_m", self.output_depth_unit_m,
          "metres per step of a depth map that becomes a PNG or PGM (default: 0.001)",
          Range{1e-9, 1e3});
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

/// One finished conversion; `dropped` names what a mesh or the output format cannot hold.
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
  std::vector<std::string> dropped;
  const TriangleMesh mesh = read_geometry(from, reading, &dropped);
  note_left_out(from, dropped);
  const ElapsedLine line("writing " + to.filename().string());
  const std::vector<std::string> unwritten = write_geometry(to, mesh, options.encoding);
  note_dropped(to, unwritten);
  dropped.insert(dropped.end(), unwritten.begin(), unwritten.end());
  return dropped;
}

void convert_image(const fs::path& from, const fs::path& to, const ConvertOptions& options) {
  const std::string extension = lower_extension(to);
  const ImageInfo info = image_info(from);
  require(is_depth_image(info) || !options.depth_units_given,
          "--depth-unit-m and --output-depth-unit-m: have no effect: ", from.string(),
          " is a picture, not a depth map");
  if (is_depth_image(info)) {
    require(extension != ".jpg" && extension != ".jpeg", to.string(), ": ", from.string(),
            " is a depth map, which .png, .pgm and .tif keep");
    DepthFileOptions reading{.unit_m = options.depth_unit_m};
    // Steps that become steps of the same size are the same numbers, whatever a step is.
    const bool steps = !info.floating && extension != ".tif" && extension != ".tiff";
    if (steps && options.depth_unit_m == 0 && options.output_depth_unit_m == 0) {
      reading.unit_m = 0.001;
      reading.largest_is_hole = false;
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
  require(
      kind == target, to.string(), ": ", from.string(), " holds ", describe(kind),
      " and cannot become ", describe(target),
      kind == FileKind::kImage ? "; 'sextant depth --cloud-output' makes a cloud of depth" : "");
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

/// What a file becomes in the folder --into.
fs::path in_folder(const ConvertCommand& command, const std::string& file) {
  return fs::path(command.into) / fs::path(file).filename().replace_extension(command.extension);
}

/// What goes where: INPUT OUTPUT, or every INPUT into a folder.
std::vector<std::pair<fs::path, fs::path>> plan(const ConvertCommand& command) {
  std::vector<std::pair<fs::path, fs::path>> pairs;
  if (command.into.empty()) {
    pairs.emplace_back(command.files[0], command.files[1]);
    return pairs;
  }
  make_folder(command.into);
  for (const std::string& file : command.files) {
    pairs.emplace_back(file, in_folder(command, file));
    for (std::size_t earlier = 0; earlier + 1 < pairs.size(); ++earlier) {
      require(pairs[earlier].second != pairs.back().second, file, ": would overwrite what ",
              pairs[earlier].first.string(), " becomes; convert them into different folders");
    }
  }
  return pairs;
}

/// Refuses, before the first is read, outputs that cannot be written or that are inputs as well.
void check_pairs(const std::vector<std::pair<fs::path, fs::path>>& pairs) {
  std::vector<InputFile> inputs;
  std::vector<OutputFile> outputs;
  for (const auto& [from, to] : pairs) {
    inputs.push_back({"the input " + from.string(), from.string()});
    outputs.push_back({"the output", to.string(), {}});
  }
  check_files(inputs, outputs);
}

void run(const ConvertCommand& command) {
  context_for(command.common);
  const auto pairs = plan(command);
  check_pairs(pairs);
  std::vector<Converted> finished;
  std::size_t failures = 0;
  for (const auto& [from, to] : pairs) {
    try {
      finished.push_back(convert(from, to, command.options));
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

/// Whether clouds of this extension can have an encoding.
bool has_encoding(const std::string& extension, const std::string& encoding) {
  const auto is_one_of = [&](const auto& choices) {
    return std::any_of(std::begin(choices), std::end(choices),
                       [&](const auto& choice) { return choice.name == encoding; });
  };
  if (extension == ".ply") return encoding == "binary" || is_one_of(kPlyEncodings);
  if (extension == ".pcd") return is_one_of(kPcdEncodings);
  return encoding == "ascii";
}

/// Refuses options that the outputs' format leaves without effect.
void check_flags(const CLI::App& command, ConvertCommand& state, const fs::path& output) {
  const std::string extension = lower_extension(output);
  if (kind_of_extension(output) == FileKind::kGeometry) {
    refuse_flags(command, {"--depth-unit-m", "--output-depth-unit-m"}, "it belongs to depth maps");
    refuse_flags(command, {"--quality"}, "it belongs to JPEG");
    const std::string& encoding = state.options.encoding;
    if (!encoding.empty() && !has_encoding(extension, encoding)) {
      throw CLI::ValidationError("--encoding", extension + " files cannot be " + encoding);
    }
    return;
  }
  refuse_flags(command, {"--unit-m", "--encoding"}, "it belongs to clouds and meshes");
  if (extension == ".jpg" || extension == ".jpeg") {
    refuse_flags(command, {"--depth-unit-m", "--output-depth-unit-m"}, "it belongs to depth maps");
  } else {
    refuse_flags(command, {"--quality"}, "it belongs to JPEG");
    if (extension == ".tif" || extension == ".tiff") {
      refuse_flags(command, {"--output-depth-unit-m"}, "a TIFF holds metres");
    }
  }
  state.options.depth_units_given =
      state.into.empty() &&
      (is_given(command, "--depth-unit-m") || is_given(command, "--output-depth-unit-m"));
}

/// --to and --into belong together, and without them there is one input and one output.
void check_usage(const CLI::App& flags, ConvertCommand& command) {
  if (command.into.empty() != command.extension.empty()) {
    throw CLI::ValidationError("--into and --to are given together");
  }
  if (command.into.empty() && command.files.size() != 2) {
    throw CLI::ValidationError(
        "INPUT and OUTPUT are needed, or several inputs with --into and --to");
  }
  check_flags(
      flags, command,
      command.into.empty() ? fs::path(command.files[1]) : in_folder(command, command.files[0]));
}

}  // namespace

void add_convert(CLI::App& app) {
  auto state = std::make_shared<ConvertCommand>();
  CLI::App* command = add_command(
      app, "convert", "Converts clouds and meshes (PLY, PCD, OBJ, VTK), pictures and depth maps",
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
  command->callback([state, command]() {
    check_usage(*command, *state);
    run(*state);
  });
}

}  // namespace sextant::app
