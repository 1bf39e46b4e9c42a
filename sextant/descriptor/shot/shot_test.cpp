// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/shot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "sextant/core/graph.h"
#include "sextant/core/rigid3.h"
#include "tests/devices.h"
#include "tests/shot_scene.h"

namespace sextant {
namespace {

using Scene = testing::ShotScene;
using testing::random_shot_scene;
using testing::shot_of;
using testing::unit_vector;

TEST(Shot, MovesWithTheSurface) {
  const std::uint64_t seed = testing::seed_of_test();
  const std::vector<Vec3f> cloud = testing::organised_cloud(seed).points;
  const Rigid3f moved_from_here{exp_rotation(Vec3f{0.4f, -0.7f, 0.2f}), {0.3f, 0.1f, -0.2f}};
  Scene scene, moved;
  for (std::size_t i = 0; i < cloud.size(); ++i) {
    const Random random{seed, i};
    scene.points.push_back(cloud[i]);
    scene.normals.push_back(normalized(Vec3f{0, 0, -1} + unit_vector(random, 0) * 0.5f));
    moved.points.push_back(moved_from_here * cloud[i]);
    moved.normals.push_back(moved_from_here.rotation * scene.normals.back());
  }
  scene.keypoints = scene.points;
  moved.keypoints = moved.points;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const ShotDescriptors here = shot_of(context, scene, {.radius_m = 0.2f}, false);
    const ShotDescriptors there = shot_of(context, moved, {.radius_m = 0.2f}, false);
    EXPECT_GT(here.counts.described, 900);
    EXPECT_EQ(here.counts.described, there.counts.described);
    const auto a = to_host(context, here.values), b = to_host(context, there.values);
    int same = 0;
    for (std::size_t k = 0; k < cloud.size(); ++k) {
      double product = 0;
      for (std::size_t i = 0; i < 352; ++i) {
        product += static_cast<double>(a[352 * k + i]) * static_cast<double>(b[352 * k + i]);
      }
      same += product > 0.999;
    }
    // Some axes are tied or nearly so, and rounding turns them.
    EXPECT_GT(same, here.counts.described * 95 / 100);
  }
}

TEST(Shot, SaysWhyThereIsNone) {
  Scene scene = random_shot_scene(testing::seed_of_test(), 400, 5);
  const float nan = NAN;
  scene.keypoints = {
      {0.5f, 0.5f, 0.5f}, {nan, 0, 0}, {9, 9, 9}, {0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}};
  scene.frames[3] = {1, 0, 0};
  scene.frames[9] = {nan, 0, 0};  // of keypoint 3
  scene.frames[12] = {3, 0, 0};   // of keypoint 4
  const auto expect = [](const Context& context, const ShotDescriptors& shot,
                         const std::vector<ShotStatus>& truth) {
    const auto status = to_host(context, shot.status);
    const auto values = to_host(context, shot.values);
    for (std::size_t k = 0; k < truth.size(); ++k) {
      EXPECT_EQ(static_cast<int>(status[k]), static_cast<int>(truth[k])) << "keypoint " << k;
      for (int i = 0; i < shot.length; ++i) {
        const float value =
            values[k * static_cast<std::size_t>(shot.length) + static_cast<std::size_t>(i)];
        ASSERT_EQ(std::isnan(value), truth[k] != ShotStatus::kDescribed);
      }
    }
  };
  Scene three_near = scene;
  for (std::size_t i = 0; i < 3; ++i) three_near.points[i] = {0.5f, 0.5f, 0.50001f};
  using enum ShotStatus;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const ShotDescriptors given = shot_of(context, scene, {.radius_m = 0.3f}, true);
    expect(context, given, {kDescribed, kNotFinite, kTooFew, kNoFrame, kNoFrame});
    EXPECT_FALSE(is_finite(to_host(context, given.frames)[6]));  // with no neighbour at all
    EXPECT_EQ(given.counts.described, 1);
    EXPECT_EQ(given.counts.not_finite, 1);
    EXPECT_EQ(given.counts.too_few, 1);
    EXPECT_EQ(given.counts.no_frame, 2);
    const ShotDescriptors computed = shot_of(context, scene, {.radius_m = 0.3f}, false);
    expect(context, computed, {kDescribed, kNotFinite, kNoFrame, kDescribed, kDescribed});
    // A frame from a large radius, but hardly a point in the small one.
    const ShotDescriptors small =
        shot_of(context, scene, {.radius_m = 1e-4f, .frame_radius_m = 0.3f}, false);
    expect(context, small, {kTooFew, kNotFinite, kNoFrame, kTooFew, kTooFew});
    EXPECT_FALSE(is_finite(to_host(context, small.frames)[0]));
    const ShotDescriptors few =
        shot_of(context, three_near, {.radius_m = 1e-4f, .frame_radius_m = 0.3f}, false);
    expect(context, few, {kTooFew, kNotFinite, kNoFrame, kTooFew, kTooFew});
    EXPECT_TRUE(is_finite(to_host(context, few.frames)[0]));
    Scene blind = scene;
    for (Vec3f& normal : blind.normals) normal.x = nan;
    const ShotDescriptors unseen = shot_of(context, blind, {.radius_m = 0.3f}, false);
    expect(context, unseen, {kNoVote, kNotFinite, kNoFrame, kNoVote, kNoVote});
    EXPECT_EQ(unseen.counts.no_vote, 3);
    EXPECT_TRUE(is_finite(to_host(context, unseen.frames)[0]));
    // An index outside the surface is no point.
    const auto points = copy(context, scene.points), normals = copy(context, scene.normals);
    const auto indices = copy(context, std::vector<std::int32_t>{-1, 400, 7});
    const ShotDescriptors listed =
        compute_shot(context, {points, normals}, indices.view(), {.radius_m = 0.3f});
    expect(context, listed, {kNotFinite, kNotFinite, kDescribed});
  }
}

TEST(Shot, OfAllKindsOfCloudsHasLengthOneOrIsNaN) {
  const std::uint64_t seed = testing::seed_of_test();
  for (const testing::TestCloud& cloud : testing::test_clouds(seed)) {
    SCOPED_TRACE(cloud.name);
    std::vector<Vec3f> host_normals;
    for (std::size_t i = 0; i < cloud.points.size(); ++i) {
      host_normals.push_back(unit_vector(Random{seed, i}, 0));
      if (i % 7 == 2) host_normals.back().y = INFINITY;
      if (i % 11 == 3) host_normals.back() = {1e30f, -1e30f, 1e30f};
    }
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const auto points = copy(context, cloud.points), normals = copy(context, host_normals);
      for (const ShotMode mode : {ShotMode::kExact, ShotMode::kApprox}) {
        const ShotDescriptors shot =
            compute_shot(context, {points, normals}, {.radius_m = 0.3f, .mode = mode});
        const auto values = to_host(context, shot.values);
        for (std::size_t k = 0; k < cloud.points.size(); ++k) {
          double sum = 0;
          for (std::size_t i = 0; i < 352; ++i) {
            const auto value = static_cast<double>(values[352 * k + i]);
            EXPECT_FALSE(value < 0);
            sum += value * value;
          }
          EXPECT_TRUE(std::isnan(sum) || std::abs(sum - 1.0) < 1e-5);
        }
      }
    }
  }
}

TEST(Shot, ApproximateCanTakeEverySoManiethNeighbour) {
  const Scene scene = random_shot_scene(testing::seed_of_test(), 3000, 40);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    ShotOptions approx{.radius_m = 0.2f, .mode = ShotMode::kApprox};
    const auto a = to_host(context, shot_of(context, scene, approx, true).values);
    approx.most_neighbours = 3000;  // nothing to leave out
    const auto b = to_host(context, shot_of(context, scene, approx, true).values);
    ASSERT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0);
    // 32 of about 100 neighbours: another histogram, but of the same surface.
    approx.most_neighbours = 32;
    const auto c = to_host(context, shot_of(context, scene, approx, true).values);
    int different = 0;
    for (std::size_t k = 0; k < scene.keypoints.size(); ++k) {
      double product = 0;
      for (std::size_t i = 0; i < 352; ++i) {
        product += static_cast<double>(a[352 * k + i]) * static_cast<double>(c[352 * k + i]);
      }
      EXPECT_GT(product, 0.4);
      different += product < 0.999;
    }
    EXPECT_GT(different, 30);
  }
}

/// All neighbours vote or some of them, of few and of more than a warp lists or a block holds.
TEST(Shot, ApproximateIsTheSameOnEveryDevice) {
  const Scene scene = random_shot_scene(testing::seed_of_test(), 5000, 30);
  const Context first = Context::cpu(1);
  for (const float radius_m : {0.25f, 0.8f}) {
    for (const int most : {65536, 100, 1700}) {
      const ShotOptions options{
          .radius_m = radius_m, .mode = ShotMode::kApprox, .most_neighbours = most};
      const auto truth = to_host(first, shot_of(first, scene, options, true).values);
      for (const Context& context : testing::all_contexts()) {
        SCOPED_TRACE(testing::describe(context));
        const auto values = to_host(context, shot_of(context, scene, options, true).values);
        int close = 0;
        for (std::size_t k = 0; k < scene.keypoints.size(); ++k) {
          float worst = 0;
          for (std::size_t i = 352 * k; i < 352 * k + 352; ++i) {
            worst = std::max(worst, std::abs(values[i] - truth[i]));
          }
          close += worst < 1e-5f;
        }
        EXPECT_GE(close, 29) << radius_m << " m, at most " << most;
      }
    }
  }
}

/// More neighbours than the most that may vote by default: places of voters need 64 bits.
TEST(Shot, ApproximateOfMoreNeighboursThanMayVote) {
  Scene scene = random_shot_scene(testing::seed_of_test(), 70000, 1);
  const ShotOptions options{.radius_m = 1.8f, .mode = ShotMode::kApprox};
  const Context first = Context::cpu(1);
  const auto truth = to_host(first, shot_of(first, scene, options, true).values);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const auto values = to_host(context, shot_of(context, scene, options, true).values);
    for (std::size_t i = 0; i < 352; ++i) ASSERT_NEAR(values[i], truth[i], 1e-5f) << i;
  }
}

/// As many neighbours as fill a count to its last bit, all in one bin.
TEST(Shot, CountsDoNotOverflow) {
  for (const std::size_t count : {511u, 512u, 513u, 1024u}) {
    Scene scene;
    for (std::size_t i = 0; i < count; ++i) {
      scene.points.push_back({0.01f + 1e-6f * static_cast<float>(i), 0.001f, 0.005f});
    }
    scene.normals.assign(count, {0, 0, 1});
    scene.keypoints = {{0, 0, 0}};
    scene.frames = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const ShotOptions options{.radius_m = 0.05f, .mode = ShotMode::kApprox};
      const auto values = to_host(context, shot_of(context, scene, options, true).values);
      EXPECT_EQ(*std::max_element(values.begin(), values.end()), 1.0f) << count;
      EXPECT_EQ(*std::min_element(values.begin(), values.end()), 0.0f) << count;
    }
  }
}

/// A neighbour at exactly half the radius lies in the inner shell, whatever a root is rounded to;
/// squares of these radii are not rounded.
TEST(Shot, HalfTheRadiusBelongsToTheInnerShell) {
  for (int step = 1; step < 200; ++step) {
    const float radius_m = static_cast<float>(step) / 1024.0f;
    Scene scene;
    const Vec3f at = normalized(Vec3f{0.3f, 0.4f, 0.5f}) * (0.25f * radius_m);
    // Four in the inner shell, and one on its rim.
    scene.points.assign(4, at);
    scene.points.push_back({0, 0, 0.5f * radius_m});
    scene.normals.assign(5, {0, 0, 1});
    scene.keypoints = {{0, 0, 0}};
    scene.frames = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (const Context& context : testing::all_contexts()) {
      const ShotOptions options{.radius_m = radius_m, .mode = ShotMode::kApprox};
      const auto values = to_host(context, shot_of(context, scene, options, true).values);
      for (std::size_t volume = 0; volume < 32; ++volume) {
        if ((volume & 2u) == 0) continue;
        for (std::size_t bin = 0; bin < 11; ++bin) {
          ASSERT_EQ(values[volume * 11 + bin], 0.0f) << radius_m << testing::describe(context);
        }
      }
    }
  }
}

TEST(Shot, HasTheSameBitsForEveryNumberOfThreadsAndRun) {
  const Scene scene = random_shot_scene(testing::seed_of_test(), 3000, 900);
  const ShotOptions options{.radius_m = 0.15f, .content = ShotContent::kShapeAndColor};
  std::vector<float> truth;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const auto once = to_host(context, shot_of(context, scene, options, false).values);
    const auto again = to_host(context, shot_of(context, scene, options, false).values);
    ASSERT_EQ(std::memcmp(once.data(), again.data(), once.size() * sizeof(float)), 0);
    if (truth.empty()) truth = once;
    if (context.is_cpu()) {
      ASSERT_EQ(std::memcmp(once.data(), truth.data(), once.size() * sizeof(float)), 0);
    }
  }
}

/// Listed neighbours, and more than a warp can list or a block can hold.
TEST(Shot, OfAKeypointDoesNotDependOnTheOthers) {
  const Scene scene = random_shot_scene(testing::seed_of_test(), 4000, 0);
  Scene few = scene;
  for (std::size_t i = 0; i < scene.points.size(); i += 11)
    few.keypoints.push_back(scene.points[i]);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const auto points = copy(context, scene.points), normals = copy(context, scene.normals);
    for (const float radius_m : {0.1f, 0.3f, 0.6f}) {
      for (const ShotMode mode : {ShotMode::kExact, ShotMode::kApprox}) {
        const ShotOptions options{.radius_m = radius_m, .mode = mode, .most_neighbours = 100};
        const auto all = to_host(context, compute_shot(context, {points, normals}, options).values);
        const auto some = to_host(context, shot_of(context, few, options, false).values);
        for (std::size_t k = 0; k < few.keypoints.size(); ++k) {
          ASSERT_EQ(std::memcmp(&some[352 * k], &all[352 * 11 * k], 352 * sizeof(float)), 0) << k;
        }
      }
    }
  }
}

/// Threads with contexts of their own share nothing, not even what a kernel was told for another.
TEST(Shot, OfDifferentLengthsOnThreadsAtOnce) {
  const Scene scene = random_shot_scene(testing::seed_of_test(), 600, 40);
  const ShotContent contents[] = {ShotContent::kColor, ShotContent::kShapeAndColor,
                                  ShotContent::kShape};
  for (const Context& one : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(one));
    std::atomic<int> right = 0;
    std::vector<std::thread> threads;
    for (const ShotContent content : contents) {
      threads.emplace_back([&, content] {
        try {
          const Context context = one.is_cuda() ? Context::cuda() : Context::cpu(1);
          const ShotOptions options{.radius_m = 0.2f, .content = content};
          std::vector<float> first;
          for (int turn = 0; turn < 30; ++turn) {
            const auto values = to_host(context, shot_of(context, scene, options, false).values);
            if (first.empty()) first = values;
            right += std::memcmp(values.data(), first.data(), values.size() * sizeof(float)) == 0;
          }
        } catch (const Error& error) {
          ADD_FAILURE() << error.what();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(right, 90);
  }
}

TEST(Shot, IntoRunsInAGraphInMemoryThatDoesNotGrowWithNeighbours) {
  const Scene scene = random_shot_scene(testing::seed_of_test(), 2000, 0);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const auto points = copy(context, scene.points), normals = copy(context, scene.normals);
    std::int64_t bytes[2];
    for (int large = 0; large < 2; ++large) {
      const ShotOptions options{.radius_m = large ? 0.3f : 0.1f};
      const auto grid = build_neighbour_grid(
          context, points, NeighbourGridOptions::for_radius(0.5f * options.radius_m));
      Buffer<float> values(context, points.size() * 352);
      Buffer<ShotStatus> status(context, points.size());
      Workspace workspace;
      const std::int64_t before = context.counters().allocated_bytes;
      const Graph graph = Graph::capture(context, [&] {
        compute_shot_into(context, grid, {points, normals}, {points}, options, {values, {}, status},
                          workspace);
      });
      bytes[large] = context.counters().allocated_bytes - before;
      graph.launch();
      context.synchronize();
      const auto found = to_host(context, values);
      const auto expected =
          to_host(context, compute_shot(context, {points, normals}, options).values);
      ASSERT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(float)), 0);
    }
    EXPECT_EQ(bytes[0], bytes[1]);
  }
}

TEST(Shot, RefusesMisuse) {
  const Context context = Context::cpu(1);
  const Scene scene = random_shot_scene(1, 50, 4);
  const auto points = view_of(scene.points);
  const auto normals = view_of(scene.normals);
  const auto keypoints = view_of(scene.keypoints);
  EXPECT_THROW(compute_shot(context, {points, normals.subview(0, 7)}), Error);
  EXPECT_THROW(compute_shot(context, {points, normals}, {.radius_m = -1.0f}), Error);
  EXPECT_THROW(compute_shot(context, {points, normals}, {.radius_m = NAN}), Error);
  EXPECT_THROW(compute_shot(context, {points, normals}, {.most_neighbours = 0}), Error);
  EXPECT_THROW(compute_shot(context, {points, normals}, {.content = ShotContent::kColor}), Error);
  EXPECT_THROW(compute_shot(context, {points, normals, view_of(scene.colors)},
                            ShotKeypoints{keypoints}, {.content = ShotContent::kColor}),
               Error);
  EXPECT_THROW(compute_shot(context, {points, normals},
                            ShotKeypoints{keypoints, {}, view_of(scene.frames).subview(0, 5)}),
               Error);
  std::vector<float> values(4 * 352);
  std::vector<ShotStatus> status(4);
  const auto grid = build_neighbour_grid(context, points);
  Workspace workspace;
  const auto compute = [&](const NeighbourGrid& from, float radius_m, std::int64_t room) {
    compute_shot_into(context, from, {points, normals}, {keypoints}, {.radius_m = radius_m},
                      {view_of(values), {}, view_of(status).subview(0, room)}, workspace);
  };
  EXPECT_THROW(compute(grid, 0.1f, 3), Error);
  EXPECT_THROW(compute(grid, 0.0f, 4), Error);
  EXPECT_THROW(compute(NeighbourGrid{}, 0.1f, 4), Error);
  EXPECT_NO_THROW(compute(grid, 0.1f, 4));
  EXPECT_EQ(shot_length({}), 352);
  EXPECT_EQ(shot_length({.bins = ShotBins::kPaper}), 320);
  EXPECT_EQ(shot_length({.content = ShotContent::kColor}), 992);
  EXPECT_EQ(shot_length({.content = ShotContent::kShapeAndColor}), 1344);
}

}  // namespace
}  // namespace sextant
