// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "apps/sextant/experiments/experiments.h"
#include "apps/sextant/experiments/voting_clouds.h"
#include "measure/time_graph.h"
#include "sextant/surface/voting.h"

namespace sextant::app {

namespace {

/// What the paper and our goals say of one cloud.
struct Figures {
  std::string name;
  float sigma_m;
  std::optional<double> votes, gpu_ms, cpu_ms;
  std::optional<double> gpu_goal_ms;
};

void add_cloud(const Context& context, const Figures& figures, const std::vector<Vec3f>& host,
               std::vector<measure::Row>& rows) {
  const Buffer<Vec3f> points = copy(context, host);
  NeighbourGrid grid(context, points.size());
  Workspace workspace;
  VotingResult by_cells(context, points.size()), by_pairs(context, points.size());
  const VotingOptions cells{.sigma_m = figures.sigma_m};
  VotingOptions pairs = cells;
  pairs.search = VoterSearch::kBruteForce;
  const double pairs_ms = measure::graph_ms(
      context, [&] { vote_into(context, grid, points, pairs, by_pairs, workspace); });
  const double cells_ms = measure::graph_ms(context, [&] {
    build_neighbour_grid_into(context, points, grid_options(cells), grid);
    vote_into(context, grid, points, cells, by_cells, workspace);
  });
  double worst = 0;
  const std::vector<Sym3f> a = to_host(context, by_cells.tensors);
  const std::vector<Sym3f> b = to_host(context, by_pairs.tensors);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = double(max_abs(a[i] - b[i]) / max_abs(b[i]));
    worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
  }

  const std::optional<double> paper_ms = context.is_cuda() ? figures.gpu_ms : figures.cpu_ms;
  const std::string& name = figures.name;
  rows.push_back(
      {name + ", mean votes", "votes", {}, mean_votes(context, by_cells), {}, {}, figures.votes});
  rows.push_back({name + ", all pairs", "ms", {}, pairs_ms, {}, {}, paper_ms});
  measure::Row ours{name + ", by cells, grid included", "ms", pairs_ms, cells_ms, {}, {}, paper_ms};
  if (context.is_cuda()) ours.goal = figures.gpu_goal_ms;
  if (ours.goal) ours.met = cells_ms <= *ours.goal;
  rows.push_back(ours);
  rows.push_back(
      {name + ", largest difference of their tensors", "rel", {}, worst, 2e-5, worst <= 2e-5});
}

}  // namespace

/// The paper's times: one CPU thread, and its best GPU version (Table II), on all pairs.
std::vector<measure::Row> voting_speed(const Context& context) {
  const Figures stairs{"14 k stairs, sigma 0.2 m", 0.2f, {}, 1063.6, 728479.0, {}};
  const Figures apartment{"64 k apartment, sigma 0.2 m", 0.2f, 275.0, 645.0, {}, 0.3};
  const Figures plain{"41 k plain, sigma 1 m", 1.0f, 2113.0, 337.0, {}, 0.4};
  std::vector<measure::Row> rows;
  add_cloud(context, stairs, made_stairs(0.2f, 105), rows);
  add_cloud(context, apartment, made_apartment(0.2f, 275), rows);
  add_cloud(context, plain, made_plain(1.0f, 2113), rows);
  if (const auto captured = captured_cloud("sparseFloor")) {
    add_cloud(context, {"the authors' stairs, sigma 0.2 m", 0.2f, {}, 1063.6, 728479.0, {}},
              *captured, rows);
  }
  if (const auto captured = captured_cloud("winter_sparse")) {
    add_cloud(context, {"35 k winter plain, captured, sigma 1 m", 1.0f, {}, {}, {}, {}}, *captured,
              rows);
  }
  return rows;
}

}  // namespace sextant::app
