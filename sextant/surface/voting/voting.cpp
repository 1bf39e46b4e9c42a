// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/voting.h"

#include "sextant/core/for_each/anywhere.h"
#include "sextant/geometry/neighbours/queries.h"
#include "sextant/surface/cloud_resolution.h"
#include "sextant/surface/voting/cpu.h"
#include "sextant/surface/voting/math.h"

namespace sextant {

using namespace detail::voting;

namespace {

constexpr std::int64_t kMostPlaces = 1 << 30;

/// What one pass writes, one element per votee.
struct PassOutput {
  Sym3f* tensors;
  Saliency* saliencies;
  Vec3f* normals;
  Vec3f* tangents;
  std::int32_t* votes;
  std::uint8_t* flags;
};

PassOutput output_of(VotingResult& result) {
  return {result.tensors.data(),  result.saliencies.data(), result.normals.data(),
          result.tangents.data(), result.votes.data(),      result.flags.data()};
}

PassOutput output_in(const Context& context, std::int64_t votees, Workspace& workspace) {
  return {workspace.take<Sym3f>(context, votees).data,
          workspace.take<Saliency>(context, votees).data,
          workspace.take<Vec3f>(context, votees).data,
          workspace.take<Vec3f>(context, votees).data,
          workspace.take<std::int32_t>(context, votees).data,
          workspace.take<std::uint8_t>(context, votees).data};
}

void check_result(const Context& context, std::int64_t votees, const VotingResult& result) {
  require_room(context, result.tensors.view(), votees, "result.tensors");
  require_room(context, result.saliencies.view(), votees, "result.saliencies");
  require_room(context, result.normals.view(), votees, "result.normals");
  require_room(context, result.tangents.view(), votees, "result.tangents");
  require_room(context, result.votes.view(), votees, "result.votes");
  require_room(context, result.flags.view(), votees, "result.flags");
}

void check_voting(const VotingOptions& options) {
  constexpr float kLeastSigma_m = 1e-9f;
  check_options(options);
  require(options.sigma_m >= kLeastSigma_m, "sigma_m: ", options.sigma_m,
          " is too small; pass at least 1e-9, or default_sigma_m(context, points)");
  require(options.search == VoterSearch::kCells || !options.second_pass,
          "second_pass: is not there for brute_force; take the search by cells");
}

/// One pass: the tensors of the votees and what follows from them.
void vote_once(const Context& context, const NeighbourGrid& grid, View<const Vec3f> voters,
               View<const Vec3f> votees, const VotingOptions& options, const Vec4f* sticks,
               const PassOutput& out, Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  VotingJob job{grid.view(),
                nullptr,
                voters,
                votees,
                sticks,
                kVoteReach * options.sigma_m,
                1.0f / (options.sigma_m * options.sigma_m),
                options.self_vote,
                out.tensors,
                out.votes};
  if (options.search == VoterSearch::kCells) {
    // The voters themselves are in the order of the cells already.
    const bool are_voters = votees.data == voters.data && votees.size == voters.size;
    job.votees =
        are_voters ? job.grid.points
                   : detail::neighbours::ordered_queries(context, job.grid, votees, workspace).data;
  }
  detail::on_device(
      context, [&] { cast_votes_cuda(context, job, options.decay, options.search); },
      [&] { cast_votes_cpu(context, job, options.decay, options.search); });
  detail::for_each_anywhere(
      context, votees.size,
      SplitTensor{out.tensors, votees.data, options.orient, options.viewpoint_m, out.saliencies,
                  out.normals, out.tangents, out.flags});
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
  NeighbourGrid grid;
  if (known.search == VoterSearch::kCells) {
    grid = build_neighbour_grid(context, voters, grid_options(known));
  }
  VotingResult result(context, votees.size);
  Workspace workspace;
  vote_at_into(context, grid, voters, votees, known, result, workspace);
  return result;
}

NeighbourGridOptions grid_options(const VotingOptions& options) {
  check_voting(options);
  // Cells of half the reach: of the box of cells that may hold voters, half the area of a surface
  // is within reach, with cells of the reach itself a third.
  return NeighbourGridOptions::for_radius(0.5f * kVoteReach * options.sigma_m);
}

void vote_into(const Context& context, const NeighbourGrid& grid, View<const Vec3f> points,
               const VotingOptions& options, VotingResult& result, Workspace& workspace) {
  vote_at_into(context, grid, points, points, options, result, workspace);
}

void vote_at_into(const Context& context, const NeighbourGrid& grid, View<const Vec3f> voters,
                  View<const Vec3f> votees, const VotingOptions& options, VotingResult& result,
                  Workspace& workspace) {
  check_voting(options);
  require_on(context, voters, "voters");
  require_on(context, votees, "votees");
  if (options.search == VoterSearch::kCells) {
    detail::neighbours::check_grid(context, grid, voters.size);
  }
  require(votees.size <= kMostPlaces, "votees: ", votees.size, " places; ", kMostPlaces,
          " are the most");
  check_result(context, votees.size, result);
  const Workspace::Scope scope(workspace);
  const Vec4f* sticks = nullptr;
  if (options.second_pass) {
    const PassOutput first = output_in(context, voters.size, workspace);
    const View<Vec4f> made = workspace.take<Vec4f>(context, voters.size);
    vote_once(context, grid, voters, voters, options, nullptr, first, workspace);
    detail::for_each_anywhere(context, voters.size,
                              MakeStick{first.normals, first.saliencies, made.data});
    sticks = made.data;
  }
  vote_once(context, grid, voters, votees, options, sticks, output_of(result), workspace);
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
  detail::for_each_anywhere(context, positions.size(), PlaceAt{grid, positions.data()});
  return positions;
}

}  // namespace sextant
