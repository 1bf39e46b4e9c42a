// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "sextant/evaluate/evaluated_model.h"

namespace sextant::app {

/// The objects of a BOP data set: models_info.json and obj_*.ply of the folder models_eval or,
/// where that is missing, models. An Error names the file and key that is missing or wrong.
std::vector<EvaluatedModel> read_set_models(const std::filesystem::path& set);

}  // namespace sextant::app
