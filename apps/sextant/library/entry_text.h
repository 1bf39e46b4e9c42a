// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sextant/library/library.h"

namespace sextant::app {

/// All that an entry says, for programs. Lengths are in metres, motions 16 numbers row by row.
nlohmann::json to_json(const ObjectEntry& entry);

/// A line for each object under a line of headings, for people.
std::string table_of(const std::vector<ObjectEntry>& entries);

/// Everything about one object, for people.
std::string text_of(const ObjectEntry& entry);

/// "none", "round", "2 turns": the symmetries in a few words.
std::string words_of(const Symmetries& symmetries);

/// "317.2 kB", "1.5 MB"
std::string bytes_text(std::int64_t bytes);

}  // namespace sextant::app
