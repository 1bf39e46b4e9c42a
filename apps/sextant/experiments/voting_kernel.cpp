// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "apps/sextant/experiments/experiments.h"
#include "apps/sextant/experiments/voting_clouds.h"
#include "measure/time_graph.h"
#include "sextant/surface/voting.h"

namespace sextant::app {

namespace {

void add_cloud(const Context& context, const std::string& name, const std::vector<Vec3f>& host,
               std::vector<measure::Row>& rows) {
  const Buffer<Vec3f> points = copy(context, host);
  NeighbourGrid grid(context, points.size());
  Workspace workspace;
  VotingResult result(context, points.size());
  for (const float sigma_m : {0.05f, 0.1f, 0.2f, 0.5f, 1.0f}) {
    const VotingOptions options{.sigma_m = sigma_m};
    const double time_ms = measure::graph_ms(context, [&] {
      build_neighbour_grid_into(context, points, grid_options(options), grid);
      vote_into(context, grid, points, options, result, workspace);
    });
    const std::string at = fmt::format("{}, sigma {} m", name, sigma_m);
    rows.push_back({at + ", mean votes", "votes", {}, mean_votes(context, result), {}, {}});
    rows.push_back({at + ", time", "ms", {}, time_ms, {}, {}});
  }
}

}  // namespace

/// The 14 thousand points of stairs; the paper has curves without figures. The time is that of the
/// grid, the votes and the split.
std::vector<measure::Row> voting_kernel(const Context& context) {
  std::vector<measure::Row> rows;
  add_cloud(context, "made stairs", made_stairs(0.2f, 105), rows);
  if (const auto captured = captured_cloud("sparseFloor")) {
    add_cloud(context, "the authors' stairs", *captured, rows);
  }
  return rows;
}

}  // namespace sextant::app
