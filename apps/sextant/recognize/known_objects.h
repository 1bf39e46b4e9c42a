// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "sextant/recognize/recognizer.h"

namespace sextant::app {

/// Wrong usage where --sources, one of the flags of RecognizeOptions, has other words than it may.
void check_sources_flag(CLI::App& command);

/// The objects of a library with the parts that recognition with these options needs, in the
/// library's order; those that `only` names where it names some. Objects that photographs alone
/// show are left out with a note. Error for a library without objects, for a name that is not in
/// it, and where nothing is left.
std::vector<LearnedObject> load_known_objects(const Context& context, const std::string& library,
                                              const RecognizeOptions& options,
                                              const std::vector<std::string>& only = {});

}  // namespace sextant::app
