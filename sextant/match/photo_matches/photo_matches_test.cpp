// SPDX-License-Identifier: Apache-2.0
#include "sextant/match/photo_matches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sextant/core/random.h"
#include "tests/each_device.h"
#include "tests/error_message.h"
#include "tests/instruction_sets.h"

namespace sextant {
namespace {

using testing::all_contexts;
using testing::describe;
using testing::seed_of_test;
using Descriptor = std::vector<std::uint8_t>;

/// A library and a photograph, as numbers that are easy to write down.
struct Scene {
  std::vector<std::int32_t> ends;
  std::vector<Vec3f> points;
  std::vector<std::uint8_t> descriptors;
  std::vector<std::vector<Vec2f>> at_px;           ///< of each photograph
  std::vector<std::vector<std::uint8_t>> queries;  ///< of each photograph

  void begin_object() { ends.push_back(static_cast<std::int32_t>(points.size())); }
  void add_point(const Vec3f& point, const Descriptor& descriptor) {
    points.push_back(point);
    descriptors.insert(descriptors.end(), descriptor.begin(), descriptor.end());
    ends.back() = static_cast<std::int32_t>(points.size());
  }
  void begin_photo() {
    at_px.emplace_back();
    queries.emplace_back();
  }
  void add_feature(const Vec2f& place, const Descriptor& descriptor) {
    at_px.back().push_back(place);
    queries.back().insert(queries.back().end(), descriptor.begin(), descriptor.end());
  }
};

std::vector<PhotoMatch> match(const Context& context, const Scene& scene,
                              const PhotoMatchOptions& options) {
  ResidentAppearance appearance;
  appearance.ends = copy(context, scene.ends);
  appearance.points = copy(context, scene.points);
  appearance.descriptors = copy(context, scene.descriptors);
  std::vector<Buffer<std::uint8_t>> queries;
  std::vector<Buffer<Vec2f>> places;
  std::vector<PhotoFeatures> photos;
  for (std::size_t p = 0; p < scene.at_px.size(); ++p) {
    queries.push_back(copy(context, scene.queries[p]));
    places.push_back(copy(context, scene.at_px[p]));
    photos.push_back({queries.back(), places.back()});
  }
  return match_photos(context, photos, appearance, options);
}

/// All numbers are 0 but the first: squared distances are squares of differences.
Descriptor line(int value) {
  Descriptor descriptor(kSiftLength, 0);
  descriptor[0] = static_cast<std::uint8_t>(value);
  return descriptor;
}

Descriptor random_descriptor(const Random& random, int range) {
  Descriptor descriptor(kSiftLength);
  for (int i = 0; i < kSiftLength; ++i) {
    descriptor[static_cast<std::size_t>(i)] =
        static_cast<std::uint8_t>(random.bits(static_cast<std::uint32_t>(i)) % range);
  }
  return descriptor;
}

/// The rules word by word: a list of all points of all objects, each as near as its nearest row.
struct Near {
  double distance_sq;
  std::int32_t row, object;
};
std::vector<Near> sorted_points(const Scene& scene, const std::uint8_t* query) {
  std::map<std::tuple<std::int32_t, float, float, float>, Near> nearest;
  for (std::size_t object = 0; object < scene.ends.size(); ++object) {
    for (std::int32_t row = object == 0 ? 0 : scene.ends[object - 1]; row < scene.ends[object];
         ++row) {
      double sum = 0;
      for (int i = 0; i < kSiftLength; ++i) {
        const double d = double(query[i]) - scene.descriptors[std::size_t(row) * kSiftLength + i];
        sum += d * d;
      }
      const Vec3f& p = scene.points[std::size_t(row)];
      const auto o = static_cast<std::int32_t>(object);
      const auto [place, fresh] = nearest.insert({{o, p.x, p.y, p.z}, {sum, row, o}});
      if (!fresh && sum < place->second.distance_sq) place->second = {sum, row, o};
    }
  }
  std::vector<Near> list;
  for (const auto& [key, near] : nearest) list.push_back(near);
  std::sort(list.begin(), list.end(), [](const Near& a, const Near& b) {
    return std::tie(a.distance_sq, a.row) < std::tie(b.distance_sq, b.row);
  });
  return list;
}

std::vector<PhotoMatch> expected_matches(const Scene& scene, const PhotoMatchOptions& options) {
  const bool each = options.strategy == PhotoMatchStrategy::kEachObject;
  std::vector<PhotoMatch> matches;
  for (std::size_t photo = 0; photo < scene.at_px.size(); ++photo) {
    for (std::size_t f = 0; f < scene.at_px[photo].size(); ++f) {
      std::vector<Near> list = sorted_points(scene, &scene.queries[photo][f * kSiftLength]);
      if (!each && list.size() > std::size_t(options.k)) list.resize(std::size_t(options.k));
      for (std::int32_t object = 0; object < std::int32_t(scene.ends.size()); ++object) {
        std::vector<Near> own;
        for (const Near& near : list) {
          if (near.object == object) own.push_back(near);
        }
        double to_beat = 0;
        if (own.size() >= 2) {
          to_beat = std::sqrt(own[1].distance_sq);
        } else if (!each && own.size() == 1 && own[0].row == list[0].row && list.size() > 1) {
          to_beat = std::sqrt(list[1].distance_sq);
        }
        if (own.empty() || !(std::sqrt(own[0].distance_sq) < options.ratio * to_beat)) continue;
        const std::int32_t begin = object == 0 ? 0 : scene.ends[std::size_t(object) - 1];
        matches.push_back({std::int32_t(photo), std::int32_t(f), object, own[0].row - begin,
                           scene.at_px[photo][f], scene.points[std::size_t(own[0].row)],
                           float(std::sqrt(own[0].distance_sq) / to_beat)});
      }
    }
  }
  return matches;
}

void expect_equal(const std::vector<PhotoMatch>& found, const std::vector<PhotoMatch>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].photo, expected[i].photo) << i;
    EXPECT_EQ(found[i].feature, expected[i].feature) << i;
    EXPECT_EQ(found[i].object, expected[i].object) << i;
    EXPECT_EQ(found[i].point, expected[i].point) << i;
    EXPECT_TRUE(found[i].at_px == expected[i].at_px) << i;
    EXPECT_TRUE(found[i].point_m == expected[i].point_m) << i;
    EXPECT_NEAR(found[i].ratio, expected[i].ratio, 1e-6) << i;
  }
}

/// Objects of different sizes, some with points that have several descriptors, and photographs
/// whose features are near rows of the library. Few values make many distances equal.
Scene random_scene(std::uint64_t seed, int range) {
  Scene scene;
  std::uint64_t item = 0;
  for (const int size : {300, 1, 0, 70, 64, 2, 500}) {
    scene.begin_object();
    for (int i = 0; i < size; ++i) {
      const Random random{seed, item++};
      const bool twin = i > 0 && random.bits(200) % 3 == 0;
      const Vec3f point{twin ? float(random.bits(201) % unsigned(i)) : float(i), float(size), 0.5f};
      scene.add_point(point, random_descriptor(random, range));
    }
  }
  for (const int features : {250, 0, 7}) {
    scene.begin_photo();
    for (int f = 0; f < features; ++f) {
      const Random random{seed + 1, item++};
      const std::size_t row = random.bits(300) % scene.points.size();
      Descriptor descriptor(&scene.descriptors[row * kSiftLength],
                            &scene.descriptors[row * kSiftLength] + kSiftLength);
      for (std::uint32_t i = 0; i < kSiftLength; ++i) {
        if (random.bits(i) % 3 == 0) {
          descriptor[i] = static_cast<std::uint8_t>(random.bits(400 + i) % range);
        }
      }
      scene.add_feature({float(f), 2.0f}, descriptor);
    }
  }
  return scene;
}

TEST(PhotoMatches, FollowTheRulesWordByWord) {
  for (const int range : {256, 3}) {
    const Scene scene = random_scene(seed_of_test(), range);
    for (const PhotoMatchOptions& options :
         {PhotoMatchOptions{}, PhotoMatchOptions{.ratio = 0.95f},
          PhotoMatchOptions{PhotoMatchStrategy::kNearest, 2, 0.9f},
          PhotoMatchOptions{PhotoMatchStrategy::kNearest, 30, 0.9f},
          PhotoMatchOptions{PhotoMatchStrategy::kNearest, 90, 0.95f},
          PhotoMatchOptions{PhotoMatchStrategy::kNearest, 4096, 0.9f}}) {
      const std::vector<PhotoMatch> expected = expected_matches(scene, options);
      EXPECT_GT(expected.size(), 20u);
      for (const Context& context : all_contexts()) {
        SCOPED_TRACE(describe(context));
        expect_equal(match(context, scene, options), expected);
      }
    }
  }
}

TEST(PhotoMatches, HaveTheSameBitsOnCuda) {
  // Sizes on both sides of tiles of 64 rows and blocks of 256 features; among the points some with
  // so many descriptors that none of the nearest rows of an object is of another point.
  for (const int range : {256, 4}) {
    Scene scene = random_scene(seed_of_test(), range);
    scene.begin_object();
    std::uint64_t item = 0;
    for (int i = 0; i < 2500; ++i) {
      const Random random{seed_of_test() + 2, item++};
      const float place = i < 60 ? 0.0f : i < 100 ? 1.0f : float(i);
      Descriptor descriptor = random_descriptor(random, range);
      if (i < 100) std::fill(descriptor.begin() + 2, descriptor.end(), std::uint8_t{1});
      scene.add_point({place, 7, 7}, descriptor);
    }
    scene.begin_photo();
    for (int f = 0; f < 700; ++f) {
      Descriptor descriptor = random_descriptor({seed_of_test() + 3, item++}, range);
      if (f % 3 == 0) std::fill(descriptor.begin() + 2, descriptor.end(), std::uint8_t{1});
      scene.add_feature({f % 50 == 0 ? NAN : float(f), 1.0f}, descriptor);
    }
    for (const auto strategy : {PhotoMatchStrategy::kEachObject, PhotoMatchStrategy::kNearest}) {
      for (const int k : {2, 7, 90, 4096}) {
        const PhotoMatchOptions options{strategy, k, 0.95f};
        const std::vector<PhotoMatch> expected = match(Context::cpu(), scene, options);
        ASSERT_GT(expected.size(), 20u);
        for (const Context& context : testing::cuda_contexts()) {
          for (int run = 0; run < 2; ++run) {
            EXPECT_TRUE(testing::same_bytes(match(context, scene, options), expected))
                << describe(context) << " k " << k;
          }
        }
      }
    }
  }
}

TEST(PhotoMatches, HaveTheSameBitsOnEverySet) {
  const Scene scene = random_scene(seed_of_test(), 256);
  for (const auto strategy : {PhotoMatchStrategy::kEachObject, PhotoMatchStrategy::kNearest}) {
    testing::expect_same_bits_on_every_set(
        [&] { return match(Context::cpu(2), scene, {.strategy = strategy, .ratio = 0.95f}); });
  }
}

TEST(PhotoMatches, OfOnePointWithSeveralDescriptorsDoNotCompete) {
  for (const Context& context : testing::each_device()) {
    SCOPED_TRACE(describe(context));
    Scene scene;
    scene.begin_object();
    scene.add_point({1, 0, 0}, line(100));
    scene.add_point({2, 0, 0}, line(200));
    scene.add_point({1, 0, 0}, line(101));
    scene.add_point({1, 0, 0}, line(103));
    scene.begin_photo();
    scene.add_feature({5, 6}, line(102));
    for (const PhotoMatchOptions& options :
         {PhotoMatchOptions{}, PhotoMatchOptions{PhotoMatchStrategy::kNearest, 2},
          PhotoMatchOptions{PhotoMatchStrategy::kNearest, 3}}) {
      const std::vector<PhotoMatch> matches = match(context, scene, options);
      ASSERT_EQ(matches.size(), 1u);
      EXPECT_EQ(matches[0].point, 2);  // as near as the row 3, and before it
      EXPECT_FLOAT_EQ(matches[0].ratio, 1.0f / 98.0f);
      EXPECT_TRUE((matches[0].point_m == Vec3f{1, 0, 0}));
      EXPECT_TRUE((matches[0].at_px == Vec2f{5, 6}));
    }
    // The same coordinates in another object are another point.
    scene.begin_object();
    scene.add_point({1, 0, 0}, line(102));
    EXPECT_TRUE(match(context, scene, {PhotoMatchStrategy::kNearest, 2, 0.8f})[0].object == 1);
  }
}

TEST(PhotoMatches, OfAnObjectWithOnePointNeedItToBeTheNearestOfAll) {
  for (const Context& context : testing::each_device()) {
    SCOPED_TRACE(describe(context));
    Scene scene;
    scene.begin_object();
    scene.add_point({1, 0, 0}, line(10));
    scene.begin_object();
    scene.add_point({2, 0, 0}, line(20));
    scene.begin_photo();
    scene.add_feature({0, 0}, line(12));
    EXPECT_TRUE(match(context, scene, {}).empty());
    const auto matches = match(context, scene, {.strategy = PhotoMatchStrategy::kNearest});
    ASSERT_EQ(matches.size(), 1u);
    EXPECT_EQ(matches[0].object, 0);
    EXPECT_FLOAT_EQ(matches[0].ratio, 2.0f / 8.0f);
  }
}

TEST(PhotoMatches, OfManyNearestAreThoseOfEachObject) {
  for (const Context& context : testing::each_device()) {
    SCOPED_TRACE(describe(context));
    // All of these objects have two points and more: there k = ∞ is OBJ_MATCH.
    Scene scene = random_scene(seed_of_test(), 256);
    scene.ends = {300, 371, 437, 937};
    scene.ends.back() = static_cast<std::int32_t>(scene.points.size());
    expect_equal(match(context, scene, {.strategy = PhotoMatchStrategy::kNearest, .k = 4096}),
                 match(context, scene, {}));
  }
}

TEST(PhotoMatches, OfEqualDistancesFail) {
  for (const Context& context : testing::each_device()) {
    SCOPED_TRACE(describe(context));
    Scene scene;
    scene.begin_object();
    scene.add_point({1, 0, 0}, line(10));
    scene.add_point({2, 0, 0}, line(10));
    scene.begin_photo();
    scene.add_feature({0, 0}, line(10));
    scene.add_feature({0, 0}, line(12));
    EXPECT_TRUE(match(context, scene, {.ratio = 1.0f}).empty());
  }
}

TEST(PhotoMatches, OfNothingAreNone) {
  for (const Context& context : testing::each_device()) {
    SCOPED_TRACE(describe(context));
    Scene scene;
    EXPECT_TRUE(match(context, scene, {}).empty());
    scene.begin_photo();
    scene.add_feature({0, 0}, line(0));
    EXPECT_TRUE(match(context, scene, {}).empty());
    scene.begin_object();
    for (const int k : {2, 4096}) {
      EXPECT_TRUE(match(context, scene, {PhotoMatchStrategy::kNearest, k}).empty());
    }
    scene.add_point({NAN, NAN, NAN}, line(0));
    scene.add_point({NAN, NAN, NAN}, line(9));
    scene.at_px[0][0].y = NAN;
    EXPECT_TRUE(match(context, scene, {}).empty());
    scene.add_feature({0, 0}, line(1));
    ASSERT_EQ(match(context, scene, {}).size(), 1u);
    EXPECT_EQ(match(context, scene, {})[0].feature, 1);
  }
}

TEST(PhotoMatches, RefuseWhatDoesNotFitTogether) {
  using testing::error_message;
  using testing::mentions;
  Scene scene = random_scene(seed_of_test(), 256);
  const Context cpu = Context::cpu();
  const auto with = [&](const auto& change) {
    Scene bad = scene;
    change(bad);
    return error_message([&] { match(cpu, bad, {}); });
  };
  EXPECT_TRUE(mentions(with([](Scene& s) { s.descriptors.pop_back(); }), "descriptors"));
  EXPECT_TRUE(mentions(with([](Scene& s) { s.queries[0].pop_back(); }), "at_px"));
  EXPECT_TRUE(mentions(with([](Scene& s) { s.ends[0] = 400; }), "ends"));
  EXPECT_TRUE(mentions(with([](Scene& s) { s.ends.back() -= 1; }), "ends"));
  EXPECT_TRUE(mentions(error_message([&] { match(cpu, scene, {.ratio = -1}); }), "ratio"));
  EXPECT_TRUE(mentions(error_message([&] { match(cpu, scene, {.k = 1}); }), "k"));
}

TEST(PhotoMatches, StandWhereALensWithoutDistortionTakesThem) {
  const Context cpu = Context::cpu();
  const Camera camera{640, 480, 500, 510, 320, 240, {-0.2, 0.05, 1e-3, -2e-3, 0}};
  Camera ideal = camera;
  ideal.distortion = {};
  SiftFeatures features;
  std::vector<SiftKeypoint> keypoints;
  std::vector<Vec2f> expected;
  for (int i = 0; i < 20; ++i) {
    const Vec3d point{0.02 * i - 0.2, 0.1 - 0.015 * i, 1.0};
    const Vec2d seen = project(camera, point), place = project(ideal, point);
    keypoints.push_back({float(seen.x), float(seen.y), 2, 0, 1, 0, 1});
    expected.push_back({float(place.x), float(place.y)});
  }
  features.count = 20;
  features.keypoints = copy(cpu, keypoints);
  for (const Context& context : testing::each_device()) {
    SiftFeatures there;
    there.count = 20;
    there.keypoints = copy(context, keypoints);
    const std::vector<Vec2f> places = to_host(context, undistorted_places(context, there, camera));
    for (std::size_t i = 0; i < places.size(); ++i) {
      EXPECT_NEAR(places[i].x, expected[i].x, 1e-4);
      EXPECT_NEAR(places[i].y, expected[i].y, 1e-4);
    }
  }
  ResidentAppearance nothing;
  EXPECT_TRUE(testing::mentions(
      testing::error_message([&] { match_photo(cpu, features, camera, nothing); }), "bytes"));
}

}  // namespace
}  // namespace sextant
