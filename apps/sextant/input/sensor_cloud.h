// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sextant/geometry/surface.h"

namespace sextant::app {

/// Makes the cloud of a file, on the host, what operations expect: normals of length 1, holes where
/// a sensor has written points though it saw nothing, and whose rows it has. Says so where that is
/// not plain, and doubts signs of normals that differ at random, and a unit that puts what the
/// camera of the rows sees nearer than 5 cm or farther than 50 m.
void prepare_cloud(const std::string& file, Surface& surface);

/// What the rows of a surface are, for the document: null when it has none.
nlohmann::json rows_to_json(const Surface& surface);

}  // namespace sextant::app
