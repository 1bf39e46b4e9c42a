// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/pairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sextant/core/random.h"
#include "sextant/descriptor/cloud_pairs.h"
#include "sextant/descriptor/pairs/list.h"
#include "tests/devices.h"
#include "tests/instruction_sets.h"
#include "tests/pair_scenes.h"
#include "tests/recorded_frame.h"

namespace sextant {

using namespace detail::pairs;
namespace {

using testing::OrganisedScene;

using testing::ball;
using testing::comes_before;
using testing::image_of;
using testing::kBallResolution_m;
using testing::Naive;
using testing::naive_pairs;
using testing::normals_of;

TEST(Pairs, AreThoseOfANaiveSearch) {
  const OrganisedScene scene = ball(61, 47);
  const std::vector<Vec3f> normals = normals_of(scene);
  for (const PairsOptions& options :
       {PairsOptions{}, PairsOptions{.least_resolutions = 2.5f, .window_px = 5},
        PairsOptions{.most_resolutions = 9.0f, .least_angle_rad = 0.1f}}) {
    const Naive naive = naive_pairs(scene.points, normals, scene.width, options.window_px,
                                    kBallResolution_m, options);
    ASSERT_GT(naive.pairs.size(), 1000u);
    std::vector<PointPair> first_answer;
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const Image<Vec3f> points = scene.on(context);
      std::vector<PointPair> pairs =
          to_host(context, find_pairs(context, points, image_of(context, normals, scene),
                                      kBallResolution_m, options));
      // The same list everywhere, in the same order.
      if (first_answer.empty()) first_answer = pairs;
      EXPECT_EQ(pairs, first_answer);
      std::sort(pairs.begin(), pairs.end(), comes_before);
      EXPECT_EQ(pairs, naive.pairs);
    }
  }
}

TEST(Pairs, AreFoundOnLargeImages) {
  // Wider and higher than one tile of any device, and no multiple of it.
  const OrganisedScene scene = ball(363, 85, 0);
  const std::vector<Vec3f> normals = normals_of(scene);
  std::vector<PointPair> first_answer;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<Vec3f> points = scene.on(context);
    const std::vector<PointPair> pairs = to_host(
        context, find_pairs(context, points, image_of(context, normals, scene), kBallResolution_m));
    if (first_answer.empty()) first_answer = pairs;
    EXPECT_EQ(pairs, first_answer);
    // One point after the other, as a draw of all but one point does it: the same partners.
    const auto one_less = static_cast<int>(scene.points.size()) - 1;
    const std::vector<PointPair> drawn =
        to_host(context, find_pairs(context, points, image_of(context, normals, scene),
                                    kBallResolution_m, {.samples = one_less}));
    std::set<std::pair<int, int>> all;
    for (const PointPair& pair : pairs) all.emplace(pair.p, pair.q);
    EXPECT_EQ(all.size(), pairs.size());
    std::size_t known = 0;
    for (const PointPair& pair : drawn) known += all.count({pair.p, pair.q});
    EXPECT_EQ(known, drawn.size());
    EXPECT_GE(drawn.size() + 3, pairs.size());
  }
}

TEST(Pairs, AreTheSameForEveryInstructionSet) {
  const OrganisedScene scene = ball(203, 37);
  const std::vector<Vec3f> normals = normals_of(scene);
  SurfaceStatistics statistics;
  statistics.resolution_m = kBallResolution_m;
  const int pixels = scene.width * scene.height;
  const auto partners = [&] {
    std::vector<std::int32_t> found(static_cast<std::size_t>(pixels) * kPartnersPerPoint, -7);
    const PairsJob job{{scene.points.data(), scene.width, scene.height, scene.width, {}},
                       {normals.data(), scene.width, scene.height, scene.width, {}},
                       &statistics,
                       limits_of({}),
                       14,
                       {pixels, pixels, 0},
                       found.data()};
    find_partners_dense(Context::cpu(2), job);
    return found;
  };
  const std::vector<std::int32_t> expected = partners();
  EXPECT_GT(std::count_if(expected.begin(), expected.end(), [](int i) { return i >= 0; }), 3000);
  EXPECT_EQ(std::count(expected.begin(), expected.end(), -7), 0);
  testing::expect_same_bits_on_every_set(partners);
}

TEST(Pairs, EqualDistancesGoToTheLowerIndex) {
  // A flat square grid whose normals are all 30° or more from those of the other parity: the four
  // nearest candidates of a point are equally far.
  constexpr int kSide = 31;
  std::vector<Vec3f> points, normals;
  for (int v = 0; v < kSide; ++v) {
    for (int u = 0; u < kSide; ++u) {
      points.push_back({static_cast<float>(u), static_cast<float>(v), 8.0f});
      normals.push_back((u + v) % 2 == 0 ? Vec3f{0, 0, -1} : Vec3f{0.6f, 0, -0.8f});
    }
  }
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const auto pair_up = [&](bool organised) {
      const Buffer<Vec3f> flat_points = copy(context, points);
      const Buffer<Vec3f> flat_normals = copy(context, normals);
      if (!organised)
        return to_host(context, find_cloud_pairs(context, flat_points, flat_normals, 1.0f));
      return to_host(context, find_pairs(context, Image<Vec3f>(copy(context, points), kSide, kSide),
                                         Image<Vec3f>(copy(context, normals), kSide, kSide), 1.0f));
    };
    // Point (15, 15): five away and of the other parity lie (15, 10), (12, 11), (18, 11), (11, 12)
    // and so on, in this order of their indices.
    const std::int32_t middle = 15 * kSide + 15;
    for (const bool organised : {true, false}) {
      std::vector<PointPair> of_middle;
      for (const PointPair& pair : pair_up(organised)) {
        if (pair.q == middle) of_middle.push_back(pair);
      }
      for (const std::int32_t expected : {10 * kSide + 15, 11 * kSide + 12, 11 * kSide + 18}) {
        EXPECT_EQ(std::count(of_middle.begin(), of_middle.end(), PointPair{expected, middle}), 1);
      }
    }
  }
}

TEST(Pairs, PlanesHaveNone) {
  const OrganisedScene scene =
      testing::look_at(testing::PlaneSurface{1.0, {0.3, 0.1, -1}}, {.width = 70, .height = 40});
  for (const Context& context : testing::all_contexts()) {
    const Image<Vec3f> normals = image_of(context, normals_of(scene), scene);
    EXPECT_EQ(find_pairs(context, scene.on(context), normals, 0.002f).size(), 0);
  }
}

TEST(Pairs, CrossTheCrease) {
  // Normals of the two halves differ by 50°.
  const double half = 25.0 / 180 * std::numbers::pi;
  const auto surface = [&](const Vec3d& ray) {
    const double side = ray.x < 0 ? -1 : 1;
    return testing::PlaneSurface{1.0, {side * std::sin(half), 0, -std::cos(half)}}(ray);
  };
  const OrganisedScene scene = testing::look_at(surface, {.width = 40, .height = 30});
  constexpr float kResolution_m = 0.002f;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<Vec3f> normals = image_of(context, normals_of(scene), scene);
    const std::vector<PointPair> pairs =
        to_host(context, find_pairs(context, scene.on(context), normals, kResolution_m));
    EXPECT_GT(pairs.size(), 500u);
    for (const PointPair& pair : pairs) {
      EXPECT_LT(pair.p, pair.q);
      EXPECT_NE(pair.p % scene.width < 20, pair.q % scene.width < 20);
      const double distance = norm(cast<double>(scene.points[static_cast<std::size_t>(pair.p)]) -
                                   cast<double>(scene.points[static_cast<std::size_t>(pair.q)]));
      EXPECT_GE(distance, 5 * kResolution_m * (1 - 1e-6));
      EXPECT_LE(distance, 14 * kResolution_m * (1 + 1e-6));
    }
  }
}

TEST(Pairs, SampledOnesAreSomeOfAll) {
  const OrganisedScene scene = ball(80, 60);
  const std::vector<Vec3f> normals = normals_of(scene);
  const Naive naive = naive_pairs(scene.points, normals, scene.width, 14, kBallResolution_m, {});
  std::vector<PointPair> first_answer;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<Vec3f> points = scene.on(context);
    const Image<Vec3f> on_device = image_of(context, normals, scene);
    const PairsOptions options{.samples = 300, .seed = 9};
    const std::vector<PointPair> pairs =
        to_host(context, find_pairs(context, points, on_device, kBallResolution_m, options));
    if (first_answer.empty()) first_answer = pairs;
    EXPECT_EQ(pairs, first_answer);
    EXPECT_GT(pairs.size(), 300u);
    EXPECT_LE(pairs.size(), 900u);
    std::set<std::pair<int, int>> distinct;
    for (const PointPair& pair : pairs) {
      distinct.emplace(pair.p, pair.q);
      EXPECT_TRUE(std::binary_search(naive.pairs.begin(), naive.pairs.end(), pair, comes_before));
    }
    EXPECT_EQ(distinct.size(), pairs.size());
    EXPECT_NE(to_host(context, find_pairs(context, points, on_device, kBallResolution_m,
                                          {.samples = 300, .seed = 10})),
              pairs);
  }
}

TEST(SelectPairs, IsTheBeginningOfAPermutation) {
  std::vector<PointPair> pairs;
  for (std::int32_t i = 0; i < 1000; ++i) pairs.push_back({i, i + 1});
  std::vector<PointPair> first_answer;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Buffer<PointPair> on_device = copy(context, pairs);
    std::vector<PointPair> all = to_host(context, select_pairs(context, on_device, 5000, 3));
    if (first_answer.empty()) first_answer = all;
    EXPECT_EQ(all, first_answer);
    const std::vector<PointPair> some = to_host(context, select_pairs(context, on_device, 200, 3));
    ASSERT_EQ(some.size(), 200u);
    EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin()));
    std::sort(all.begin(), all.end(), comes_before);
    EXPECT_EQ(all, pairs);
    EXPECT_EQ(select_pairs(context, on_device, 0).size(), 0);
    EXPECT_EQ(select_pairs(context, on_device.view().subview(0, 0), 10).size(), 0);
    EXPECT_EQ(select_pairs(context, on_device.view().subview(0, 1), 10).size(), 1);
  }
}

TEST(SelectPairs, DependsOnThePixelsAlone) {
  // One normal is turned. A point that loses a partner takes the next nearest, so that some pairs
  // come and go; all others are drawn in the same order as before.
  const OrganisedScene scene = ball(80, 60);
  const std::vector<Vec3f> normals = normals_of(scene);
  const std::int32_t turned = 30 * 80 + 41;
  std::vector<Vec3f> other = normals;
  other[turned] = normalized(other[turned] + Vec3f{0.7f, -0.5f, 0.1f});
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<Vec3f> points = scene.on(context);
    const auto found = [&](const std::vector<Vec3f>& with) {
      return find_pairs(context, points, image_of(context, with, scene), kBallResolution_m);
    };
    const Buffer<PointPair> before = found(normals);
    const Buffer<PointPair> after = found(other);
    const std::vector<PointPair> listed = to_host(context, before);
    const std::vector<PointPair> listed_after = to_host(context, after);
    ASSERT_NE(listed, listed_after);
    const auto kept_of = [](const std::vector<PointPair>& pairs,
                            const std::vector<PointPair>& known) {
      std::vector<PointPair> kept;
      for (const PointPair& pair : pairs) {
        if (std::find(known.begin(), known.end(), pair) != known.end()) kept.push_back(pair);
      }
      return kept;
    };
    const std::vector<PointPair> all = to_host(context, select_pairs(context, before, 1 << 20, 5));
    const std::vector<PointPair> all_after =
        to_host(context, select_pairs(context, after, 1 << 20, 5));
    EXPECT_EQ(kept_of(all, listed_after), kept_of(all_after, listed));
    const std::vector<PointPair> some = to_host(context, select_pairs(context, before, 300, 5));
    const std::vector<PointPair> some_after =
        to_host(context, select_pairs(context, after, 300, 5));
    EXPECT_GE(kept_of(some, some_after).size(), 290u);
  }
}

TEST(SelectPairs, KeysDiffer) {
  std::set<std::uint64_t> keys;
  for (std::int32_t p = 0; p < 100; ++p) {
    for (std::int32_t q = p + 1; q < 100; ++q) keys.insert(draw_key({p, q}, 1));
  }
  EXPECT_EQ(keys.size(), 4950u);
  EXPECT_NE(draw_key({1, 2}, 1), draw_key({1, 2}, 2));
}

TEST(SelectPairs, TakesEveryPairEquallyOften) {
  constexpr int kPairs = 37, kDraws = 4000, kAmount = 5;
  std::vector<PointPair> pairs;
  for (std::int32_t i = 0; i < kPairs; ++i) pairs.push_back({i, i + 1});
  const Context context = Context::cpu(1);
  std::vector<int> taken(kPairs, 0);
  for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
    const Buffer<PointPair> selected = select_pairs(context, view_of(pairs), kAmount, seed);
    for (const PointPair& pair : selected.host()) {
      ++taken[static_cast<std::size_t>(pair.p)];
    }
  }
  const double expected = double(kDraws) * kAmount / kPairs;  // deviation below its root, 23
  for (const int times : taken) EXPECT_NEAR(times, expected, 5 * std::sqrt(expected));
}

TEST(Pairs, AreRecordedWithoutWaiting) {
  const OrganisedScene scene = ball(80, 60);
  const std::vector<Vec3f> normals = normals_of(scene);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<Vec3f> points = scene.on(context);
    const Image<Vec3f> on_device = image_of(context, normals, scene);
    SurfaceStatistics known;
    known.resolution_m = kBallResolution_m;
    const Buffer<SurfaceStatistics> statistics =
        copy(context, std::vector<SurfaceStatistics>{known});
    constexpr int kRoom = 400;
    Buffer<PointPair> pairs(context, kRoom), selected(context, 50);
    Buffer<std::int32_t> count(context, 1), selected_count(context, 1);
    Workspace workspace;
    for (const int samples : {0, 2000}) {
      const auto frame = [&] {
        find_pairs_into(context, points, on_device, statistics, {.samples = samples}, pairs, count,
                        workspace);
        select_pairs_into(context, pairs, count, 1, selected, selected_count, workspace);
      };
      testing::launch_recorded(context, frame);
      const std::vector<PointPair> all = to_host(
          context, find_pairs(context, points, on_device, kBallResolution_m, {.samples = samples}));
      ASSERT_GT(all.size(), static_cast<std::size_t>(kRoom));
      // What has no room is left out.
      EXPECT_EQ(to_host(context, count)[0], kRoom);
      EXPECT_EQ(to_host(context, selected_count)[0], 50);
      const std::vector<PointPair> listed = to_host(context, pairs);
      EXPECT_TRUE(std::equal(listed.begin(), listed.end(), all.begin()));
      EXPECT_EQ(to_host(context, selected), to_host(context, select_pairs(context, pairs, 50, 1)));
    }
  }
}

TEST(Pairs, InfiniteNormalsHaveNoPartner) {
  const OrganisedScene scene = ball(61, 47);
  std::vector<Vec3f> normals = normals_of(scene);
  for (std::size_t i = 0; i < normals.size(); ++i) {
    if (i % 3 == 0) normals[i] = {i % 2 == 0 ? INFINITY : -INFINITY, 0, 0};
    if (i % 3 == 1) normals[i] = {1e20f, -1e20f, 1e20f};
  }
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<Vec3f> points = scene.on(context);
    const Image<Vec3f> on_device = image_of(context, normals, scene);
    for (const int samples : {0, 2000}) {
      const std::vector<PointPair> pairs = to_host(
          context, find_pairs(context, points, on_device, kBallResolution_m, {.samples = samples}));
      EXPECT_FALSE(pairs.empty());
      for (const PointPair& pair : pairs) {
        ASSERT_EQ(pair.p % 3, 2);
        ASSERT_EQ(pair.q % 3, 2);
      }
    }
  }
}

TEST(Pairs, BadInput) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Vec3f infinite{INFINITY, 0, 1};
    const Vec3f hole{NAN, NAN, NAN};
    for (const Vec3f& p : {hole, infinite, Vec3f{1, 2, 3}}) {
      for (const Vec3f& n : {hole, Vec3f{0, 0, -1}, Vec3f{}}) {
        for (const int side : {0, 1, 20}) {
          const std::size_t pixels = static_cast<std::size_t>(side * side);
          const Image<Vec3f> points(copy(context, std::vector<Vec3f>(pixels, p)), side, side);
          const Image<Vec3f> normals(copy(context, std::vector<Vec3f>(pixels, n)), side, side);
          for (const float resolution_m : {0.001f, 0.0f, NAN, INFINITY}) {
            for (const int samples : {0, 3}) {
              const PairsOptions options{.samples = samples};
              EXPECT_EQ(find_pairs(context, points, normals, resolution_m, options).size(), 0);
            }
          }
        }
      }
    }
    const Image<Vec3f> points(copy(context, std::vector<Vec3f>(64)), 8, 8);
    const Image<Vec3f> small(copy(context, std::vector<Vec3f>(56)), 7, 8);
    EXPECT_THROW(find_pairs(context, points, small, 1.0f), Error);
    EXPECT_THROW(find_pairs(context, points, points, 1.0f, {.window_px = 15}), Error);
    EXPECT_THROW(find_pairs(context, points, points, 1.0f, {.least_angle_rad = NAN}), Error);
    EXPECT_THROW(find_pairs(context, points, points, 1.0f, {.samples = -1}), Error);
    EXPECT_THROW(select_pairs(context, {nullptr, 0, context.device()}, -1), Error);
  }
}

}  // namespace
}  // namespace sextant
