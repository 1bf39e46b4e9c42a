// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sextant/core/rigid3.h"

namespace sextant {

/// A pose as 16 numbers, a 4 × 4 matrix row by row, in metres.
nlohmann::json pose_to_json(const Rigid3d& pose);

/// The same read. Throws Error, which `where` begins, for what is no rigid motion.
Rigid3d pose_from_json(const nlohmann::json& numbers, const std::string& where);

/// A pose with a rotation of few digits, as files have them, made orthonormal. Throws Error, which
/// `where` begins, where it is none.
Rigid3d checked_pose(const Rigid3d& pose, const std::string& where);

}  // namespace sextant
