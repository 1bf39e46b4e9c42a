// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/datasets/set_notes.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sextant/core/options_json.h"
#include "sextant/io/json_file.h"

namespace sextant::app {

namespace {

using nlohmann::json;

bool holds(const std::vector<int>& list, int value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

bool SetNotes::is_distractor(int object) const { return holds(distractors, object); }

bool SetNotes::may_be_unlisted(int scene, int object) const {
  for (const int key : {scene, -1}) {
    const auto found = unlisted.find(key);
    if (found != unlisted.end() && holds(found->second, object)) return true;
  }
  return false;
}

SetNotes read_set_notes(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kNotesFile;
  SetNotes notes;
  notes.name = std::filesystem::absolute(folder).filename().string();
  notes.truth = "given";
  if (!std::filesystem::exists(path)) return notes;
  const json document = read_json_file(path);
  try {
    notes.name = document.at("name");
    notes.source = document.at("source");
    notes.truth = document.at("truth");
    options_from_json(document.at("criterion"), notes.criterion);
    for (const auto& item : document.at("objects").items()) {
      notes.objects[std::stoi(item.key())] = item.value();
    }
    notes.distractors = document.at("distractors").get<std::vector<int>>();
    for (const auto& item : document.at("unlisted").items()) {
      notes.unlisted[item.key() == "all" ? -1 : std::stoi(item.key())] =
          item.value().get<std::vector<int>>();
    }
    notes.remarks = document.at("remarks").get<std::vector<std::string>>();
  } catch (const json::exception& error) {
    fail(path.string(), ": ", error.what());
  } catch (const std::logic_error&) {
    fail(path.string(), ": the keys of \"objects\" and \"unlisted\" must be numbers");
  }
  return notes;
}

void write_set_notes(const std::filesystem::path& folder, const SetNotes& notes) {
  json objects = json::object(), unlisted = json::object();
  for (const auto& [id, name] : notes.objects) objects[std::to_string(id)] = name;
  for (const auto& [scene, list] : notes.unlisted) {
    unlisted[scene < 0 ? "all" : std::to_string(scene)] = list;
  }
  write_json_file(folder / kNotesFile, {{"name", notes.name},
                                        {"source", notes.source},
                                        {"truth", notes.truth},
                                        {"criterion", options_to_json(notes.criterion)},
                                        {"objects", objects},
                                        {"distractors", notes.distractors},
                                        {"unlisted", unlisted},
                                        {"remarks", notes.remarks}});
}

}  // namespace sextant::app
