// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/eval/set_models.h"

#include <cmath>

#include "sextant/io/bop_models.h"
#include "sextant/io/ply.h"

namespace sextant::app {

namespace fs = std::filesystem;

namespace {

/// The diameter is at most the diagonal of the box around the vertices, and at least that over √3.
/// Files round it, and models for evaluation have fewer vertices.
constexpr double kRounding = 1.1;

void require_same_size(const fs::path& info, const fs::path& file, const BopModel& model,
                       const TriangleMesh& mesh) {
  const double diagonal_m = bounds(Context::cpu(), mesh.vertices.points).diagonal_m();
  const double low_m = diagonal_m / (kRounding * std::sqrt(3.0)), high_m = kRounding * diagonal_m;
  require(model.diameter_m >= low_m && model.diameter_m <= high_m, info.string(), ": object ",
          model.id, " has a diameter of ", 1000 * model.diameter_m, " mm, but ",
          file.filename().string(), " would be ", 1000 * diagonal_m,
          " mm from corner to corner; both must be in millimetres");
}

}  // namespace

std::vector<EvaluatedModel> read_set_models(const fs::path& set) {
  const fs::path folder = fs::exists(set / "models_eval") ? set / "models_eval" : set / "models";
  std::vector<EvaluatedModel> models;
  const fs::path info = bop_models_info(folder);
  for (const BopModel& model : read_bop_models(info)) {
    const fs::path file = bop_mesh_file(folder, model.id);
    TriangleMesh mesh = read_ply(file, {.unit_m = 0.001});
    require_same_size(info, file, model, mesh);
    models.push_back(
        make_evaluated_model(model.id, std::move(mesh), model.symmetries, model.diameter_m));
  }
  return models;
}

}  // namespace sextant::app
