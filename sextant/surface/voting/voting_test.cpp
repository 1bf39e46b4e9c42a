// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/voting.h"

#include <gtest/gtest.h>

#include <cstring>

#include "sextant/core/random.h"
#include "sextant/core/rigid3.h"
#include "sextant/surface/voting/math.h"
#include "tests/devices.h"
#include "tests/neighbour_clouds.h"
#include "tests/voting_oracle.h"

namespace sextant {

using namespace detail::voting;
namespace {

using testing::angle_deg;
using testing::HostVotes;
using testing::relative_difference;
using testing::votes_of;

double gaussian(double distance_m, double sigma_m) {
  return std::exp(-distance_m * distance_m / (sigma_m * sigma_m));
}

TEST(Voting, OfFewPointsIsKnown) {
  // Alone; a pair; a right angle; two that coincide; one at exactly 3 σ and one just within.
  const float within = std::nextafter(3.0f, 0.0f);
  const std::vector<Vec3f> points{{0, 0, 0},     {10, 0, 0},    {11, 0, 0}, {20, 0, 0},
                                  {20.5f, 0, 0}, {20, 0.5f, 0}, {30, 0, 0}, {30, 0, 0},
                                  {40, 0, 0},    {40, 3, 0},    {50, 0, 0}, {50, 0, within}};
  const float w1 = static_cast<float>(gaussian(1, 1));
  const float w = static_cast<float>(gaussian(0.5, 1));
  const std::uint8_t both = kNormalUndefined | kTangentUndefined;
  for (const Context& context : testing::all_contexts()) {
    for (const VoterSearch search : {VoterSearch::kCells, VoterSearch::kBruteForce}) {
      SCOPED_TRACE(testing::describe(context) + (search == VoterSearch::kCells ? "" : ", pairs"));
      const HostVotes v = votes_of(context, points, {.sigma_m = 1, .search = search});
      for (const std::size_t alone : {0, 6, 7, 8, 9}) {
        EXPECT_EQ(v.votes[alone], 0);
        EXPECT_EQ(v.flags[alone], both);
        EXPECT_EQ(v.saliencies[alone].stick, 0);
        EXPECT_EQ(v.saliencies[alone].plate, 0);
        EXPECT_EQ(v.saliencies[alone].ball, 1);
        EXPECT_FALSE(is_finite(v.normals[alone]));
        EXPECT_FALSE(is_finite(v.tangents[alone]));
      }
      // T = I + w (I - r rᵀ): nothing says which way around r the normal points.
      EXPECT_EQ(v.votes[1], 1);
      EXPECT_EQ(v.flags[1], kNormalUndefined);
      EXPECT_FALSE(is_finite(v.normals[1]));
      EXPECT_NEAR(v.saliencies[1].plate, w1, 1e-6f);
      EXPECT_NEAR(v.saliencies[1].ball, 1, 1e-6f);
      EXPECT_NEAR(std::abs(v.tangents[1].x), 1, 1e-6f);
      // At the corner T = I + w (I - x xᵀ) + w (I - y yᵀ).
      EXPECT_EQ(v.votes[3], 2);
      EXPECT_NEAR(std::abs(v.normals[3].z), 1, 1e-6f);
      EXPECT_NEAR(v.saliencies[3].stick, w, 1e-6f);
      EXPECT_NEAR(v.saliencies[3].ball, 1 + w, 1e-6f);
      EXPECT_NEAR(v.saliencies[3].confidence, w / (1 + 2 * w), 1e-6f);
      EXPECT_EQ(v.flags[3], kTangentUndefined);
      EXPECT_EQ(v.votes[10], 1);
      EXPECT_NEAR(v.saliencies[10].plate, gaussian(3, 1), 2.5e-7);  // of entries near 1
    }
  }
}

TEST(Voting, OfALatticeInAPlaneAndOnALine) {
  // σ = 1/2 and steps of 1/8 are exact numbers. In the plane S = W/2 (I - n nᵀ) by symmetry, on
  // the line S = W u uᵀ.
  constexpr float kStep = 0.125f;
  constexpr float kSigma = 0.5f;
  constexpr int kHalf = 20;
  std::vector<Vec3f> plane, line;
  double plane_weight = 0, line_weight = 0;
  for (int i = -kHalf; i <= kHalf; ++i) {
    line.push_back(Vec3f{2, -1, 2} * (kStep * static_cast<float>(i)) + Vec3f{0, 100, 0});
    const double along = 3.0 * kStep * i;
    if (i != 0 && std::abs(along) < 3 * kSigma) line_weight += gaussian(along, kSigma);
    for (int j = -kHalf; j <= kHalf; ++j) {
      plane.push_back({kStep * static_cast<float>(i), 2.0f, kStep * static_cast<float>(j)});
      const double d = kStep * std::hypot(i, j);
      if (d > 0 && d < 3 * kSigma) plane_weight += gaussian(d, kSigma);
    }
  }
  const std::size_t middle = plane.size() / 2;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const HostVotes flat = votes_of(context, plane, {.sigma_m = kSigma});
    for (std::size_t i = 0; i < plane.size(); ++i) {
      ASSERT_LT(angle_deg(flat.normals[i], {0, 1, 0}), 0.01) << i;
    }
    EXPECT_NEAR(flat.saliencies[middle].stick, plane_weight / 2, 1e-5 * plane_weight);
    EXPECT_NEAR(flat.saliencies[middle].plate, 0, 1e-5 * plane_weight);
    EXPECT_NEAR(flat.saliencies[middle].ball, 1 + plane_weight / 2, 1e-5 * plane_weight);
    const HostVotes thin = votes_of(context, line, {.sigma_m = kSigma});
    const std::size_t centre = line.size() / 2;
    EXPECT_NEAR(thin.saliencies[centre].plate, line_weight, 1e-5 * line_weight);
    EXPECT_NEAR(thin.saliencies[centre].ball, 1, 1e-5 * line_weight);
    for (std::size_t i = 0; i < line.size(); ++i) {
      EXPECT_EQ(thin.flags[i], kNormalUndefined) << i;
      EXPECT_FALSE(is_finite(thin.normals[i]));
      EXPECT_LT(angle_deg(thin.tangents[i], normalized(Vec3f{2, -1, 2})), 0.01);
    }
    // Turned to a viewpoint on either side.
    for (const float y : {-5.0f, 7.0f}) {
      const HostVotes seen =
          votes_of(context, plane, {.sigma_m = kSigma, .orient = true, .viewpoint_m = {0, y, 0}});
      for (const Vec3f& n : seen.normals) EXPECT_GT(n.y * (y - 2), 0);
    }
  }
}

TEST(Voting, EqualsAnOracleInDouble) {
  const std::uint64_t seed = testing::seed_of_test();
  struct Case {
    const char* cloud;
    float sigma_m;
  };
  const Case cases[] = {{"uniform", 0.1f},
                        {"uniform, a millimetre wide", 2e-4f},
                        {"uniform, 100 km wide", 2e4f},
                        {"uniform, far from the origin", 0.3f},
                        {"clusters of all sizes", 0.01f},
                        {"coplanar", 0.05f},
                        {"coincident in pairs", 0.1f},
                        {"one outlier", 0.02f},
                        {"with NaN and infinity", 0.2f},
                        {"organised with holes", 0.03f}};
  for (const testing::TestCloud& cloud : testing::test_clouds(seed)) {
    for (const Case& c : cases) {
      if (cloud.name != c.cloud) continue;
      for (const VoteDecay decay : {VoteDecay::kGaussian, VoteDecay::kSmooth}) {
        const VotingOptions options{
            .sigma_m = c.sigma_m, .decay = decay, .self_vote = decay == VoteDecay::kGaussian};
        const auto truth = testing::oracle_votes(cloud.points, cloud.points, options);
        for (const Context& context : testing::all_contexts()) {
          for (const VoterSearch search : {VoterSearch::kCells, VoterSearch::kBruteForce}) {
            SCOPED_TRACE(cloud.name + ", " + std::string(name_of(decay, kVoteDecays)) + ", " +
                         std::string(name_of(search, kVoterSearches)) + ", " +
                         testing::describe(context));
            VotingOptions by = options;
            by.search = search;
            testing::expect_oracle(votes_of(context, cloud.points, by), truth);
          }
        }
      }
    }
  }
}

/// What a thread on a GPU runs, on the host.
TEST(Voting, OneVoteAtATimeEqualsPacks) {
  const std::vector<Vec3f> points = testing::organised_cloud(testing::seed_of_test()).points;
  const VotingOptions options{.sigma_m = 0.03f};
  const HostVotes packs = votes_of(Context::cpu(1), points, options);
  std::vector<Sym3f> tensors(points.size());
  std::vector<std::int32_t> votes(points.size());
  VotingJob job{};
  job.radius_m = 3.0f * options.sigma_m;
  job.inverse_sigma_sq = 1.0f / (options.sigma_m * options.sigma_m);
  job.self_vote = true;
  job.tensors = tensors.data();
  job.votes = votes.data();
  for (std::size_t i = 0; i < points.size(); ++i) {
    VoteSums<float> sums;
    for (const Vec3f& voter : points) {
      add_vote<VoteDecay::kGaussian, false>(job, points[i], voter, 0, sums);
    }
    store_tensor<false>(job, is_finite(points[i]), static_cast<std::int64_t>(i), sums);
    ASSERT_EQ(votes[i], packs.votes[i]);
    if (!is_finite(points[i])) continue;
    ASSERT_LT(relative_difference(tensors[i], packs.tensors[i]), 1e-5) << i;
  }
}

TEST(Voting, SumsOfManyVotesStayAccurate) {
  const std::uint64_t seed = testing::seed_of_test();
  std::vector<Vec3f> voters, votees;
  for (int i = 0; i < 30000; ++i) voters.push_back(testing::uniform_point(seed, i));
  for (int i = 0; i < 40; ++i) votees.push_back(testing::uniform_point(seed + 1, i));
  const VotingOptions options{.sigma_m = 0.6f};
  const auto truth = testing::oracle_votes(voters, votees, options);
  for (const Context& context : testing::all_contexts()) {
    for (const VoterSearch search : {VoterSearch::kCells, VoterSearch::kBruteForce}) {
      SCOPED_TRACE(testing::describe(context));
      VotingOptions by = options;
      by.search = search;
      const HostVotes v = testing::on_host(
          context, vote_at(context, copy(context, voters), copy(context, votees), by));
      EXPECT_GT(v.votes[0], 29000);
      testing::expect_oracle(v, truth);
    }
  }
}

TEST(Voting, ScalesExactlyWithPowersOfTwo) {
  const std::vector<Vec3f> points = testing::organised_cloud(testing::seed_of_test()).points;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const HostVotes here = votes_of(context, points, {.sigma_m = 0.03125f});
    for (const float scale : {0x1p-12f, 0x1p20f}) {
      std::vector<Vec3f> scaled;
      for (const Vec3f& p : points) scaled.push_back(p * scale);
      const HostVotes there = votes_of(context, scaled, {.sigma_m = 0.03125f * scale});
      EXPECT_EQ(std::memcmp(here.saliencies.data(), there.saliencies.data(),
                            here.saliencies.size() * sizeof(Saliency)),
                0);
      EXPECT_EQ(here.votes, there.votes);
    }
  }
}

TEST(Voting, DoesNotDependOnTheOrderOfThePoints) {
  const std::vector<Vec3f> points = testing::organised_cloud(testing::seed_of_test()).points;
  const std::vector<Vec3f> reversed(points.rbegin(), points.rend());
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const HostVotes a = votes_of(context, points, {.sigma_m = 0.04f});
    const HostVotes b = votes_of(context, reversed, {.sigma_m = 0.04f});
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::size_t j = points.size() - 1 - i;
      ASSERT_EQ(a.votes[i], b.votes[j]);
      if (!is_finite(points[i])) continue;
      ASSERT_LT(relative_difference(a.tensors[i], b.tensors[j]), 1e-5);
    }
  }
}

TEST(Voting, MovesWithTheCloud) {
  const std::vector<Vec3f> points = testing::organised_cloud(testing::seed_of_test()).points;
  const Rigid3f moved_from_here{exp_rotation(Vec3f{0.4f, -0.7f, 0.2f}), {0.3f, 0.1f, -0.2f}};
  std::vector<Vec3f> moved;
  for (const Vec3f& p : points) moved.push_back(moved_from_here * p);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const HostVotes here = votes_of(context, points, {.sigma_m = 0.04f});
    const HostVotes there = votes_of(context, moved, {.sigma_m = 0.04f});
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!is_finite(points[i])) continue;
      // Coordinates rounded by 1e-7 m over distances of 0.02 m.
      EXPECT_NEAR(here.saliencies[i].stick, there.saliencies[i].stick, 2e-3);
      if (here.saliencies[i].confidence < 0.05f) continue;
      ASSERT_LT(angle_deg(there.normals[i], moved_from_here.rotation * here.normals[i]), 0.1);
    }
  }
}

TEST(Voting, HasTheSameBitsOnEveryRun) {
  const std::vector<Vec3f> points = testing::organised_cloud(testing::seed_of_test()).points;
  for (const bool second : {false, true}) {
    const VotingOptions options{.sigma_m = 0.05f, .second_pass = second};
    const HostVotes one = votes_of(Context::cpu(1), points, options);
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const HostVotes a = votes_of(context, points, options);
      const HostVotes b = votes_of(context, points, options);
      const auto bytes = a.tensors.size() * sizeof(Sym3f);
      EXPECT_EQ(std::memcmp(a.tensors.data(), b.tensors.data(), bytes), 0);
      if (context.is_cpu()) {
        EXPECT_EQ(std::memcmp(a.tensors.data(), one.tensors.data(), bytes), 0);
      }
    }
  }
}

TEST(Voting, OfDegenerateCloudsIsDefined) {
  const std::uint64_t seed = testing::seed_of_test();
  for (const testing::TestCloud& cloud : testing::test_clouds(seed)) {
    for (const Context& context : testing::all_contexts()) {
      for (const bool second : {false, true}) {
        SCOPED_TRACE(cloud.name + ", " + testing::describe(context));
        // sigma_m = 0: taken from the cloud.
        const HostVotes v = votes_of(context, cloud.points, {.second_pass = second});
        ASSERT_EQ(v.normals.size(), cloud.points.size());
        for (std::size_t i = 0; i < v.normals.size(); ++i) {
          if (!is_finite(cloud.points[i])) {
            EXPECT_EQ(v.votes[i], 0);
            EXPECT_EQ(v.flags[i], kNormalUndefined | kTangentUndefined);
            EXPECT_FALSE(std::isfinite(v.saliencies[i].stick));
            EXPECT_FALSE(is_finite(v.tensors[i]));
            continue;
          }
          ASSERT_TRUE(is_finite(v.tensors[i])) << i;
          EXPECT_GE(v.saliencies[i].confidence, 0);
          EXPECT_LE(v.saliencies[i].confidence, 1);
          EXPECT_EQ(is_finite(v.normals[i]), (v.flags[i] & kNormalUndefined) == 0);
          EXPECT_EQ(is_finite(v.tangents[i]), (v.flags[i] & kTangentUndefined) == 0);
          if (is_finite(v.normals[i])) {
            EXPECT_NEAR(norm(v.normals[i]), 1, 1e-5f);
          }
        }
      }
    }
  }
}

TEST(Voting, WithoutVotersOrVotees) {
  const std::vector<Vec3f> none, some{{0, 0, 0}, {1, 2, 3}};
  for (const Context& context : testing::all_contexts()) {
    for (const VoterSearch search : {VoterSearch::kCells, VoterSearch::kBruteForce}) {
      SCOPED_TRACE(testing::describe(context));
      const VotingOptions options{.sigma_m = 1, .search = search};
      const HostVotes unheard = testing::on_host(
          context, vote_at(context, copy(context, none), copy(context, some), options));
      EXPECT_EQ(unheard.votes, (std::vector<std::int32_t>{0, 0}));
      EXPECT_EQ(unheard.saliencies[1].ball, 1);
      EXPECT_EQ(vote_at(context, copy(context, some), copy(context, none), options).size(), 0);
    }
  }
}

TEST(Voting, AtTheVotersThemselvesIsTheSame) {
  const std::vector<Vec3f> points = testing::organised_cloud(testing::seed_of_test()).points;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Buffer<Vec3f> voters = copy(context, points), votees = copy(context, points);
    const VotingOptions options{.sigma_m = 0.04f};
    const HostVotes a = testing::on_host(context, vote(context, voters, options));
    const HostVotes b = testing::on_host(context, vote_at(context, voters, votees, options));
    EXPECT_EQ(a.votes, b.votes);
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!is_finite(points[i])) continue;
      ASSERT_LT(relative_difference(a.tensors[i], b.tensors[i]), 1e-5);
    }
  }
}

TEST(Voting, MakesADenseFieldWhoseRidgeIsTheSurface) {
  // A plane at z = 0.3: on the grid, stick saliency is largest in the layer nearest to it.
  std::vector<Vec3f> plane;
  for (int i = 0; i < 40 * 40; ++i) {
    plane.push_back({static_cast<float>(i % 40) * 0.05f, static_cast<float>(i / 40) * 0.05f, 0.3f});
  }
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Buffer<Vec3f> voters = copy(context, plane);
    const PlaceGrid grid = place_grid({{0.9f, 0.9f, 0}, {1.1f, 1.1f, 0.6f}}, 0.1f);
    EXPECT_EQ(grid.size, (Vec3i{3, 3, 7}));
    const Buffer<Vec3f> places = grid_positions(context, grid);
    ASSERT_EQ(places.size(), 63);
    EXPECT_LT(norm(to_host(context, places)[3 + 9 * 2] - Vec3f{0.9f, 1.0f, 0.2f}), 1e-6f);
    const HostVotes field = testing::on_host(
        context, vote_at(context, voters, places, {.sigma_m = 0.2f, .self_vote = false}));
    for (std::size_t column = 0; column < 9; ++column) {
      for (std::size_t layer = 0; layer < 7; ++layer) {
        if (layer == 3) continue;
        EXPECT_GT(field.saliencies[column + 27].confidence,
                  field.saliencies[column + 9 * layer].confidence);
      }
      EXPECT_LT(angle_deg(field.normals[column + 27], {0, 0, 1}), 0.01);
    }
    // Far from all voters nothing is said.
    const std::vector<Vec3f> far{{0, 0, 5}};
    const HostVotes nothing = testing::on_host(
        context,
        vote_at(context, voters, copy(context, far), {.sigma_m = 0.2f, .self_vote = false}));
    EXPECT_EQ(nothing.saliencies[0].ball, 0);
    EXPECT_EQ(nothing.saliencies[0].confidence, 0);
    EXPECT_EQ(nothing.flags[0], kNormalUndefined | kTangentUndefined);
  }
}

}  // namespace
}  // namespace sextant
