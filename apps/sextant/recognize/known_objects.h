// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sextant/library/library.h"

namespace sextant::app {

/// The objects of a library with the parts that recognition needs, in the library's order; those
/// that `only` names where it names some. Error for a library without objects, and for a name that
/// is not in it.
std::vector<LearnedObject> load_known_objects(const Context& context, const std::string& library,
                                              const std::vector<std::string>& only = {});

}  // namespace sextant::app
