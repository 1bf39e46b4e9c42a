// SPDX-License-Identifier: Apache-2.0
#include "sextant/match/point_pairs.h"

#include <gtest/gtest.h>

#include "sextant/core/random.h"
#include "sextant/descriptor/point_samples.h"
#include "sextant/match/point_pairs/math.h"
#include "sextant/synth/catalogue.h"
#include "tests/devices.h"
#include "tests/error_message.h"

namespace sextant {

using namespace detail::point_pairs;
namespace {

Vec3f random_unit(const Random& random, std::uint64_t draw) {
  return normalized(Vec3f{static_cast<float>(random.normal(draw)),
                          static_cast<float>(random.normal(draw + 1)),
                          static_cast<float>(random.normal(draw + 2))});
}

Rigid3f random_motion(const Random& random, std::uint64_t draw) {
  return {exp_rotation(random_unit(random, draw) * (3.1f * random.uniform(draw + 3))),
          random_unit(random, draw + 4)};
}

double angle_between(const Rigid3f& a, const Rigid3f& b) {
  return rotation_angle(cast<double>(a.rotation * transpose(b.rotation)));
}

TEST(PointPairs, AnglesAreRightToTheirBound) {
  for (int i = -1000; i <= 1000; ++i) {
    const float x = static_cast<float>(i) / 1000;
    EXPECT_NEAR(angle_of_cosine(x), std::acos(x), 7e-5) << x;
    const double turn = M_PI * 0.9999 * i / 1000;
    EXPECT_NEAR(
        angle_of(static_cast<float>(2 * std::cos(turn)), static_cast<float>(2 * std::sin(turn))),
        turn, 4e-4)
        << turn;
  }
  EXPECT_EQ(angle_of(0, 0), 0);
}

TEST(PointPairs, TheTurnsOfAMovedPairGiveTheMotion) {
  const Random random{testing::seed_of_test(), 0};
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    const Random draw{random.seed, trial};
    const Vec3f p1 = random_unit(draw, 0), p2 = random_unit(draw, 10), n1 = random_unit(draw, 20);
    const Rigid3f moved = random_motion(draw, 30);
    const NormalFrame model = normal_frame(p1, n1);
    const NormalFrame scene = normal_frame(moved * p1, moved.rotation * n1);
    const int turn = turn_of(model, p2 - p1) - turn_of(scene, moved.rotation * (p2 - p1));
    const Rigid3f pose = pose_of(scene, model, static_cast<float>(turn) * (2 * kPi / kTurns));
    // Each turn is rounded to half of a 256th.
    EXPECT_LT(angle_between(pose, moved), 2 * M_PI / kTurns * 1.02) << trial;
    EXPECT_LT(norm(pose * p1 - moved * p1), 1e-5f);
  }
}

TEST(PointPairs, FeaturesDoNotChangeWithMotion) {
  const Quantizer bins = quantizer(1.0f, 0.08f, 20);
  const Random random{testing::seed_of_test(), 0};
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    const Random draw{random.seed, trial};
    const Vec3f d = random_unit(draw, 0) * draw.uniform(3);
    const Vec3f n1 = random_unit(draw, 10), n2 = random_unit(draw, 20);
    const Mat3f r = random_motion(draw, 30).rotation;
    const PairFeature a = bins.feature(d, norm(d), n1, n2);
    const PairFeature b = bins.feature(r * d, norm(r * d), r * n1, r * n2);
    for (int k = 0; k < 4; ++k) EXPECT_NEAR(a.bins[k], b.bins[k], 0.02f) << trial << " " << k;
    EXPECT_NEAR(a.bins[1], std::acos(dot(n1, normalized(d))) * 20 / M_PI, 1e-3);
  }
}

TEST(PointPairs, CellsNearAnEdgeAreAskedToo) {
  const Quantizer bins = quantizer(1.0f, 0.1f, 20);
  const auto cells = [&](PairFeature feature, float spread) {
    std::vector<std::int64_t> found;
    bins.for_each_cell(feature, spread, [&](std::int64_t cell) { found.push_back(cell); });
    return found;
  };
  EXPECT_EQ(cells({{3.5f, 4.5f, 5.5f, 6.5f}}, 0.2f).size(), 1u);
  EXPECT_EQ(cells({{3.9f, 4.5f, 5.5f, 6.5f}}, 0.2f).size(), 2u);
  EXPECT_EQ(cells({{3.9f, 4.1f, 5.9f, 6.1f}}, 0.2f).size(), 16u);
  EXPECT_EQ(cells({{3.9f, 4.1f, 5.9f, 6.1f}}, 0.0f).size(), 1u);
  EXPECT_EQ(cells({{0.1f, 0.1f, 19.9f, 19.9f}}, 0.2f).size(), 1u);  // nothing beyond the last bins
  const int at[4] = {3, 4, 5, 6};
  EXPECT_EQ(cells({{3.5f, 4.5f, 5.5f, 6.5f}}, 0.2f)[0], bins.cell(at));
}

/// A toy without symmetry, and a scene that is the toy moved.
struct Moved {
  ModelSamples model;
  PointPairModel table;
  Rigid3f scene_from_model;
  std::vector<Vec3f> points, normals;

  explicit Moved(std::uint64_t seed) {
    const Context context = Context::cpu();
    const TriangleMesh mesh = make_object("tasmanian_devil");
    model = sample_model(context, mesh);
    table = make_point_pair_model(context, model.samples.points, model.samples.normals,
                                  model.diameter_m);
    scene_from_model = random_motion(Random{seed, 0}, 0);
    const PointSamples dense = dense_model_points(context, mesh);
    PointSamples moved{copy(context, dense.points), copy(context, dense.normals)};
    for (Vec3f& p : moved.points.host()) p = scene_from_model * p;
    for (Vec3f& n : moved.normals.host()) n = scene_from_model.rotation * n;
    const PointSamples scene =
        sample_points(context, moved.points, moved.normals, {.leaf_m = model.leaf_m});
    points.assign(scene.points.host().begin(), scene.points.host().end());
    normals.assign(scene.normals.host().begin(), scene.normals.host().end());
  }
};

TEST(PointPairs, VotesFindTheMotionOfAModel) {
  const Moved scene(testing::seed_of_test());
  const std::vector<PoseVote> poses =
      vote_for_poses(Context::cpu(), scene.table, view_of(scene.points), view_of(scene.normals));
  ASSERT_FALSE(poses.empty());
  const PoseVote* best = &poses[0];
  int right = 0;
  const auto is_right = [&](const PoseVote& pose) {
    // Turns are counted in bins of 11°, and both samplings differ.
    return angle_between(pose.scene_from_model, scene.scene_from_model) < 0.26 &&
           norm(pose.scene_from_model.translation - scene.scene_from_model.translation) <
               0.12 * scene.model.diameter_m;
  };
  for (const PoseVote& pose : poses) {
    if (pose.votes > best->votes) best = &pose;
    right += is_right(pose);
  }
  EXPECT_TRUE(is_right(*best));
  EXPECT_GT(right, static_cast<int>(poses.size()) / 40);  // by chance it were one in 10⁵
}

TEST(PointPairs, VotesAreTheSameForAnyNumberOfThreads) {
  const Moved scene(testing::seed_of_test());
  const auto votes = [&](int threads) {
    return vote_for_poses(Context::cpu(threads), scene.table, view_of(scene.points),
                          view_of(scene.normals));
  };
  const std::vector<PoseVote> one = votes(1);
  for (const int threads : {2, 7}) {
    const std::vector<PoseVote> other = votes(threads);
    ASSERT_EQ(other.size(), one.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
      EXPECT_EQ(other[i].votes, one[i].votes);
      EXPECT_EQ(other[i].scene_from_model.translation, one[i].scene_from_model.translation);
    }
  }
}

TEST(PointPairs, HolesAndEmptyScenesHaveNoVotes) {
  Moved scene(testing::seed_of_test());
  const Context context = Context::cpu();
  EXPECT_TRUE(vote_for_poses(context, scene.table, {}, {}).empty());
  for (Vec3f& n : scene.normals) n.x = NAN;
  EXPECT_TRUE(
      vote_for_poses(context, scene.table, view_of(scene.points), view_of(scene.normals)).empty());
  EXPECT_TRUE(testing::mentions(testing::error_message([&] {
                                  make_point_pair_model(context, view_of(scene.points),
                                                        view_of(scene.normals), 0);
                                }),
                                "diameter_m"));
  const PointPairModel nothing = make_point_pair_model(context, {}, {}, 1);
  EXPECT_TRUE(
      vote_for_poses(context, nothing, view_of(scene.points), view_of(scene.normals)).empty());
}

}  // namespace
}  // namespace sextant
