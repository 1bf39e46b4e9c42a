// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/match/library_matches.h"

namespace sextant::app {

inline constexpr std::string_view kMatchFiles[] = {".csv", ".json"};

/// A list with an object for each match.
nlohmann::json matches_to_json(const LibraryMatches& matches, const ResidentLibrary& library);

/// Matches under the name of what was matched.
struct NamedMatches {
  const char* kind;
  const LibraryMatches* matches;
};

/// Writes them as JSON or, a line for each match, as CSV, by the extension.
void write_matches(const std::string& file, const std::vector<NamedMatches>& found,
                   const ResidentLibrary& library);

}  // namespace sextant::app
