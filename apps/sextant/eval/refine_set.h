// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/sextant/eval/set_images.h"

namespace sextant::app {

/// Moves the truth of every image with a depth map onto it and keeps how far that was. The work is
/// done on the host; where the models lie elsewhere, they are read again from the set.
void refine_set(const Context& context, const std::filesystem::path& set,
                const EvaluatedModels& models, const RefineTruthOptions& options,
                std::vector<SetImage>& images);

/// How many truths moved and how far, for the report; the same for people; and a line of JSON for
/// each instance.
nlohmann::json refinement_json(const std::vector<SetImage>& images);
std::string refinement_text(const std::vector<SetImage>& images);
std::string refinement_lines(const std::vector<SetImage>& images);

}  // namespace sextant::app
