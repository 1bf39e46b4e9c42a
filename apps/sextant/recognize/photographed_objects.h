// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sextant/library/learned_object.h"

namespace sextant::app {

/// The objects of a library that photographs can show, with their meshes and features, in the
/// library's order; those that `only` names where it names some. A remark names the objects without
/// features. Error for a library without any that has some, and for a name that is not in it.
std::vector<LearnedObject> load_photographed_objects(const std::string& library,
                                                     const std::vector<std::string>& only = {});

}  // namespace sextant::app
