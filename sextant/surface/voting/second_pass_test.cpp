// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numbers>

#include "sextant/core/random.h"
#include "sextant/surface/voting/math.h"
#include "tests/devices.h"
#include "tests/neighbour_clouds.h"
#include "tests/voting_oracle.h"

namespace sextant {

using namespace detail::voting;
namespace {

using testing::angle_deg;
using testing::HostVotes;
using testing::votes_of;

/// Two points on a sphere: the reflection of one's normal is the other's.
TEST(VotingSecondPass, SticksFollowCircles) {
  const std::uint64_t seed = testing::seed_of_test();
  for (int i = 0; i < 200; ++i) {
    const auto on_sphere = [&](int j) {
      const Vec3f p = testing::uniform_point(seed, 2 * i + j) - Vec3f{0.5f, 0.5f, 0.5f};
      return normalized(p);
    };
    const Vec3f n = on_sphere(0), m = on_sphere(1);
    const Vec3f d = (n - m) * 0.3f;
    const StickVote<float> vote = stick_vote(d.x, d.y, d.z, 1.0f / norm_sq(d), n.x, n.y, n.z);
    EXPECT_LT(angle_deg({vote.x, vote.y, vote.z}, m), 0.01);
    // sin θ is half the chord over the radius.
    EXPECT_NEAR(vote.cosine_sq, 1 - norm_sq(n - m) / 4, 1e-5f);
  }
}

TEST(VotingSecondPass, EqualsAnOracleInDouble) {
  const std::vector<Vec3f> points = testing::organised_cloud(testing::seed_of_test()).points;
  std::vector<Vec3f> votees;
  for (int i = 0; i < 100; ++i) {
    votees.push_back(Vec3f{0.4f, 0.3f, 0.9f} + testing::uniform_point(7, i) * 0.3f);
  }
  for (const VoteDecay decay : {VoteDecay::kGaussian, VoteDecay::kSmooth}) {
    const VotingOptions first{.sigma_m = 0.04f, .decay = decay};
    VotingOptions both = first;
    both.second_pass = true;
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const HostVotes ball = votes_of(context, points, first);
      testing::expect_oracle(votes_of(context, points, both),
                             testing::oracle_sticks(points, ball, points, both));
      const HostVotes elsewhere = testing::on_host(
          context, vote_at(context, copy(context, points), copy(context, votees), both));
      testing::expect_oracle(elsewhere, testing::oracle_sticks(points, ball, votees, both));
    }
  }
}

TEST(VotingSecondPass, IsBetterOnANoisySphere) {
  const std::uint64_t seed = testing::seed_of_test();
  std::vector<Vec3f> points, truth;
  for (int i = 0; i < 3000; ++i) {
    const double z = 1.0 - (2.0 * i + 1.0) / 3000;
    const double turn = i * std::numbers::pi * (3.0 - std::sqrt(5.0));
    const double r = std::sqrt(1.0 - z * z);
    truth.push_back(cast<float>(Vec3d{r * std::cos(turn), r * std::sin(turn), z}));
    const Random random{seed, static_cast<std::uint64_t>(i)};
    points.push_back(truth.back() * (1.0f + 0.02f * static_cast<float>(random.normal(0))));
  }
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    double error[2] = {};
    for (const bool second : {false, true}) {
      const HostVotes v = votes_of(context, points, {.sigma_m = 0.2f, .second_pass = second});
      for (std::size_t i = 0; i < points.size(); ++i) {
        ASSERT_TRUE(is_finite(v.normals[i]));
        error[second] += angle_deg(v.normals[i], truth[i]) / 3000;
      }
    }
    EXPECT_LT(error[1], error[0]);
    // A neighbour at a distance of σ, where most votes come from, is off by 0.02 √2 / 0.2 = 8°.
    EXPECT_LT(error[0], 8);
  }
}

}  // namespace
}  // namespace sextant
