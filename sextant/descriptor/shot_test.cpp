// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/shot.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numbers>

#include "sextant/core/graph.h"
#include "sextant/core/rigid3.h"
#include "sextant/descriptor/local_frame.h"
#include "sextant/descriptor/shot_color_math.h"
#include "sextant/descriptor/shot_math.h"
#include "tests/devices.h"
#include "tests/neighbour_clouds.h"

namespace sextant {
namespace {

constexpr double kPi = std::numbers::pi;

struct Scene {
  std::vector<Vec3f> points, normals;
  std::vector<Rgb8> colors;
  std::vector<Vec3f> keypoints, frames;
  std::vector<Rgb8> keypoint_colors;
};

Vec3f unit_vector(const Random& random, std::uint64_t draw) {
  return normalized(
      cast<float>(Vec3d{random.normal(draw), random.normal(draw + 1), random.normal(draw + 2)}));
}

/// Points anywhere, normals any way: every bin of every volume is met.
Scene random_scene(std::uint64_t seed, int count, int keypoints) {
  Scene scene;
  for (int i = 0; i < count; ++i) {
    const Random random{seed, static_cast<std::uint64_t>(i)};
    scene.points.push_back(testing::uniform_point(seed, i));
    scene.normals.push_back(unit_vector(random, 10));
    if (i % 19 == 4) scene.normals.back() = {NAN, 1, 0};
    scene.colors.push_back({static_cast<std::uint8_t>(random.below(256, 20)),
                            static_cast<std::uint8_t>(random.below(256, 21)),
                            static_cast<std::uint8_t>(random.below(256, 22))});
  }
  for (int i = 0; i < keypoints; ++i) {
    const Random random{seed + 1, static_cast<std::uint64_t>(i)};
    // Half of them are points of the surface.
    scene.keypoints.push_back(i % 2 ? testing::uniform_point(seed + 1, i)
                                    : scene.points[static_cast<std::size_t>(i)]);
    const Vec3f z = unit_vector(random, 0);
    const Vec3f x = normalized(cross(z, unit_vector(random, 5)));
    for (const Vec3f& axis : {x, cross(z, x), z}) scene.frames.push_back(axis);
    scene.keypoint_colors.push_back(scene.colors[static_cast<std::size_t>(i)]);
  }
  return scene;
}

/// Votes of one neighbour, step by step as the papers and PCL's version of them have it.
struct OracleHistogram {
  std::vector<double> entry;
  double nearest_edge = 1;  ///< how near a vote comes to jumping elsewhere

  void add(const Vec3d& v, double radius, double b, int bins, bool centred, bool wraps, int wrap,
           std::size_t base) {
    const double d = norm(v);
    int az = static_cast<int>(std::floor((std::atan2(v.y, v.x) + kPi) / (kPi / 4)));
    if (az == 8) az = 7;
    const double turn = (std::atan2(v.y, v.x) + kPi) / (kPi / 4);
    nearest_edge = std::min({nearest_edge, std::abs(turn - std::round(turn)),
                             std::abs(d / radius - 0.5), std::abs(v.z / d)});
    const int q = 4 * az + 2 * (d > radius / 2) + (v.z > 0);
    const auto at = [&](int volume, int bin) -> double& {
      return entry[base + static_cast<std::size_t>(volume * bins + bin)];
    };
    int s;
    double w = 0;
    if (centred) {
      s = static_cast<int>(std::floor(b + 0.5));
      const double t = b - s;
      nearest_edge = std::min(nearest_edge, 0.5 - std::abs(t));
      w = 1 - std::abs(t);
      const int last = bins - 1;
      if (t > 0) at(q, wraps ? (s + 1) % last : s + 1) += t;
      if (t < 0) at(q, s - 1) -= t;
    } else {
      s = std::min(static_cast<int>(std::floor(b)), bins - 1);
      nearest_edge = std::min({nearest_edge, b - s, s + 1 - b});
      const double t = b - (s + 0.5);
      const int other = t > 0 ? s + 1 : s - 1;
      if (other >= 0 && other < bins) {
        w = 1 - std::abs(t);
        at(q, other) += std::abs(t);
      } else {
        w = 1;
      }
    }
    if (d > radius / 2) {
      const double e = (d - 0.75 * radius) / (radius / 2);
      w += 1 - std::abs(e);
      if (e < 0) at(q - 2, s) -= e;
    } else {
      const double e = (d - 0.25 * radius) / (radius / 2);
      w += 1 - std::abs(e);
      if (e > 0) at(q + 2, s) += e;
    }
    const double th = std::acos(std::clamp(v.z / d, -1.0, 1.0));
    if (v.z <= 0) {
      const double e = (th - 0.75 * kPi) / (kPi / 2);
      w += 1 - std::abs(e);
      if (e < 0) at(q + 1, s) -= e;
    } else {
      const double e = (th - 0.25 * kPi) / (kPi / 2);
      w += 1 - std::abs(e);
      if (e > 0) at(q - 1, s) += e;
    }
    const double e = (std::atan2(v.y, v.x) - (-7 * kPi / 8 + az * kPi / 4)) / (kPi / 4);
    w += 1 - std::abs(e);
    if (e > 0) {
      at((q + 4) % wrap, s) += e;
    } else {
      at((q - 4 + wrap) % wrap, s) -= e;
    }
    at(q, s) += w;
  }
};

/// The descriptor of keypoint k, with the given frame.
OracleHistogram oracle_shot(const Scene& scene, std::size_t k, const ShotOptions& options) {
  OracleHistogram histogram;
  histogram.entry.resize(static_cast<std::size_t>(shot_length(options)));
  const Vec3f p = scene.keypoints[k];
  const bool shape = options.content != ShotContent::kColor;
  const bool paper = options.bins == ShotBins::kPaper;
  const bool wraps = options.bins == ShotBins::kPcl;
  const int wrap = options.wrap28 ? 28 : 32;
  for (std::size_t i = 0; i < scene.points.size(); ++i) {
    const float distance_sq = squared_distance(scene.points[i], p);
    if (!(distance_sq < options.radius_m * options.radius_m) || distance_sq == 0) continue;
    if (!is_finite(scene.normals[i])) continue;
    const Vec3d v = cast<double>(scene.points[i] - p);
    const Vec3d x = cast<double>(scene.frames[3 * k]), y = cast<double>(scene.frames[3 * k + 1]),
                z = cast<double>(scene.frames[3 * k + 2]);
    const Vec3d local{dot(v, x), dot(v, y), dot(v, z)};
    const auto radius = static_cast<double>(options.radius_m);
    if (shape) {
      const double c = std::clamp(dot(cast<double>(scene.normals[i]), z), -1.0, 1.0);
      histogram.add(local, radius, 5 * (1 + c), paper ? 10 : 11, !paper, wraps, wrap, 0);
    }
    if (options.content != ShotContent::kShape) {
      const detail::ComputedTables tables;
      const Vec3d a = cast<double>(detail::scaled_lab(scene.colors[i], tables));
      const Vec3d b = cast<double>(detail::scaled_lab(scene.keypoint_colors[k], tables));
      const double apart =
          (std::abs(a.x - b.x) + (std::abs(a.y - b.y) + std::abs(a.z - b.z)) / 2) / 3;
      histogram.add(local, radius, 30 * std::min(apart, 1.0), 31, true, wraps, wrap,
                    shape ? (paper ? 320 : 352) : 0);
    }
  }
  double sum = 0;
  for (const double value : histogram.entry) sum += value * value;
  for (double& value : histogram.entry) value /= std::sqrt(sum);
  return histogram;
}

ShotDescriptors shot_of(const Context& context, const Scene& scene, const ShotOptions& options,
                        bool with_frames) {
  const auto points = copy(context, scene.points);
  const auto normals = copy(context, scene.normals);
  const auto colors = copy(context, scene.colors);
  const auto keypoints = copy(context, scene.keypoints);
  const auto keypoint_colors = copy(context, scene.keypoint_colors);
  const auto frames = copy(context, scene.frames);
  return compute_shot(
      context, {points, normals, colors},
      {keypoints, keypoint_colors, with_frames ? frames.view() : View<const Vec3f>{}}, options);
}

TEST(Shot, EqualsAnOracleInDoubleInEveryVariant) {
  const Scene scene = random_scene(testing::seed_of_test(), 3000, 60);
  std::vector<ShotOptions> variants;
  for (const ShotBins bins : {ShotBins::kPcl, ShotBins::kFixed, ShotBins::kPaper}) {
    for (const ShotContent content :
         {ShotContent::kShape, ShotContent::kColor, ShotContent::kShapeAndColor}) {
      variants.push_back({.radius_m = 0.3f, .bins = bins, .content = content});
    }
  }
  variants.push_back({.radius_m = 0.3f, .wrap28 = true});
  for (const ShotOptions& options : variants) {
    SCOPED_TRACE(std::string(name_of(options.bins, kShotBins)) + ", " +
                 std::string(name_of(options.content, kShotContents)));
    std::vector<OracleHistogram> truth;
    for (std::size_t k = 0; k < scene.keypoints.size(); ++k) {
      truth.push_back(oracle_shot(scene, k, options));
    }
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const ShotDescriptors shot = shot_of(context, scene, options, true);
      ASSERT_EQ(shot.counts.described, static_cast<std::int64_t>(scene.keypoints.size()));
      const auto values = to_host(context, shot.values);
      const auto length = static_cast<std::size_t>(shot.length);
      std::size_t compared = 0;
      for (std::size_t k = 0; k < scene.keypoints.size(); ++k) {
        // A vote within rounding of an edge may jump.
        if (truth[k].nearest_edge < 2e-6) continue;
        ++compared;
        for (std::size_t i = 0; i < length; ++i) {
          ASSERT_NEAR(values[k * length + i], truth[k].entry[i], 1e-5)
              << "keypoint " << k << " entry " << i;
        }
      }
      EXPECT_GT(compared, scene.keypoints.size() / 2);
    }
  }
}

/// One neighbour votes; the others lie on the keypoint. At (6, 2, 3) / 10 with a normal at the
/// cosine 0.35: every weight by hand.
TEST(Shot, OfOneNeighbourIsKnown) {
  Scene scene;
  for (int i = 0; i < 4; ++i) scene.points.push_back({1, 1, 1});
  scene.points.push_back({1.6f, 1.2f, 1.3f});
  const float sine = std::sqrt(1 - 0.35f * 0.35f);
  for (int i = 0; i < 5; ++i) scene.normals.push_back({sine, 0, 0.35f});
  scene.keypoints = {{1, 1, 1}};
  scene.frames = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  scene.keypoint_colors.resize(1);
  scene.colors.resize(5);
  // |v| = 0.7 of a radius of 1: outer shell, e = (0.7 - 0.75) / 0.5 = -0.1.
  // Elevation acos(3 / 7) = 64.62°, e = (64.62 - 45) / 90. Azimuth atan(1 / 3) = 18.43°, sector 4,
  // e = (18.43 - 22.5) / 45. Cosine: b = 6.75, bin 7, t = -0.25.
  const double elevation = (std::acos(3.0 / 7.0) - kPi / 4) / (kPi / 2);
  const double azimuth = (std::atan2(1.0, 3.0) - kPi / 8) / (kPi / 4);
  std::vector<double> truth(352);
  const auto at = [&](int volume, int bin) -> double& {
    return truth[static_cast<std::size_t>(11 * volume + bin)];
  };
  const int volume = 4 * 4 + 2 + 1;
  at(volume, 6) = 0.25;
  at(volume - 2, 7) = 0.1;
  at(volume - 1, 7) = elevation;
  at(volume - 4, 7) = -azimuth;
  at(volume, 7) = 0.75 + 0.9 + (1 - elevation) + (1 + azimuth);
  double sum = 0;
  for (const double value : truth) sum += value * value;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const auto values = to_host(context, shot_of(context, scene, {.radius_m = 1.0f}, true).values);
    for (std::size_t i = 0; i < truth.size(); ++i) {
      EXPECT_NEAR(values[i], truth[i] / std::sqrt(sum), 2e-6) << "entry " << i;
    }
  }
}

/// PCL's comparisons, which decide for neighbours that lie exactly on the edges of sectors.
int sector_by_comparisons(double x, double y) {
  const int upper = y > 0 || (y == 0 && x < 0);
  const int second = (x > 0 || (x == 0 && y > 0)) ? !upper : upper;
  const int last = x * y > 0 || x == 0 ? std::abs(x) < std::abs(y) : std::abs(x) > std::abs(y);
  return 4 * upper + 2 * second + last;
}

TEST(Shot, TakesTheSectorsOfPclOnTheirEdges) {
  for (int i = -8; i <= 8; ++i) {
    for (int j = -8; j <= 8; ++j) {
      for (const float scale : {1.0f, 1e-20f, 1e-32f}) {
        float x = static_cast<float>(i) * scale, y = static_cast<float>(j) * scale;
        if (i == 0 && j == 0) continue;
        float odd;
        const float sector = detail::azimuth_sector(x, y, std::abs(x), std::abs(y), odd);
        if (std::abs(x) < 1e-30f) x = 0;
        if (std::abs(y) < 1e-30f) y = 0;
        if (x == 0 && y == 0) continue;
        ASSERT_EQ(static_cast<int>(sector),
                  sector_by_comparisons(static_cast<double>(x), static_cast<double>(y)))
            << x << " " << y;
        ASSERT_EQ(static_cast<int>(odd), static_cast<int>(sector) % 2);
      }
    }
  }
}

TEST(Shot, AnglesAreAsExactAsStated) {
  double worst[4] = {};
  for (int i = 0; i <= 100000; ++i) {
    const float x = static_cast<float>(i) / 100000.0f;
    const auto off = [&](float found, double truth, double& most) {
      most = std::max(most, std::abs(static_cast<double>(found) - truth));
    };
    const double tangent = std::atan(static_cast<double>(x));
    const double cosine = std::acos(static_cast<double>(x));
    off(detail::arc_tangent(x, true), tangent, worst[0]);
    off(detail::arc_cosine(x, true), cosine, worst[1]);
    off(detail::arc_tangent(x, false), tangent, worst[2]);
    off(detail::arc_cosine(x, false), cosine, worst[3]);
  }
  EXPECT_LT(worst[0], 2e-7);
  EXPECT_LT(worst[1], 4e-7);
  EXPECT_LT(worst[2], 1e-4);
  EXPECT_LT(worst[3], 1e-4);
}

TEST(Shot, ColorsAreCielab) {
  const detail::ComputedTables tables;
  const auto near = [](const Vec3f& found, double light, double a, double b) {
    // A step of the cube root's table is 1 / 4000: up to 0.3 of L, 1.3 of a and 0.5 of b.
    EXPECT_NEAR(found.x * 100, light, 0.35);
    EXPECT_NEAR(found.y * 120, a, 1.4);
    EXPECT_NEAR(found.z * 120, b, 0.6);
  };
  near(detail::scaled_lab({255, 255, 255}, tables), 100, 0, 0);
  near(detail::scaled_lab({0, 0, 0}, tables), 0, 0, 0);
  near(detail::scaled_lab({255, 0, 0}, tables), 53.24, 80.09, 67.20);
  near(detail::scaled_lab({0, 128, 0}, tables), 46.23, -51.70, 49.90);
  near(detail::scaled_lab({70, 130, 180}, tables), 52.47, -4.08, -32.19);
}

TEST(Shot, MovesWithTheSurface) {
  const std::vector<Vec3f> cloud = testing::organised_cloud(testing::seed_of_test()).points;
  const Rigid3f moved_from_here{exp_rotation(Vec3f{0.4f, -0.7f, 0.2f}), {0.3f, 0.1f, -0.2f}};
  Scene scene, moved;
  for (std::size_t i = 0; i < cloud.size(); ++i) {
    const Random random{1, i};
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
  Scene scene = random_scene(testing::seed_of_test(), 400, 5);
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
  using enum ShotStatus;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const ShotDescriptors given = shot_of(context, scene, {.radius_m = 0.3f}, true);
    expect(context, given, {kDescribed, kNotFinite, kTooFew, kNoFrame, kNoFrame});
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

/// Neighbours by the thousand: more than a warp lists, with counts near the end of 31 bits.
TEST(Shot, OfVeryManyNeighboursEqualsTheOracle) {
  Scene scene = random_scene(testing::seed_of_test(), 9000, 8);
  const ShotOptions options{.radius_m = 0.7f};
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const auto values = to_host(context, shot_of(context, scene, options, true).values);
    for (std::size_t k = 0; k < scene.keypoints.size(); ++k) {
      const OracleHistogram truth = oracle_shot(scene, k, options);
      double squares = 0;
      for (std::size_t i = 0; i < 352; ++i) {
        const double apart = static_cast<double>(values[352 * k + i]) - truth.entry[i];
        squares += apart * apart;
      }
      // Some of 9000 votes lie within rounding of an edge; each moves 4 of 30000.
      EXPECT_LT(std::sqrt(squares), 1e-3) << "keypoint " << k;
    }
  }
}

TEST(Shot, ApproximateTakesEverySoManiethNeighbour) {
  const Scene scene = random_scene(testing::seed_of_test(), 3000, 40);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    // Nothing to leave out: only the angles are coarser, by 1e-4 rad.
    const ShotOptions exact{.radius_m = 0.2f};
    ShotOptions approx{.radius_m = 0.2f, .mode = ShotMode::kApprox, .most_neighbours = 3000};
    const auto a = to_host(context, shot_of(context, scene, exact, true).values);
    const auto b = to_host(context, shot_of(context, scene, approx, true).values);
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 2e-4f);
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

TEST(Shot, ApproximateIsTheSameOnEveryDevice) {
  const Scene scene = random_scene(testing::seed_of_test(), 5000, 30);
  const ShotOptions options{.radius_m = 0.25f, .mode = ShotMode::kApprox};
  const Context first = Context::cpu(1);
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
    EXPECT_GE(close, 29);
  }
}

TEST(Shot, HasTheSameBitsForEveryNumberOfThreadsAndRun) {
  const Scene scene = random_scene(testing::seed_of_test(), 3000, 900);
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

TEST(Shot, IntoRunsInAGraphInMemoryThatDoesNotGrowWithNeighbours) {
  const Scene scene = random_scene(testing::seed_of_test(), 2000, 0);
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
      const std::int64_t before = context.counters().allocated_bytes;
      const Graph graph = Graph::capture(context, [&] {
        compute_shot_into(context, grid, {points, normals}, {points}, options,
                          {values, {}, status});
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
  const Scene scene = random_scene(1, 50, 4);
  const auto points = view_of(scene.points);
  const auto normals = view_of(scene.normals);
  const auto keypoints = view_of(scene.keypoints);
  EXPECT_THROW(compute_shot(context, {points, normals.subview(0, 7)}), Error);
  EXPECT_THROW(compute_shot(context, {points, normals}, {.radius_m = 0.0f}), Error);
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
  std::vector<ShotStatus> status(3);
  const auto grid = build_neighbour_grid(context, points);
  EXPECT_THROW(compute_shot_into(context, grid, {points, normals}, {keypoints}, {},
                                 {view_of(values), {}, view_of(status)}),
               Error);
  EXPECT_THROW(compute_shot_into(context, NeighbourGrid{}, {points, normals}, {keypoints}, {},
                                 {view_of(values), {}, view_of(status)}),
               Error);
  EXPECT_EQ(shot_length({}), 352);
  EXPECT_EQ(shot_length({.bins = ShotBins::kPaper}), 320);
  EXPECT_EQ(shot_length({.content = ShotContent::kColor}), 992);
  EXPECT_EQ(shot_length({.content = ShotContent::kShapeAndColor}), 1344);
}

}  // namespace
}  // namespace sextant
