// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>

#include "apps/sextant/command/command.h"
#include "apps/sextant/command/options_cli.h"
#include "apps/sextant/command/progress_bar.h"
#include "apps/sextant/datasets/source_files.h"
#include "apps/sextant/datasets/sources.h"
#include "apps/sextant/subcommands.h"

namespace sextant::app {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct ConvertDatasetCommand {
  CommonOptions common;
  std::string root;
  std::string output;
  std::string only;
  bool symlinks = false;
  bool list = false;
};

/// Meshes that stand in every set for objects that are not there. The dragon is left out: one set
/// has it as an object.
constexpr const char* kDistractors[] = {"armadillo.obj", "max_planck_decimated.obj",
                                        "rocker-arm.obj"};

/// The folder itself and those up to two levels below it.
std::vector<fs::path> folders_under(const fs::path& root) {
  std::vector<fs::path> folders{root};
  for (const fs::path& inner : folders_of(root)) {
    folders.push_back(inner);
    for (const fs::path& deeper : folders_of(inner)) folders.push_back(deeper);
  }
  return folders;
}

fs::path folder_with(const std::vector<fs::path>& folders, const char* file) {
  for (const fs::path& folder : folders) {
    if (has_file(folder, file)) return folder;
  }
  return {};
}

void add_distractors(const std::vector<fs::path>& folders, DatasetWriter& writer) {
  for (const char* name : kDistractors) {
    const fs::path folder = folder_with(folders, name);
    if (folder.empty()) continue;
    TriangleMesh mesh = read_model(folder / name);
    mesh.materials.clear();
    mesh.triangle_materials = {};
    writer.add_distractor(fs::path(name).stem().string(), std::move(mesh));
  }
  if (writer.notes().distractors.empty()) {
    writer.notes().remarks.push_back("no meshes for distractors were found under the root");
  }
}

/// A library for frames in which nothing is known: what the other sets look for.
void add_borrowed_objects(const std::vector<fs::path>& folders, DatasetWriter& writer) {
  struct Borrowed {
    const char* file;
    double unit_m;
  };
  constexpr Borrowed kBorrowed[] = {{"obj_01.ply", 0.001},
                                    {"coffee_cup.ply", 0.001},
                                    {"models/dove_mesh.obj", 1},
                                    {"models/toothpaste_mesh.obj", 1},
                                    {"models/dragon.obj", 1},
                                    {"models/cube.obj", 1},
                                    {"milk.pcd", 1}};
  int id = 0;
  for (const Borrowed& borrowed : kBorrowed) {
    const fs::path folder = folder_with(folders, borrowed.file);
    if (folder.empty()) continue;
    TriangleMesh mesh = read_model(folder / borrowed.file, borrowed.unit_m);
    mesh.materials.clear();
    mesh.triangle_materials = {};
    writer.add_object(++id, fs::path(borrowed.file).stem().string(), std::move(mesh));
  }
}

/// Sets that were written among those that are read would be read the next time.
void require_outside(const fs::path& root, const fs::path& output) {
  const fs::path inner = fs::weakly_canonical(output), outer = fs::weakly_canonical(root);
  const auto [end_of_root, at] =
      std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end());
  require(end_of_root != outer.end(), output.string(), ": lies in ", root.string(),
          ", whose files are to stay as they are; name a folder beside it");
}

void run(const ConvertDatasetCommand& command) {
  const Context context = context_for(command.common);
  require(fs::is_directory(command.root), command.root, ": is no folder");
  require_outside(command.root, command.output);
  const std::vector<fs::path> folders = folders_under(command.root);
  std::map<std::string, std::unique_ptr<DatasetWriter>> writers;
  {
    const ElapsedLine line("reading");
    for (const Source& source : dataset_sources()) {
      if (!command.only.empty() && command.only != source.name) continue;
      for (const fs::path& folder : folders) {
        if (!source.is_here(folder)) continue;
        std::unique_ptr<DatasetWriter>& writer = writers[source.name];
        if (!writer) {
          writer = std::make_unique<DatasetWriter>(fs::path(command.output) / source.name,
                                                   source.name, command.symlinks);
          writer->notes().source = fs::absolute(folder).lexically_normal().filename().string();
        }
        source.convert(folder, *writer);
      }
    }
  }
  require(!writers.empty(), command.root,
          ": holds none of the sets that are understood; see --list");
  Result result;
  result.document = {{"sets", json::array()}};
  for (auto& [name, writer] : writers) {
    if (writer->notes().truth == "none") add_borrowed_objects(folders, *writer);
    add_distractors(folders, *writer);
    ProgressBar bar(name, {"frames", 1});
    writer->finish(context, bar.callback());
    result.document["sets"].push_back({{"name", name},
                                       {"folder", writer->folder().string()},
                                       {"frames", writer->frames()},
                                       {"objects", writer->notes().objects.size()},
                                       {"instances", writer->instances()},
                                       {"truth", writer->notes().truth}});
    result.text +=
        fmt::format("{:<8} {:>4} frames {:>5} instances of {:>2} objects, {} truth: {}\n", name,
                    writer->frames(), writer->instances(), writer->notes().objects.size(),
                    writer->notes().truth, writer->folder().string());
  }
  print_result(command.common, result);
}

void list_sources(const ConvertDatasetCommand& command) {
  Result result;
  result.document = {{"sets", json::array()}};
  for (const Source& source : dataset_sources()) {
    result.document["sets"].push_back({{"name", source.name}, {"files", source.remarks}});
    result.text += fmt::format("{:<8} {}\n", source.name, source.remarks);
  }
  print_result(command.common, result);
}

}  // namespace

void add_convert_dataset(CLI::App& app) {
  auto state = std::make_shared<ConvertDatasetCommand>();
  CLI::App* command = add_command(
      app, "convert-dataset", "Brings public sets of frames with known poses into the BOP layout",
      "sextant convert-dataset downloads/ bop/\n"
      "  sextant convert-dataset downloads/ bop/ --only linemod --symlinks\n"
      "  sextant convert-dataset --list",
      state->common);
  command->add_option("root", state->root, "folder that holds the sets, or folders of them");
  command->add_option("output", state->output, "folder for the data sets, one folder for each");
  command->add_option("--only", state->only, "convert this one only; see --list");
  command->add_flag("--symlinks", state->symlinks, "link images instead of copying them");
  command->add_flag("--list", state->list, "list the sets that are understood and stop");
  command->callback([state, command]() {
    if (state->list) {
      refuse_flags(*command, {"root", "output", "--only", "--symlinks"}, "--list converts nothing");
      return list_sources(*state);
    }
    if (state->root.empty()) throw CLI::RequiredError("root");
    if (state->output.empty()) throw CLI::RequiredError("output");
    const auto& sources = dataset_sources();
    const bool known = std::any_of(sources.begin(), sources.end(), [&](const Source& source) {
      return state->only.empty() || source.name == state->only;
    });
    if (!known) throw CLI::ValidationError("--only", "there is no set '" + state->only + "'");
    run(*state);
  });
}

}  // namespace sextant::app
