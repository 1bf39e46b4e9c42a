// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "apps/sextant/experiments/experiments.h"
#include "apps/sextant/experiments/voting_clouds.h"
#include "measure/time_graph.h"
#include "sextant/surface/voting.h"

namespace sextant::app {

namespace {

constexpr float kSigma_m = 0.2f;

/// The paper's times: one CPU thread, and the GPU with every improvement.
constexpr double kPaperCpu_ms = 728479.0, kPaperGpu_ms = 1063.6;

/// Voting as it is defined: a loop over all pairs in double, on one thread.
std::vector<Sym3d> plain_loop(const std::vector<Vec3f>& points) {
  const double sigma_sq = double(kSigma_m) * double(kSigma_m);
  std::vector<Sym3d> tensors;
  for (const Vec3f& votee : points) {
    Sym3d t{1, 0, 0, 1, 0, 1};
    for (const Vec3f& voter : points) {
      const Vec3d offset = cast<double>(votee) - cast<double>(voter);
      const double d_sq = dot(offset, offset);
      if (d_sq == 0 || d_sq >= 9 * sigma_sq) continue;
      const double weight = std::exp(-d_sq / sigma_sq);
      const Vec3d r = offset * (1 / std::sqrt(d_sq));
      t = t +
          Sym3d{1 - r.x * r.x, -r.x * r.y, -r.x * r.z, 1 - r.y * r.y, -r.y * r.z, 1 - r.z * r.z} *
              weight;
    }
    tensors.push_back(t);
  }
  return tensors;
}

/// The largest difference of entries over the tensor's largest entry.
double worst_difference(const std::vector<Sym3f>& ours, const std::vector<Sym3d>& wanted) {
  double worst = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const Sym3f& t = ours[i];
    const Sym3d found{double(t.xx), double(t.xy), double(t.xz),
                      double(t.yy), double(t.yz), double(t.zz)};
    const double difference = max_abs(found - wanted[i]) / max_abs(wanted[i]);
    worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
  }
  return worst;
}

/// Milliseconds for the eigenvectors of all tensors. Sixteen voters whose votes reach every point
/// cost next to nothing and give tensors that are no multiple of the identity.
double split_ms(const Context& context, const std::vector<Vec3f>& host) {
  std::vector<Vec3f> some;
  for (std::size_t i = 0; i < 16; ++i) some.push_back(host[i * host.size() / 16]);
  const Buffer<Vec3f> voters = copy(context, some), votees = copy(context, host);
  const VotingOptions options{.sigma_m = 100, .search = VoterSearch::kBruteForce};
  VotingResult result(context, votees.size());
  Workspace workspace;
  const NeighbourGrid none;
  return measure::graph_ms(
      context, [&] { vote_at_into(context, none, voters, votees, options, result, workspace); });
}

/// The steps of one cloud on one context; `on` is what rows say of it.
void add_steps(const Context& context, const std::vector<Vec3f>& host, const std::string& on,
               double plain_ms, const std::vector<Sym3d>& wanted, std::vector<measure::Row>& rows) {
  const Buffer<Vec3f> points = copy(context, host);
  NeighbourGrid grid(context, points.size());
  Workspace workspace;
  VotingResult result(context, points.size());
  const VotingOptions cells{.sigma_m = kSigma_m};
  VotingOptions pairs = cells;
  pairs.search = VoterSearch::kBruteForce;
  const auto build = [&] { build_neighbour_grid_into(context, points, grid_options(cells), grid); };
  const auto add = [&](const char* what, double ours_ms, std::optional<double> paper_ms = {}) {
    rows.push_back({on + what, "ms", plain_ms, ours_ms, {}, {}, paper_ms});
  };
  const double paper_ms = context.is_cuda() ? kPaperGpu_ms : kPaperCpu_ms;
  const auto vote_with = [&](const VotingOptions& options) {
    vote_into(context, grid, points, options, result, workspace);
  };
  add(", all pairs, votes and split", measure::graph_ms(context, [&] { vote_with(pairs); }),
      paper_ms);
  add(", by cells: grid", measure::graph_ms(context, build));
  add(", by cells: votes and split", measure::graph_ms(context, [&] { vote_with(cells); }));
  add(", of that the split", split_ms(context, host));
  add(", by cells, all steps",
      measure::graph_ms(context,
                        [&] {
                          build();
                          vote_with(cells);
                        }),
      paper_ms);
  const double worst = worst_difference(to_host(context, result.tensors), wanted);
  rows.push_back({on + ", by cells, largest difference of tensors to the plain loop",
                  "rel",
                  {},
                  worst,
                  1e-5,
                  worst <= 1e-5});
}

void add_cloud(const Context& context, const std::string& name, const std::vector<Vec3f>& host,
               std::vector<measure::Row>& rows) {
  std::vector<Sym3d> wanted;
  const double plain_ms = measure::milliseconds([&] { wanted = plain_loop(host); });
  rows.push_back({name + ", plain loop over all pairs, double, one thread",
                  "ms",
                  {},
                  plain_ms,
                  {},
                  {},
                  kPaperCpu_ms});
  if (!context.is_cuda()) {
    add_steps(Context::cpu(1), host, name + ", one thread", plain_ms, wanted, rows);
  }
  add_steps(context, host, name + (context.is_cuda() ? ", GPU" : ", all threads"), plain_ms, wanted,
            rows);
}

}  // namespace

/// Table II: the paper's improvements lead from a loop on a CPU to one thread a votee on a GPU. The
/// steps here are our own; the peer of each is the plain loop on one thread of this machine.
std::vector<measure::Row> voting_steps(const Context& context) {
  std::vector<measure::Row> rows;
  add_cloud(context, "made stairs", made_stairs(kSigma_m, 105), rows);
  if (const auto captured = captured_cloud("sparseFloor")) {
    add_cloud(context, "the authors' stairs", *captured, rows);
  }
  return rows;
}

}  // namespace sextant::app
