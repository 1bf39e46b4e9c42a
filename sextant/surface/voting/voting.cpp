// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/voting.h"

#include "sextant/core/build_config.h"
#include "sextant/core/for_each.h"
#include "sextant/geometry/neighbours/queries.h"
#include "sextant/surface/cloud_resolution.h"
#include "sextant/surface/voting/cpu.h"
#include "sextant/surface/voting/math.h"

namespace sextant {

using namespace detail::voting;

namespace {

constexpr std::int64_t kMostPlaces = 1 << 30;

/// Cells of half the reach: of the box of cells that may hold voters, half the area of a surface is
/// within reach, with cells of the reach itself a third.
NeighbourGridOptions cells_for(float radius_m) {
  return NeighbourGridOptions::for_radius(0.5f * radius_m);
}

void check_votees(const Context& context, View<const Vec3f> votees, const VotingResult& result) {
  require(votees.size <= kMostPlaces, "votees: ", votees.size, " places; ", kMostPlaces,
          " are the most");
  require(result.size() == votees.size, "result: room for ", result.size(), " instead of ",
          votees.size);
  require_on(context, result.tensors.view(), "result");
}

/// Makes room for at least `size` elements.
template <class T>
void reserve(const Context& context, std::int64_t size, Buffer<T>& buffer) {
  if (buffer.size() < size || buffer.device() != context.device()) {
    buffer = Buffer<T>(context, size);
  }
}

/// The votees in the order of the grid's cells; the voters themselves are in that order already.
const GridPoint* ordered_votees(const Context& context, View<const Vec3f> votees, bool are_voters,
                                VotingWorkspace& workspace) {
  const NeighbourGridView grid = workspace.grid.view();
  if (are_voters) return grid.points;
  return detail::neighbours::ordered_queries(context, grid, votees, workspace.votees).data;
}

void cast_votes(const Context& context, const VotingJob& job, const VotingOptions& options) {
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) {
      return cast_votes_cuda(context, job, options.decay, options.search);
    }
  }
  cast_votes_cpu(context, job, options.decay, options.search);
}

void split_tensors(const Context& context, View<const Vec3f> votees, const VotingOptions& options,
                   VotingResult& result) {
  const SplitTensor split{
      result.tensors.data(),    votees.data,           options.orient,         options.viewpoint_m,
      result.saliencies.data(), result.normals.data(), result.tangents.data(), result.flags.data()};
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) return split_tensors_cuda(context, votees.size, split);
  }
  for_each(context, votees.size, split);
}

void make_sticks(const Context& context, VotingWorkspace& workspace) {
  const MakeStick make{workspace.first.normals.data(), workspace.first.saliencies.data(),
                       workspace.sticks.data()};
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) {
      return make_sticks_cuda(context, workspace.first.size(), make);
    }
  }
  for_each(context, workspace.first.size(), make);
}

/// One pass: the tensors of the votees and what follows from them.
void vote_once(const Context& context, View<const Vec3f> voters, View<const Vec3f> votees,
               const VotingOptions& options, const Vec4f* sticks, VotingWorkspace& workspace,
               VotingResult& result) {
  const bool cells = options.search == VoterSearch::kCells;
  const bool are_voters = votees.data == voters.data && votees.size == voters.size;
  const VotingJob job{workspace.grid.view(),
                      cells ? ordered_votees(context, votees, are_voters, workspace) : nullptr,
                      voters,
                      votees,
                      sticks,
                      kVoteReach * options.sigma_m,
                      1.0f / (options.sigma_m * options.sigma_m),
                      options.self_vote,
                      result.tensors.data(),
                      result.votes.data()};
  cast_votes(context, job, options);
  split_tensors(context, votees, options, result);
}

}  // namespace

VotingResult vote(const Context& context, View<const Vec3f> points, const VotingOptions& options) {
  return vote_at(context, points, points, options);
}

VotingResult vote_at(const Context& context, View<const Vec3f> voters, View<const Vec3f> votees,
                     const VotingOptions& options) {
  check_options(options);
  VotingOptions known = options;
  if (known.sigma_m == 0.0f) known.sigma_m = default_sigma_m(context, voters);
  VotingWorkspace workspace;
  VotingResult result(context, votees.size);
  vote_at_into(context, voters, votees, known, workspace, result);
  return result;
}

void vote_into(const Context& context, View<const Vec3f> points, const VotingOptions& options,
               VotingWorkspace& workspace, VotingResult& result) {
  vote_at_into(context, points, points, options, workspace, result);
}

void vote_at_into(const Context& context, View<const Vec3f> voters, View<const Vec3f> votees,
                  const VotingOptions& options, VotingWorkspace& workspace, VotingResult& result) {
  constexpr float kLeastSigma_m = 1e-9f;
  check_options(options);
  require_on(context, voters, "voters");
  require_on(context, votees, "votees");
  check_votees(context, votees, result);
  require(options.sigma_m >= kLeastSigma_m, "sigma_m: ", options.sigma_m,
          " is too small; pass at least 1e-9, or default_sigma_m(context, points)");
  const bool brute_force = options.search == VoterSearch::kBruteForce;
  require(!brute_force || !options.second_pass,
          "second_pass: is not there for brute_force; take the search by cells");
  if (!brute_force) {
    if (workspace.grid.capacity() < voters.size || workspace.grid.view().frame == nullptr ||
        workspace.grid.device() != context.device()) {
      workspace.grid = NeighbourGrid(context, voters.size);
    }
    build_neighbour_grid_into(context, voters, cells_for(kVoteReach * options.sigma_m),
                              workspace.grid);
  }
  if (!options.second_pass) {
    return vote_once(context, voters, votees, options, nullptr, workspace, result);
  }
  if (workspace.first.size() != voters.size ||
      workspace.first.tensors.device() != context.device()) {
    workspace.first = VotingResult(context, voters.size);
  }
  reserve(context, voters.size, workspace.sticks);
  vote_once(context, voters, voters, options, nullptr, workspace, workspace.first);
  make_sticks(context, workspace);
  vote_once(context, voters, votees, options, workspace.sticks.data(), workspace, result);
}

PlaceGrid place_grid(const Bounds& bounds, float step_m, float margin_m) {
  require(step_m > 0.0f && std::isfinite(step_m), "step_m: ", step_m, " is not a distance");
  require(margin_m >= 0.0f && std::isfinite(margin_m), "margin_m: ", margin_m,
          " is not a distance");
  if (bounds.empty()) return {{}, step_m, {0, 0, 0}};
  const auto along = [&](float low, float high) {
    return std::floor((static_cast<double>(high) - low + 2.0 * margin_m) / step_m + 1e-6) + 1.0;
  };
  const double nx = along(bounds.low.x, bounds.high.x);
  const double ny = along(bounds.low.y, bounds.high.y);
  const double nz = along(bounds.low.z, bounds.high.z);
  require(nx * ny * nz <= double(kMostPlaces), "step_m: ", step_m, " makes ", nx * ny * nz,
          " places; take a larger one, ", kMostPlaces, " are the most");
  const Vec3f margin{margin_m, margin_m, margin_m};
  return {bounds.low - margin,
          step_m,
          {static_cast<int>(nx), static_cast<int>(ny), static_cast<int>(nz)}};
}

Buffer<Vec3f> grid_positions(const Context& context, const PlaceGrid& grid) {
  require(grid.size.x >= 0 && grid.size.y >= 0 && grid.size.z >= 0 &&
              double(grid.size.x) * grid.size.y * grid.size.z <= double(kMostPlaces),
          "grid: ", grid.size.x, " x ", grid.size.y, " x ", grid.size.z, " places");
  Buffer<Vec3f> positions(context, grid.places());
  const PlaceAt place{grid, positions.data()};
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) {
      grid_positions_cuda(context, positions.size(), place);
      return positions;
    }
  }
  for_each(context, positions.size(), place);
  return positions;
}

}  // namespace sextant
