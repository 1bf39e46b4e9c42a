// SPDX-License-Identifier: Apache-2.0
// Tensor voting by cells against the same arithmetic over all pairs (the paper's algorithm), in
// turn on the same two threads, on clouds of the paper's size and votes; then on the GPU where
// there is one, as a replayed graph with resident data. Tensors are compared with sums in double.
// Usage: voting_bench [RESULT.json]
#include <cmath>
#include <functional>

#include "measure/time_graph.h"
#include "sextant/surface/cloud_normals.h"
#include "sextant/surface/voting.h"
#include "sextant/synth/survey_clouds.h"

namespace sextant::measure {
namespace {

constexpr int kThreads = 2;

struct Survey {
  std::string name;
  float sigma_m;
  std::vector<Vec3f> points;
  std::vector<Vec3f> truth;  ///< normals
  double device_goal_ms;
};

Survey apartment() {
  SurveyCloud cloud = apartment_survey(63900, 0.01, 1);
  scale_to_neighbours(Context::cpu(), 0.6f, 275, cloud.points);
  return {"64 k points x 275 votes", 0.2f, cloud.points, cloud.normals, 0.3};
}

Survey plain() {
  SurveyCloud cloud = plain_survey(40800, 0.01, 1);
  scale_to_neighbours(Context::cpu(), 3.0f, 2113, cloud.points);
  return {"41 k points x 2113 votes", 1.0f, cloud.points, cloud.normals, 0.4};
}

/// The tensor at point i by definition, in double.
Sym3d oracle(const Survey& survey, std::size_t i) {
  const double sigma_sq = double(survey.sigma_m) * double(survey.sigma_m);
  Sym3d tensor{1, 0, 0, 1, 0, 1};
  for (const Vec3f& voter : survey.points) {
    const Vec3d d = cast<double>(voter) - cast<double>(survey.points[i]);
    const double ratio_sq = norm_sq(d) / sigma_sq;
    if (ratio_sq == 0 || ratio_sq >= 9) continue;
    const double weight = std::exp(-ratio_sq);
    tensor = tensor + Sym3d{weight, 0, 0, weight, 0, weight} - outer(d) * (weight / norm_sq(d));
  }
  return tensor;
}

/// The largest relative error of tensors, over every 97th point.
double worst_error(const Survey& survey, const std::vector<Sym3f>& tensors) {
  double worst = 0;
  for (std::size_t i = 0; i < tensors.size(); i += 97) {
    const Sym3d truth = oracle(survey, i);
    const Sym3f& t = tensors[i];
    const Sym3d found{t.xx, t.xy, t.xz, t.yy, t.yz, t.zz};
    const double error = max_abs(found - truth) / max_abs(truth);
    worst = std::isnan(error) ? INFINITY : std::max(worst, error);
  }
  return worst;
}

void add_accuracy(const std::string& what, const Context& context, const Survey& survey,
                  const VotingResult& result, std::vector<Row>& rows) {
  const double worst = worst_error(survey, to_host(context, result.tensors));
  rows.push_back(
      {what + ", largest relative error of a tensor", "rel", {}, worst, 1e-5, worst <= 1e-5});
}

/// The grid is a part of what is measured, where votes are found by cells.
void vote_with_grid(const Context& context, View<const Vec3f> points, const VotingOptions& options,
                    NeighbourGrid& grid, VotingResult& result, Workspace& workspace) {
  if (options.search == VoterSearch::kCells) {
    build_neighbour_grid_into(context, points, grid_options(options), grid);
  }
  vote_into(context, grid, points, options, result, workspace);
}

void compare_on_cpu(const Survey& survey, std::optional<double> least_ratio,
                    std::vector<Row>& rows) {
  constexpr int kTurns = 5;
  const Context context = Context::cpu(kThreads);
  const auto size = static_cast<std::int64_t>(survey.points.size());
  NeighbourGrid grid(context, size);
  Workspace workspace;
  VotingResult result(context, size);
  const VotingOptions cells{.sigma_m = survey.sigma_m};
  VotingOptions pairs = cells;
  pairs.search = VoterSearch::kBruteForce;
  const auto by = [&](const VotingOptions& options) {
    const View<const Vec3f> points = view_of(survey.points);
    return milliseconds([&] { vote_with_grid(context, points, options, grid, result, workspace); });
  };
  by(cells);
  std::vector<double> ours, theirs, ratios;
  for (int turn = 0; turn < kTurns; ++turn) {
    theirs.push_back(by(pairs));
    ours.push_back(std::min(by(cells), by(cells)));
    ratios.push_back(theirs.back() / ours.back());
  }
  const std::string what = survey.name + " (2 threads)";
  rows.push_back(
      {what + ", peer all pairs", "ms", spread_of(theirs).median, spread_of(ours).median, {}, {}});
  const double ratio = spread_of(ratios).median;
  Row goal{what + ", all pairs over cells", "x", {}, ratio, least_ratio, {}};
  if (least_ratio) goal.met = ratio >= *least_ratio;
  rows.push_back(goal);
  add_accuracy(what, context, survey, result, rows);
  std::vector<double> weighted;
  const CloudNormalsOptions options{.method = CloudNormalsMethod::kWeighted,
                                    .sigma_m = survey.sigma_m};
  for (int turn = 0; turn < kTurns; ++turn) {
    weighted.push_back(
        milliseconds([&] { estimate_cloud_normals(context, view_of(survey.points), options); }));
  }
  rows.push_back({what + ", weighted normals", "ms", {}, spread_of(weighted).median, {}, {}});
}

void measure_on_device(const Context& context, const Survey& survey, std::vector<Row>& rows) {
  const Buffer<Vec3f> points = copy(context, survey.points);
  const VotingOptions cells{.sigma_m = survey.sigma_m};
  VotingOptions pairs = cells, second = cells;
  pairs.search = VoterSearch::kBruteForce;
  second.second_pass = true;
  NeighbourGrid grid(context, points.size());
  Workspace workspace;
  VotingResult result(context, points.size());
  const auto by = [&](const VotingOptions& options) {
    return [&, options] { vote_with_grid(context, points, options, grid, result, workspace); };
  };
  by(second)();  // makes room for everything
  const std::string what = survey.name + " (" + to_string(context.device()) + ")";
  const double all_pairs = graph_ms(context, by(pairs));
  const double twice = graph_ms(context, by(second));
  const double only_grid = graph_ms(
      context, [&] { build_neighbour_grid_into(context, points, grid_options(cells), grid); });
  const double ours = graph_ms(context, by(cells));
  rows.push_back({what + ", grid included, peer all pairs", "ms", all_pairs, ours,
                  survey.device_goal_ms, ours <= survey.device_goal_ms});
  rows.push_back({what + ", the grid alone", "ms", {}, only_grid, {}, {}});
  rows.push_back({what + ", with second pass", "ms", {}, twice, {}, {}});
  add_accuracy(what, context, survey, result, rows);
  Buffer<Vec3f> normals(context, points.size());
  const CloudNormalsOptions weighted{.method = CloudNormalsMethod::kWeighted,
                                     .sigma_m = survey.sigma_m};
  const double planes = graph_ms(context, [&] {
    build_neighbour_grid_into(context, points, grid_options(weighted), grid);
    estimate_cloud_normals_into(context, grid, weighted, normals);
  });
  rows.push_back({what + ", weighted normals", "ms", {}, planes, {}, {}});
}

int run(const std::string& file) {
  std::vector<Row> rows;
  const Survey rooms = apartment(), ground = plain();
  compare_on_cpu(rooms, 20.0, rows);
  compare_on_cpu(ground, {}, rows);
  if (Context::best().is_cuda()) {
    measure_on_device(Context::best(), rooms, rows);
    measure_on_device(Context::best(), ground, rows);
  }
  publish("voting", list_devices().devices.back().name, rows, file);
  return 0;
}

}  // namespace
}  // namespace sextant::measure

int main(int argc, char** argv) {
  return sextant::measure::run_main(argc, argv, sextant::measure::run);
}
