// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/recognize/known_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "apps/sextant/command/command.h"
#include "apps/sextant/command/progress_bar.h"
#include "sextant/core/error.h"
#include "sextant/recognize/lookalikes.h"

namespace sextant::app {

namespace {

/// "a, b and 5 more".
std::string names_of(const std::vector<ObjectEntry>& entries) {
  constexpr std::size_t kMost = 10;
  std::string names;
  for (std::size_t i = 0; i < std::min(kMost, entries.size()); ++i) {
    names += (i > 0 ? ", " : "") + entries[i].name;
  }
  if (entries.size() > kMost) names += " and " + std::to_string(entries.size() - kMost) + " more";
  return names;
}

template <class Condition>
std::vector<ObjectEntry> selected(const std::vector<ObjectEntry>& entries,
                                  const Condition& condition) {
  std::vector<ObjectEntry> some;
  std::copy_if(entries.begin(), entries.end(), std::back_inserter(some), condition);
  return some;
}

/// Says which objects depth does not show; Error where there are no others.
void tell_unseen(const std::string& library, const std::vector<ObjectEntry>& unseen, bool others) {
  if (unseen.empty()) return;
  const std::string text =
      fmt::format("{}: {} known by features of photographs alone and cannot be seen in depth",
                  library, names_of(unseen) + (unseen.size() == 1 ? " is" : " are"));
  require(others, text, "; learn a mesh or RGB-D views");
  note("sextant: " + text);
}

/// Says when lookalikes were learned by another version.
void doubt_lookalikes(const std::string& library, const std::vector<LearnedObject>& objects) {
  const auto foreign = std::count_if(objects.begin(), objects.end(), [](const LearnedObject& o) {
    return !o.lookalikes.terms.empty() && !are_understood(o.lookalikes);
  });
  if (foreign == 0) return;
  note(
      fmt::format("sextant: {}: what passes for {} of its objects was learned by another version "
                  "and is not used; 'sextant learn --replace' learns them anew",
                  library, foreign));
}

}  // namespace

void check_sources_flag(CLI::App& command) {
  command.get_option("--sources")->check([](const std::string& words) -> std::string {
    try {
      pose_sources(words);
      return {};
    } catch (const Error& error) {
      return error.what();
    }
  });
}

std::vector<LearnedObject> load_known_objects(const Context& context, const std::string& library,
                                              const RecognizeOptions& options,
                                              const std::vector<std::string>& only) {
  const Library file(library, LibraryAccess::kRead);
  const std::vector<ObjectEntry> entries = file.list();
  require(!entries.empty(), library,
          ": there are no objects in it; 'sextant learn' puts some there");
  for (const std::string& name : only) {
    require(file.contains(name), "--only: ", library, " has no object '", name, "'; it has ",
            names_of(entries));
  }
  const auto is_wanted = [&](const ObjectEntry& entry) {
    return only.empty() || std::find(only.begin(), only.end(), entry.name) != only.end();
  };
  const std::vector<ObjectEntry> unseen = selected(entries, [&](const ObjectEntry& entry) {
    return is_wanted(entry) && is_appearance_only(entry);
  });
  const std::vector<ObjectEntry> seen = selected(entries, [&](const ObjectEntry& entry) {
    return is_wanted(entry) && !is_appearance_only(entry);
  });
  tell_unseen(library, unseen, !seen.empty());
  const auto bare = std::count_if(seen.begin(), seen.end(),
                                  [](const ObjectEntry& entry) { return entry.lookalikes == 0; });
  if (bare > 0) {
    note(
        fmt::format("sextant: {}: {} of its objects were learned without clutter and are accepted "
                    "with more doubt; 'sextant learn --replace' learns them anew",
                    library, bare));
  }
  const ObjectParts parts = parts_to_recognize(options);
  ProgressBar bar("loading the library", {"objects", 1});
  std::vector<LearnedObject> objects;
  if (seen.size() == entries.size()) {
    LibraryVisitor visitor;
    visitor.object = [&](std::int64_t, LearnedObject object) {
      objects.push_back(std::move(object));
    };
    file.load_all(context, parts, visitor, bar.callback());
    doubt_lookalikes(library, objects);
    return objects;
  }
  for (const ObjectEntry& entry : seen) objects.push_back(file.load(entry.name, parts));
  doubt_lookalikes(library, objects);
  return objects;
}

}  // namespace sextant::app
