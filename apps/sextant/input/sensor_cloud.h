// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sextant/geometry/surface.h"

namespace sextant::app {

/// Makes holes of the points of a cloud on the host that a sensor has written where it saw nothing,
/// and finds out whose rows it has; says so where that is not plain, and doubts a unit that puts
/// what the camera of the rows sees nearer than 5 cm or farther than 50 m.
void prepare_cloud(const std::string& file, Surface& surface);

/// What the rows of a surface are, for the document: null when it has none.
nlohmann::json rows_to_json(const Surface& surface);

}  // namespace sextant::app
