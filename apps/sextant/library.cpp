// SPDX-License-Identifier: Apache-2.0
#include "sextant/library/library.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/sextant/command/command.h"
#include "apps/sextant/command/files.h"
#include "apps/sextant/command/progress_bar.h"
#include "apps/sextant/input/file_kind.h"
#include "apps/sextant/library/entry_text.h"
#include "apps/sextant/library/object_picture.h"
#include "apps/sextant/subcommands.h"
#include "sextant/io/bop_models.h"
#include "sextant/io/image_file.h"
#include "sextant/learn/learn_moped.h"

namespace sextant::app {

namespace {

constexpr std::string_view kInfoFiles[] = {".json"};
constexpr std::string_view kObjectFiles[] = {".ply", ".pcd", ".obj", ".vtk", ".xml"};

struct LibraryCommand {
  CommonOptions common;
  std::string library;
  std::vector<std::string> names;
  std::string picture;
  std::string output;
  std::string models_info;
};

void list(const LibraryCommand& command) {
  const Library library(command.library, LibraryAccess::kRead);
  const std::vector<ObjectEntry> entries = library.list();
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(command.library));
  Result result;
  result.document = {
      {"library", command.library}, {"bytes", bytes}, {"objects", nlohmann::json::array()}};
  for (const ObjectEntry& entry : entries) result.document["objects"].push_back(to_json(entry));
  if (!entries.empty()) result.text = table_of(entries);
  result.text += fmt::format("{}: {} {}, {}\n", command.library, entries.size(),
                             entries.size() == 1 ? "object" : "objects", bytes_text(bytes));
  print_result(command.common, result);
}

void show(const LibraryCommand& command) {
  check_files({{"LIBRARY", command.library}}, {{"--picture", command.picture, kPictureFiles}});
  const Context context = context_for(command.common);
  const Library library(command.library, LibraryAccess::kRead);
  const std::string& name = command.names.at(0);
  const ObjectEntry entry = library.entry(name);
  Result result;
  result.document = to_json(entry);
  result.text = text_of(entry);
  if (!command.picture.empty()) {
    ObjectParts parts = ObjectParts::none();
    parts.mesh = parts.views = true;
    write_image(command.picture, object_picture(context, library.load(name, parts)));
    result.wrote("picture", command.picture);
  }
  print_result(command.common, result);
}

void remove(const LibraryCommand& command) {
  // Before anything is removed, all must be there.
  {
    const Library library(command.library, LibraryAccess::kRead);
    for (const std::string& name : command.names) library.entry(name);
  }
  Library library(command.library);
  Result result;
  result.document = {{"library", command.library}, {"removed", nlohmann::json::array()}};
  for (const std::string& name : command.names) {
    library.remove(name);
    result.document["removed"].push_back(name);
    result.text += fmt::format("{}: removed\n", name);
  }
  result.document["objects"] = library.list().size();
  print_result(command.common, result);
}

/// An object that photographs are searched for, as MOPED reads it.
void export_moped(const LibraryCommand& command) {
  if (!command.models_info.empty()) {
    throw CLI::ValidationError("--models-info", "has no effect: it belongs to a mesh");
  }
  const Library library(command.library, LibraryAccess::kRead);
  ObjectParts parts = ObjectParts::none();
  parts.mesh = parts.appearance = true;
  const MopedModel model = make_moped_model(library.load(command.names.at(0), parts));
  write_moped_models(command.output, std::span(&model, 1));
  Result result;
  result.document = {
      {"library", command.library}, {"name", model.name}, {"appearance", model.points_m.size()}};
  result.wrote("output", command.output);
  print_result(command.common, result);
}

void export_object(const LibraryCommand& command) {
  check_files({{"LIBRARY", command.library}}, {{"--output", command.output, kObjectFiles},
                                               {"--models-info", command.models_info, kInfoFiles}});
  if (lower_extension(command.output) == ".xml") return export_moped(command);
  const Library library(command.library, LibraryAccess::kRead);
  ObjectParts parts = ObjectParts::none();
  parts.mesh = true;
  const LearnedObject object = library.load(command.names.at(0), parts);
  require(!object.mesh.vertices.points.empty(), command.library, ": object '", object.name,
          "' has no mesh, only features of photographs");
  write_geometry_noting(command.output, object.mesh);
  Result result;
  result.document = {{"library", command.library},
                     {"name", object.name},
                     {"vertices", object.mesh.vertices.size()},
                     {"triangles", object.mesh.triangles.size()}};
  result.wrote("output", command.output);
  if (!command.models_info.empty()) {
    // BOP means the symmetries that are seen, and numbers objects from 1.
    write_bop_models(command.models_info,
                     {make_bop_model(std::max(object.bop_id, 1), object.mesh.vertices.points,
                                     object.appearance_symmetries, object.diameter_m)});
    result.wrote("models_info", command.models_info);
  }
  print_result(command.common, result);
}

void check(const LibraryCommand& command) {
  const Context context = context_for(command.common);
  const Library library(command.library, LibraryAccess::kRead);
  ProgressBar bar("checking", {"objects", 1});
  library.verify(context, bar.callback());
  const std::size_t objects = library.list().size();
  Result result;
  result.document = {{"library", command.library}, {"objects", objects}, {"whole", true}};
  result.text = fmt::format("{}: {} {}, all whole\n", command.library, objects,
                            objects == 1 ? "object" : "objects");
  print_result(command.common, result);
}

/// One of the commands of a library, with what each of them takes.
CLI::App* add_verb(CLI::App& app, const std::string& verb, const std::string& description,
                   const std::string& example, const std::shared_ptr<LibraryCommand>& state,
                   void (*run)(const LibraryCommand&)) {
  CLI::App* command = add_command(app, verb, description, example, state->common);
  command->add_option("library", state->library, "file of the library, made by 'sextant learn'")
      ->required();
  command->callback([state, run] { run(*state); });
  return command;
}

}  // namespace

void add_library(CLI::App& app) {
  CLI::App* library =
      app.add_subcommand("library", "Lists, shows, removes and exports the objects of a library");
  library->require_subcommand(1);
  library->footer(
      "\nExample:\n"
      "  sextant library list objects.sxt\n"
      "  sextant library show objects.sxt milk --picture milk.png");

  auto state = std::make_shared<LibraryCommand>();
  add_verb(*library, "list", "What a library knows of each object",
           "sextant library list objects.sxt", state, list);

  state = std::make_shared<LibraryCommand>();
  CLI::App* command =
      add_verb(*library, "show", "All about one object, and a picture of it",
               "sextant library show objects.sxt milk --picture milk.png", state, show);
  command->add_option("name", state->names, "of the object")->required()->expected(1);
  command->add_option("--picture", state->picture,
                      "the object from several sides, its views and its symmetries (.png, .jpg)");

  state = std::make_shared<LibraryCommand>();
  command = add_verb(*library, "remove", "Takes objects out of a library",
                     "sextant library remove objects.sxt milk tea", state, remove);
  command->add_option("name", state->names, "of the objects")->required();

  state = std::make_shared<LibraryCommand>();
  command = add_verb(*library, "export",
                     "Writes the mesh of an object, or its features of photographs, in metres",
                     "sextant library export objects.sxt milk -o milk.ply\n"
                     "  sextant library export objects.sxt kettle -o kettle.moped.xml",
                     state, export_object);
  command->add_option("name", state->names, "of the object")->required()->expected(1);
  command
      ->add_option("-o,--output", state->output,
                   "the mesh (.ply, .obj, .vtk, .pcd), or a model of MOPED (.xml)")
      ->required();
  command->add_option("--models-info", state->models_info,
                      "diameter, box and symmetries of the object, in millimetres as "
                      "models_info.json of BOP has them (.json)");

  state = std::make_shared<LibraryCommand>();
  add_verb(*library, "check", "Reads a whole library and says whether anything in it is damaged",
           "sextant library check objects.sxt", state, check);
}

}  // namespace sextant::app
