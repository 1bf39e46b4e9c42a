// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>

#include "sextant/core/graph.h"
#include "sextant/surface/voting.h"
#include "tests/devices.h"
#include "tests/neighbour_clouds.h"
#include "tests/voting_oracle.h"

namespace sextant {
namespace {

using testing::HostVotes;
using testing::votes_of;

TEST(VotingContract, IntoRunsInAGraph) {
  const std::vector<Vec3f> host = testing::organised_cloud(testing::seed_of_test()).points;
  for (const bool second : {false, true}) {
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const Buffer<Vec3f> points = copy(context, host);
      const VotingOptions options{.sigma_m = 0.04f, .second_pass = second};
      NeighbourGrid grid(context, points.size());
      Workspace workspace;
      VotingResult result(context, points.size());
      const Graph graph = Graph::capture(context, [&] {
        build_neighbour_grid_into(context, points, grid_options(options), grid);
        vote_into(context, grid, points, options, result, workspace);
      });
      graph.launch();
      graph.launch();
      context.synchronize();
      const HostVotes found = testing::on_host(context, result);
      const HostVotes expected = votes_of(context, host, options);
      EXPECT_EQ(
          std::memcmp(found.tensors.data(), expected.tensors.data(), host.size() * sizeof(Sym3f)),
          0);
    }
  }
}

TEST(VotingContract, RefusesMisuse) {
  const Context context = Context::cpu(1);
  const std::vector<Vec3f> points{{0, 0, 1}, {1, 0, 1}, {0, 1, 1}};
  const NeighbourGrid grid = build_neighbour_grid(context, view_of(points));
  Workspace workspace;
  VotingResult small(context, 2), result(context, 3);
  EXPECT_THROW(vote(context, view_of(points), {.sigma_m = -1}), Error);
  EXPECT_THROW(vote(context, view_of(points), {.sigma_m = NAN}), Error);
  EXPECT_THROW(vote(context, view_of(points), {.sigma_m = 1e-12f}), Error);
  EXPECT_THROW(vote(context, view_of(points),
                    {.sigma_m = 1, .second_pass = true, .search = VoterSearch::kBruteForce}),
               Error);
  const auto into = [&](const NeighbourGrid& with, float sigma_m, VotingResult& to) {
    vote_into(context, with, view_of(points), {.sigma_m = sigma_m}, to, workspace);
  };
  EXPECT_THROW(into(grid, 1, small), Error);
  EXPECT_THROW(into(grid, 0, result), Error);
  EXPECT_THROW(into({}, 1, result), Error);
  EXPECT_NO_THROW(into(grid, 1, result));
  EXPECT_THROW(place_grid({{0, 0, 0}, {1, 1, 1}}, 0), Error);
  EXPECT_THROW(place_grid({{0, 0, 0}, {1, 1, 1}}, 1e-5f), Error);
  EXPECT_EQ(place_grid({}, 1).places(), 0);
}

}  // namespace
}  // namespace sextant
