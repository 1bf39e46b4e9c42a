// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/core/context.h"
#include "sextant/core/vec.h"

// The clouds of the voting paper's experiments.

namespace sextant::app {

/// Made by formula: as many points as the paper's, and as many votes.
std::vector<Vec3f> made_stairs(float sigma_m, double mean_votes);
std::vector<Vec3f> made_apartment(float sigma_m, double mean_votes);
std::vector<Vec3f> made_plain(float sigma_m, double mean_votes);

/// The authors' own, when SEXTANT_SHARED_DATA names the folder with tensor_voting/NAME.vtk.
std::optional<std::vector<Vec3f>> captured_cloud(const std::string& name);

}  // namespace sextant::app
