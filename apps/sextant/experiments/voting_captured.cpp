// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "apps/sextant/experiments/experiments.h"
#include "apps/sextant/experiments/normal_error.h"
#include "apps/sextant/experiments/voting_clouds.h"
#include "measure/time_graph.h"
#include "sextant/core/error.h"
#include "sextant/surface/cloud_normals.h"
#include "sextant/surface/voting.h"

namespace sextant::app {

namespace {

/// The saliencies that the authors stored with their points, σ = 0.5 m.
void add_stored(const Context& context, const TriangleMesh& mesh, std::vector<measure::Row>& rows) {
  const Buffer<Vec3f> points = copy(context, mesh.vertices.points);
  const VotingResult result = vote(context, points, {.sigma_m = 0.5f});
  const std::vector<Saliency> ours = to_host(context, result.saliencies);
  const auto add = [&](const char* name, float Saliency::*value) {
    const Attribute* found = find_attribute(mesh.vertices.attributes, name);
    require(found != nullptr, "voting-clouds: outputSparse.vtk has no attribute '", name, "'");
    const std::vector<float> stored = to_floats(*found);
    double equal = 0;
    std::vector<double> differences;
    for (std::size_t i = 0; i < stored.size(); ++i) {
      const double wanted = double(stored[i]),
                   difference = std::abs(double(ours[i].*value) - wanted);
      equal += difference <= 1e-4 * std::abs(wanted) + 1e-6;  // six digits are stored
      if (wanted != 0) differences.push_back(difference / std::abs(wanted));
    }
    const double share = 100 * equal / static_cast<double>(stored.size());
    const std::string what = std::string("the authors' saliencies, ") + name;
    rows.push_back({what + ", points that agree within 1e-4", "%", {}, share, 99, share >= 99});
    rows.push_back(
        {what + ", median difference", "rel", {}, measure::spread_of(differences).median, {}, {}});
  };
  rows.push_back({"the authors' saliencies, sigma 0.5 m, mean votes",
                  "votes",
                  {},
                  mean_votes(context, result),
                  {},
                  {}});
  add("stick", &Saliency::stick);
  add("plate", &Saliency::plate);
  add("ball", &Saliency::ball);
}

/// A cloud without stored saliencies: votes, times, what the points look like, and how far the
/// normals are from those of weighted PCA with the same σ.
struct CapturedCloud {
  const char* file;
  std::string name;
  float sigma_m;
  std::optional<double> paper_votes, paper_gpu_ms;
};

void add_cloud(const Context& context, const CapturedCloud& cloud, const std::vector<Vec3f>& host,
               std::vector<measure::Row>& rows) {
  const Buffer<Vec3f> points = copy(context, host);
  const VotingOptions options{.sigma_m = cloud.sigma_m};
  NeighbourGrid grid(context, points.size());
  Workspace workspace;
  VotingResult result(context, points.size());
  const double time_ms = measure::graph_ms(context, [&] {
    build_neighbour_grid_into(context, points, grid_options(options), grid);
    vote_into(context, grid, points, options, result, workspace);
  });
  const auto add = [&](const char* what, const char* unit, double ours,
                       std::optional<double> paper = {}) {
    rows.push_back({cloud.name + what, unit, {}, ours, {}, {}, paper});
  };
  add(", points", "", static_cast<double>(host.size()));
  add(", mean votes", "votes", mean_votes(context, result), cloud.paper_votes);
  add(", time, grid included", "ms", time_ms,
      context.is_cuda() ? cloud.paper_gpu_ms : std::nullopt);
  const SaliencySummary summary = summary_of(context, result);
  add(", mean confidence", "", summary.confidence);
  add(", more plate than stick: edges", "%", summary.edges_percent);
  const std::vector<Vec3f> voted = to_host(context, result.normals);
  std::vector<Vec3f> weighted = to_host(
      context,
      estimate_cloud_normals(context, points,
                             {.method = CloudNormalsMethod::kWeighted, .sigma_m = cloud.sigma_m}));
  double without = 0;
  for (std::size_t i = 0; i < voted.size(); ++i) {
    if (!is_finite(voted[i])) ++without, weighted[i] = voted[i];  // is left out
  }
  add(", points without a normal", "%", 100 * without / static_cast<double>(voted.size()));
  add(", median angle of normals to weighted PCA", "deg",
      measure::spread_of(normal_errors_deg(weighted, voted)).median);
}

}  // namespace

/// The clouds of the paper's Figs. 7 and 8 themselves are not among the captured ones:
/// `voting-speed` has clouds of their size and votes. The winter plain stands in for the plain of
/// Fig. 8.
std::vector<measure::Row> voting_clouds(const Context& context) {
  const auto require_file = [](bool is_there, const char* name) {
    require(is_there,
            "voting-clouds: set SEXTANT_SHARED_DATA to the folder with the captured clouds; ",
            "there is no tensor_voting/", name, ".vtk");
  };
  std::vector<measure::Row> rows;
  const auto stored = captured_file("outputSparse");
  require_file(stored.has_value(), "outputSparse");
  add_stored(context, *stored, rows);
  const CapturedCloud clouds[] = {
      {"sparseFloor", "the authors' stairs, sigma 0.1 m", 0.1f, {}, {}},
      {"sparseFloor", "the authors' stairs, sigma 0.2 m", 0.2f, {}, {}},
      {"sparseFloor", "the authors' stairs, sigma 0.5 m", 0.5f, {}, {}},
      {"winter_sparse", "winter plain for that of Fig. 8, sigma 1 m", 1.0f, 2113.0, 337.0}};
  for (const CapturedCloud& cloud : clouds) {
    const auto points = captured_cloud(cloud.file);
    require_file(points.has_value(), cloud.file);
    add_cloud(context, cloud, *points, rows);
  }
  return rows;
}

}  // namespace sextant::app
