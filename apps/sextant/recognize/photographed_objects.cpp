// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/recognize/photographed_objects.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/sextant/command/command.h"
#include "apps/sextant/command/progress_bar.h"
#include "sextant/core/error.h"
#include "sextant/library/library.h"

namespace sextant::app {

std::vector<LearnedObject> load_photographed_objects(const std::string& library,
                                                     const std::vector<std::string>& only) {
  const Library file(library, LibraryAccess::kRead);
  std::vector<ObjectEntry> entries = file.list();
  require(!entries.empty(), library,
          ": there are no objects in it; 'sextant learn' puts some there");
  for (const std::string& name : only) {
    require(file.contains(name), "--only: ", library, " has no object '", name, "'");
  }
  std::erase_if(entries, [&](const ObjectEntry& entry) {
    return !only.empty() && std::find(only.begin(), only.end(), entry.name) == only.end();
  });
  const std::size_t wanted = entries.size();
  std::erase_if(entries, [](const ObjectEntry& entry) { return entry.appearance == 0; });
  require(!entries.empty(), library,
          ": none of its objects has features of photographs, so none can be found in one; learn "
          "from photographs, a frontal picture or a model of MOPED");
  if (entries.size() < wanted) {
    note(
        fmt::format("sextant: {}: {} of its objects have no features of photographs and are not "
                    "looked for",
                    library, wanted - entries.size()));
  }
  ObjectParts parts = ObjectParts::none();
  parts.mesh = parts.appearance = true;
  ProgressBar bar("loading the library", {"objects", 1});
  const Progress progress = bar.callback();
  std::vector<LearnedObject> objects;
  for (const ObjectEntry& entry : entries) {
    report(progress, static_cast<std::int64_t>(objects.size()),
           static_cast<std::int64_t>(entries.size()));
    objects.push_back(file.load(entry.name, parts));
  }
  return objects;
}

}  // namespace sextant::app
