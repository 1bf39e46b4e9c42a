// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "apps/sextant/experiments/experiments.h"
#include "apps/sextant/learn/learn_inputs.h"
#include "sextant/io/geometry_file.h"
#include "sextant/learn/learn_mesh.h"

namespace sextant::app {

namespace {

namespace fs = std::filesystem;

/// Models that lie in the folder of captured data, and what `sextant learn` is told of them.
struct ModelSet {
  const char* path;  ///< a file, or a folder of them
  const char* unit;  ///< as --unit; empty where the folder knows it
};
constexpr ModelSet kSets[] = {{"linemod_ape/obj_01.ply", "mm"},
                              {"visp_rbt/models", ""},
                              {"densely_packed_bins/models", ""},
                              {"icbin_cups/coffee_cup.ply", "mm"},
                              {"uwa_mian/chef.pcd", "auto"},
                              {"uwa_mian/parasaurolophus_low_normals2.ply", "auto"},
                              {"library_meshes", "auto"},
                              {"tum_objrec/tum_amicelli_box.ply", "mm"},
                              {"tum_objrec/tum_rusk_box.ply", "mm"},
                              {"tum_objrec/tum_soda_bottle.ply", "mm"},
                              {"tum_objrec/tum_rabbit.ply", "mm"},
                              {"ycbv_frames/meshes", ""}};

void learn_one(const LearnInput& input, std::vector<measure::Row>& rows) {
  const auto start = std::chrono::steady_clock::now();
  const TriangleMesh mesh = read_geometry(input.path, {.unit_m = input.unit_m});
  const LearnedObject object = learn_mesh(Context::cpu(), input.name, mesh, {});
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  const auto add = [&](const char* what, const char* unit, double value) {
    rows.push_back({input.name + ", " + what, unit, {}, value, {}, {}});
  };
  constexpr double kMost_s = 60;
  rows.push_back(
      {input.name + ", learned in", "s", {}, taken.count(), kMost_s, taken.count() <= kMost_s});
  add("triangles", "", static_cast<double>(object.mesh.triangles.size()));
  add("diameter", "mm", 1000 * object.diameter_m);
  add("turns onto itself", "", static_cast<double>(object.shape_symmetries.discrete.size()));
  add("round axes", "", static_cast<double>(object.shape_symmetries.continuous.size()));
  add("views", "", static_cast<double>(object.views.size()));
  add("tensors", "", static_cast<double>(object.tensors.set.frames.size()));
}

}  // namespace

/// Captured models, each learned with the defaults of `sextant learn`: size, symmetries, views,
/// tensors and time.
std::vector<measure::Row> learn_captured(const Context&) {
  const char* root = std::getenv("SEXTANT_SHARED_DATA");
  require(root != nullptr && fs::is_directory(root),
          "learn-captured: set SEXTANT_SHARED_DATA to the folder with the captured models");
  std::vector<measure::Row> rows;
  for (const ModelSet& set : kSets) {
    const fs::path path = fs::path(root) / set.path;
    if (!fs::exists(path)) continue;
    for (const LearnInput& input : find_learn_inputs({path.string()}, "", {set.unit, 0})) {
      learn_one(input, rows);
    }
  }
  require(!rows.empty(), "learn-captured: ", root, " has none of the captured models");
  return rows;
}

}  // namespace sextant::app
