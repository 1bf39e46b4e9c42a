// SPDX-License-Identifier: Apache-2.0
#include "sextant/match/point_pairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sextant/core/random.h"
#include "sextant/descriptor/point_samples.h"
#include "sextant/match/point_pairs/job.h"
#include "sextant/synth/catalogue.h"
#include "tests/error_message.h"
#include "tests/instruction_sets.h"
#include "tests/steady_state.h"

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
  EXPECT_EQ(angle_of(0.0f, 0.0f), 0);
  for (int i = -800; i <= 800; ++i) {
    const float turn = static_cast<float>(M_PI) * static_cast<float>(i) / 100;
    const auto [cosine, sine] = cosine_sine(turn);
    // Eight turns are 25 rad, of which a float knows 2e-6.
    EXPECT_NEAR(cosine, std::cos(static_cast<double>(turn)), 3e-6) << turn;
    EXPECT_NEAR(sine, std::sin(static_cast<double>(turn)), 3e-6) << turn;
  }
}

TEST(PointPairs, TheTurnsOfAMovedPairGiveTheMotion) {
  const Random random{testing::seed_of_test(), 0};
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    const Random draw{random.seed, trial};
    const Vec3f p1 = random_unit(draw, 0), p2 = random_unit(draw, 10), n1 = random_unit(draw, 20);
    const Rigid3f moved = random_motion(draw, 30);
    const NormalFrame<float> model = normal_frame(p1, n1);
    const NormalFrame<float> scene = normal_frame(moved * p1, moved.rotation * n1);
    const float turn = turn_of(model, p2 - p1) - turn_of(scene, moved.rotation * (p2 - p1));
    const Rigid3f pose = pose_of(scene, model, turn * (2 * kPi / kTurnBins));
    EXPECT_LT(angle_between(pose, moved), 2 * 4e-4) << trial;  // each turn is right to 4e-4
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
    const PairFeature<float> a = bins.feature(d, norm_sq(d), n1, n2);
    const PairFeature<float> b = bins.feature(r * d, norm_sq(r * d), r * n1, r * n2);
    for (int k = 0; k < 4; ++k) EXPECT_NEAR(a.bins[k], b.bins[k], 0.02f) << trial << " " << k;
    EXPECT_NEAR(a.bins[1], std::acos(dot(n1, normalized(d))) * 20 / M_PI, 1e-3);
  }
}

TEST(PointPairs, CellsNearAnEdgeAreAskedToo) {
  const Quantizer bins = quantizer(1.0f, 0.1f, 20);
  const auto cells = [&](PairFeature<float> feature, float spread) {
    std::vector<std::uint32_t> found;
    bins.for_each_cell(feature, spread, [&](std::uint32_t cell) { found.push_back(cell); });
    return found;
  };
  EXPECT_EQ(cells({{3.5f, 4.5f, 5.5f, 6.5f}}, 0.2f).size(), 1u);
  EXPECT_EQ(cells({{3.9f, 4.5f, 5.5f, 6.5f}}, 0.2f).size(), 2u);
  EXPECT_EQ(cells({{3.9f, 4.1f, 5.9f, 6.1f}}, 0.2f).size(), 16u);
  EXPECT_EQ(cells({{3.9f, 4.1f, 5.9f, 6.1f}}, 0.0f).size(), 1u);
  EXPECT_EQ(cells({{0.1f, 0.1f, 19.9f, 19.9f}}, 0.2f).size(), 1u);  // nothing beyond the last bins
  EXPECT_EQ(cells({{3.5f, 4.5f, 5.5f, 6.5f}}, 0.2f)[0], ((3u * 20 + 4) * 20 + 5) * 20 + 6);
  EXPECT_EQ(bins.cell(PairFeature<float>{{3.5f, 4.5f, 5.5f, 6.5f}}),
            static_cast<float>(((3 * 20 + 4) * 20 + 5) * 20 + 6));
}

/// A toy without symmetry, and a scene that is the toy moved.
struct Moved {
  ModelSamples model;
  PointPairModel table;
  Rigid3f scene_from_model;
  std::vector<Vec3f> points, normals;

  explicit Moved(std::uint64_t seed, const PointPairOptions& options = {},
                 float leaf_share = 0.08f) {
    const Context context = Context::cpu();
    const TriangleMesh mesh = make_object("tasmanian_devil");
    model = sample_model(context, mesh, {.leaf_share = leaf_share});
    table = make_point_pair_model(context, model.samples.points, model.samples.normals,
                                  model.diameter_m, options);
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

  /// A table beside the toy, some points of which have no normal.
  void add_plane(int side) {
    for (int i = 0; i < side * side; ++i) {
      const Vec3f at{static_cast<float>(i % side), static_cast<float>(i / side), 0.5f};
      points.push_back(scene_from_model.translation + at * model.leaf_m);
      normals.push_back(i % 11 == 0 ? Vec3f{NAN, 0, 0} : Vec3f{0, 0, -1});
    }
  }
};

std::vector<PoseVote> votes_of(const Context& context, const Moved& scene) {
  const Buffer<Vec3f> points = copy(context, scene.points), normals = copy(context, scene.normals);
  return vote_for_poses(context, scene.table, points, normals);
}

TEST(PointPairs, VotesFindTheMotionOfAModel) {
  const Moved scene(testing::seed_of_test());
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const std::vector<PoseVote> poses = votes_of(context, scene);
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
}

/// Votes as the header defines them, with sets and maps.
std::vector<PoseVote> naive_votes(const Moved& scene) {
  const VotingModel model = voting_model(scene.table);
  std::vector<PoseVote> all;
  for (std::size_t s = 0; s < scene.points.size();
       s += static_cast<std::size_t>(model.reference_step)) {
    if (!usable(scene.points[s], scene.normals[s])) continue;
    const NormalFrame<float> frame = normal_frame(scene.points[s], scene.normals[s]);
    std::vector<std::vector<int>> counts(static_cast<std::size_t>(model.samples),
                                         std::vector<int>(kTurnBins));
    std::set<std::pair<std::uint32_t, int>> seen;
    const auto vote_between = [&](float least_sq, float most_sq) {
      for (std::size_t i = 0; i < scene.points.size(); ++i) {
        if (!usable(scene.points[i], scene.normals[i])) continue;
        const Vec3f d = scene.points[i] - frame.origin;
        const float distance_sq = norm_sq(d);
        if (!(distance_sq > least_sq && distance_sq <= most_sq)) continue;
        const int turn = static_cast<int>(turn_of(frame, d));
        model.bins.for_each_cell(
            model.bins.feature(d, distance_sq, scene.normals[s], scene.normals[i]), model.spread,
            [&](std::uint32_t cell) {
              if (!seen.insert({cell, turn}).second) return;
              for (std::uint32_t k = model.cell_first[cell]; k < model.cell_first[cell + 1]; ++k) {
                const int of_pair = static_cast<int>(model.pairs[k] % kTurnBins);
                ++counts[model.pairs[k] / kTurnBins]
                        [static_cast<std::size_t>(of_pair - turn + kTurnBins) % kTurnBins];
              }
            });
      }
      struct Found {
        Crest crest;
        int point, bin;
      };
      std::vector<Found> found;
      for (int m = 0; m < model.samples; ++m) {
        const std::vector<int>& row = counts[static_cast<std::size_t>(m)];
        for (std::size_t t = 0; t < kTurnBins; ++t) {
          const Crest crest =
              crest_of(row[(t + kTurnBins - 1) % kTurnBins], row[t], row[(t + 1) % kTurnBins]);
          if (crest.votes > 0) found.push_back({crest, m, static_cast<int>(t)});
        }
      }
      std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
        return a.crest.votes > b.crest.votes;
      });
      if (found.size() > static_cast<std::size_t>(model.peaks)) {
        found.resize(static_cast<std::size_t>(model.peaks));
      }
      for (const Found& f : found) {
        all.push_back(vote_of(model, frame, f.point, f.bin, f.crest, static_cast<std::int32_t>(s)));
      }
    };
    if (model.two_reaches) vote_between(0, model.inner_sq);
    vote_between(model.two_reaches ? model.inner_sq : 0, model.outer_sq);
  }
  return all;
}

void expect_naive_votes(const Moved& scene) {
  const std::vector<PoseVote> naive = naive_votes(scene);
  ASSERT_FALSE(naive.empty());
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    EXPECT_TRUE(testing::same_bytes(votes_of(context, scene), naive));
  }
}

TEST(PointPairs, VotesAreThoseOfTheDefinitionOnEveryDevice) {
  Moved scene(testing::seed_of_test(), {.reference_step = 20});
  scene.add_plane(30);
  expect_naive_votes(scene);
}

TEST(PointPairs, VotesOfCellsBesideAreThoseOfTheDefinition) {
  // Each pair asks up to 16 cells: more than the table of a block on CUDA holds at once.
  Moved scene(testing::seed_of_test(), {.spread = 0.5f, .reference_step = 150, .peaks = 16});
  scene.add_plane(20);
  expect_naive_votes(scene);
}

TEST(PointPairs, VotesOfALargeModelAreThoseOfTheDefinition) {
  // More samples than a block on CUDA counts at once.
  Moved scene(testing::seed_of_test(), {.reference_step = 400, .peaks = 2}, 0.035f);
  ASSERT_GT(scene.model.samples.points.size(), 1280);
  scene.add_plane(20);
  expect_naive_votes(scene);
}

TEST(PointPairs, VotesAreTheSameForEveryInstructionSetAndOrder) {
  Moved scene(testing::seed_of_test(), {.reference_step = 1000});
  ASSERT_LE(scene.points.size(), 1000u);  // the first is the only reference
  const auto run = [&] { return votes_of(Context::cpu(2), scene); };
  testing::expect_same_bits_on_every_set(run);
  const std::vector<PoseVote> votes = run();
  std::reverse(scene.points.begin() + 1, scene.points.end());
  std::reverse(scene.normals.begin() + 1, scene.normals.end());
  EXPECT_TRUE(testing::same_bytes(run(), votes));
}

/// Three models, one of them empty, with samples one behind the other.
struct Batch {
  Moved first, second;
  PointPairModel nothing = make_point_pair_model(Context::cpu(), {}, {}, 1);
  std::vector<Vec3f> points, normals;
  std::vector<std::int32_t> begin{0};

  explicit Batch(std::uint64_t seed)
      : first(seed, {.reference_step = 8}), second(seed + 1, {.peaks = 2}, 0.1f) {
    second.add_plane(15);
    for (const Moved* part : {&first, &first, &second}) {
      points.insert(points.end(), part->points.begin(), part->points.end());
      normals.insert(normals.end(), part->normals.begin(), part->normals.end());
      begin.push_back(static_cast<std::int32_t>(points.size()));
    }
    begin.push_back(begin.back());  // the last model sees no points
  }
  PointPairModels models(const Context& context) const {
    const PointPairModel* const all[] = {&first.table, &nothing, &second.table, &first.table};
    return {context, all};
  }
};

TEST(PointPairs, ManyModelsVoteAsOneByOne) {
  const Batch batch(testing::seed_of_test());
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Buffer<Vec3f> points = copy(context, batch.points);
    const Buffer<Vec3f> normals = copy(context, batch.normals);
    const Buffer<std::int32_t> begin = copy(context, batch.begin);
    const std::vector<std::vector<PoseVote>> votes =
        vote_for_poses(context, batch.models(context), {points, normals, begin});
    ASSERT_EQ(votes.size(), 4u);
    EXPECT_TRUE(testing::same_bytes(votes[0], votes_of(Context::cpu(1), batch.first)));
    EXPECT_TRUE(votes[1].empty());
    EXPECT_TRUE(testing::same_bytes(votes[2], votes_of(Context::cpu(1), batch.second)));
    EXPECT_TRUE(votes[3].empty());
    EXPECT_TRUE(vote_for_poses(context, PointPairModels(context, {}),
                               {points.view().subview(0, 0), normals.view().subview(0, 0),
                                begin.view().subview(0, 1)})
                    .empty());
  }
}

TEST(PointPairs, VotesOfASecondFrameAllocateNothing) {
  struct Bench {
    Context context;
    Batch batch;
    PointPairModels models = batch.models(context);
    Buffer<Vec3f> points = copy(context, batch.points), normals = copy(context, batch.normals);
    Buffer<std::int32_t> begin = copy(context, batch.begin), first_vote{context, 5};
    Buffer<PoseVote> votes{context, pose_vote_capacity(models, points.size())};
  };
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Bench bench{context, Batch(testing::seed_of_test())};
    testing::expect_steady_calls<Bench>(
        bench, {{"vote_for_poses", [](Bench& b, Workspace& workspace) {
                   vote_for_poses_into(b.context, b.models, {b.points, b.normals, b.begin}, b.votes,
                                       b.first_vote, workspace);
                 }}});
  }
}

TEST(PointPairs, HolesAndEmptyScenesHaveNoVotes) {
  Moved scene(testing::seed_of_test());
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    EXPECT_TRUE(
        vote_for_poses(context, scene.table, Buffer<Vec3f>(context, 0), Buffer<Vec3f>(context, 0))
            .empty());
    const Buffer<Vec3f> one = copy(context, std::vector<Vec3f>{{0, 0, 1}});
    EXPECT_TRUE(vote_for_poses(context, scene.table, one, one).empty());
    const Buffer<Vec3f> equal = copy(context, std::vector<Vec3f>(500, Vec3f{0, 0, 1}));
    EXPECT_TRUE(vote_for_poses(context, scene.table, equal, equal).empty());
    const Buffer<Vec3f> far =
        copy(context, std::vector<Vec3f>{{0, 0, 1}, {1e30f, 0, 1}, {INFINITY, 0, 1}});
    const Buffer<Vec3f> up = copy(context, std::vector<Vec3f>(3, Vec3f{0, 0, 1}));
    EXPECT_TRUE(vote_for_poses(context, scene.table, far, up).empty());
  }
  const PointPairModel nothing = make_point_pair_model(Context::cpu(), {}, {}, 1);
  for (const Context& context : testing::all_contexts()) {
    const Buffer<Vec3f> points = copy(context, scene.points);
    const Buffer<Vec3f> normals = copy(context, scene.normals);
    EXPECT_TRUE(vote_for_poses(context, nothing, points, normals).empty());
    EXPECT_TRUE(vote_for_poses(context, PointPairModel{}, points, normals).empty());
  }
  for (Vec3f& n : scene.normals) n.x = NAN;
  for (const Context& context : testing::all_contexts()) {
    EXPECT_TRUE(votes_of(context, scene).empty());
  }
}

TEST(PointPairs, ErrorsNameTheArgument) {
  const Context context = Context::cpu();
  const std::vector<Vec3f> points(3);
  EXPECT_TRUE(testing::mentions(testing::error_message([&] {
                                  make_point_pair_model(context, view_of(points), view_of(points),
                                                        0);
                                }),
                                "diameter_m"));
  EXPECT_TRUE(testing::mentions(testing::error_message([&] {
                                  vote_for_poses(context, PointPairModel{}, view_of(points), {});
                                }),
                                "normals"));
  const PointPairModel model = make_point_pair_model(context, {}, {}, 1);
  const PointPairModel* const one[] = {&model};
  EXPECT_TRUE(testing::mentions(testing::error_message([&] {
                                  vote_for_poses(context, PointPairModels(context, one),
                                                 {view_of(points), view_of(points), {}});
                                }),
                                "first"));
}

}  // namespace
}  // namespace sextant
