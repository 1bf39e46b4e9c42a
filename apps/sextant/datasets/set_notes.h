// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sextant/evaluate/pose_error.h"

namespace sextant::app {

/// What the layout of BOP has no place for: the file sextant.json in a data set's folder. A set
/// without it is judged by its truth as it is.
struct SetNotes {
  std::string name;
  std::string source;  ///< the folder that it was made of
  /// "exact", "official", "reference" (derived by other tools), "pseudo" or "none".
  std::string truth;
  PoseCriterion criterion;
  std::map<int, std::string> objects;  ///< names
  std::vector<int> distractors;        ///< objects that are in no image: each report is false
  /// Objects of which a scene may hold more than its truth lists: a report of them where nothing is
  /// listed is neither right nor false. Scene -1 stands for all scenes.
  std::map<int, std::vector<int>> unlisted;
  std::vector<std::string> remarks;  ///< what is known to be wrong in the truth

  bool is_distractor(int object) const;
  bool may_be_unlisted(int scene, int object) const;
};

inline constexpr const char* kNotesFile = "sextant.json";

/// Empty notes where the folder has no such file; an Error names what is wrong in it.
SetNotes read_set_notes(const std::filesystem::path& folder);
void write_set_notes(const std::filesystem::path& folder, const SetNotes& notes);

}  // namespace sextant::app
