// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/eval/set_models.h"

#include "sextant/io/bop_models.h"
#include "sextant/io/ply.h"

namespace sextant::app {

namespace fs = std::filesystem;

std::vector<EvaluatedModel> read_set_models(const fs::path& set) {
  const fs::path folder = fs::exists(set / "models_eval") ? set / "models_eval" : set / "models";
  std::vector<EvaluatedModel> models;
  for (const BopModel& model : read_bop_models(folder / "models_info.json")) {
    models.push_back(
        make_evaluated_model(model.id, read_ply(bop_mesh_file(folder, model.id), {.unit_m = 0.001}),
                             model.symmetries, model.diameter_m));
  }
  return models;
}

}  // namespace sextant::app
