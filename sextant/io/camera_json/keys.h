// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sextant/io/camera_json.h"

namespace sextant::detail::camera_json {

/// One camera from the keys of an object, in any of the spellings of docs/camera.md. Width and
/// height stay 0 where the object has none. `name` stands for it in messages.
CameraFile camera_of(const nlohmann::json& object, const std::string& name);

}  // namespace sextant::detail::camera_json
