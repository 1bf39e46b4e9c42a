// SPDX-License-Identifier: Apache-2.0
// SHOT against what is known by hand and against a plain version in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

#include "sextant/descriptor/shot/color_math.h"
#include "sextant/descriptor/shot/math.h"
#include "tests/devices.h"
#include "tests/shot_scene.h"

namespace sextant {

using namespace detail::shot;
namespace {

using Scene = testing::ShotScene;
using testing::random_shot_scene;
using testing::shot_of;

constexpr double kPi = std::numbers::pi;

/// Votes of one neighbour, step by step as the papers and PCL's version of them have it.
struct OracleHistogram {
  std::vector<double> entry;
  double nearest_edge = 1;  ///< how near a vote comes to jumping elsewhere

  void add(const Vec3d& v, double radius, double b, int bins, bool centred, bool wraps, int wrap,
           bool cosine_alone, std::size_t base) {
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
    if (cosine_alone) {
      at(q, s) += w + 3;
      return;
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
  const bool approx = options.mode == ShotMode::kApprox;
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
      histogram.add(local, radius, 5 * (1 + c), paper ? 10 : 11, !paper, wraps, wrap, approx, 0);
    }
    if (options.content != ShotContent::kShape) {
      const ComputedTables tables;
      const Vec3d a = cast<double>(scaled_lab(scene.colors[i], tables));
      const Vec3d b = cast<double>(scaled_lab(scene.keypoint_colors[k], tables));
      const double apart =
          (std::abs(a.x - b.x) + (std::abs(a.y - b.y) + std::abs(a.z - b.z)) / 2) / 3;
      histogram.add(local, radius, 30 * std::min(apart, 1.0), 31, true, wraps, wrap, approx,
                    shape ? (paper ? 320 : 352) : 0);
    }
  }
  double sum = 0;
  for (const double value : histogram.entry) sum += value * value;
  for (double& value : histogram.entry) value /= std::sqrt(sum);
  return histogram;
}

TEST(Shot, EqualsAnOracleInDoubleInEveryVariant) {
  const Scene scene = random_shot_scene(testing::seed_of_test(), 3000, 60);
  std::vector<ShotOptions> variants;
  for (const ShotBins bins : {ShotBins::kPcl, ShotBins::kFixed, ShotBins::kPaper}) {
    for (const ShotContent content :
         {ShotContent::kShape, ShotContent::kColor, ShotContent::kShapeAndColor}) {
      variants.push_back({.radius_m = 0.3f, .bins = bins, .content = content});
    }
  }
  variants.push_back({.radius_m = 0.3f, .wrap28 = true});
  variants.push_back({.radius_m = 0.3f, .mode = ShotMode::kApprox});
  variants.push_back(
      {.radius_m = 0.3f, .content = ShotContent::kShapeAndColor, .mode = ShotMode::kApprox});
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
        const float sector = azimuth_sector(x, y, std::abs(x), std::abs(y), odd);
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
  double worst[2] = {};
  for (int i = 0; i <= 100000; ++i) {
    const float x = static_cast<float>(i) / 100000.0f;
    const auto off = [&](float found, double truth, double& most) {
      most = std::max(most, std::abs(static_cast<double>(found) - truth));
    };
    const double tangent = std::atan(static_cast<double>(x));
    const double cosine = std::acos(static_cast<double>(x));
    off(arc_tangent(x), tangent, worst[0]);
    off(arc_cosine(x), cosine, worst[1]);
  }
  EXPECT_LT(worst[0], 2e-7);
  EXPECT_LT(worst[1], 4e-7);
}

TEST(Shot, ColorsAreCielab) {
  const ComputedTables tables;
  const auto near = [](const Vec3f& found, double light, double a, double b) {
    // A step of the cube root's table is 1 / 4000: up to 0.3 of L, 1.3 of a and 0.5 of b.
    EXPECT_NEAR(found.x * 100, light, 0.35);
    EXPECT_NEAR(found.y * 120, a, 1.4);
    EXPECT_NEAR(found.z * 120, b, 0.6);
  };
  near(scaled_lab({255, 255, 255}, tables), 100, 0, 0);
  near(scaled_lab({0, 0, 0}, tables), 0, 0, 0);
  near(scaled_lab({255, 0, 0}, tables), 53.24, 80.09, 67.20);
  near(scaled_lab({0, 128, 0}, tables), 46.23, -51.70, 49.90);
  near(scaled_lab({70, 130, 180}, tables), 52.47, -4.08, -32.19);
}

double distance_to(const OracleHistogram& truth, const float* values) {
  double squares = 0;
  for (std::size_t i = 0; i < truth.entry.size(); ++i) {
    const double apart = static_cast<double>(values[i]) - truth.entry[i];
    squares += apart * apart;
  }
  return std::sqrt(squares);
}

/// About as many neighbours as a warp lists and as a block holds candidates, and with counts near
/// the end of 31 bits. Frames are given, or are what compute_local_frames finds.
TEST(Shot, OfVeryManyNeighboursEqualsTheOracle) {
  const std::uint64_t seed = testing::seed_of_test();
  int strict = 0;
  for (const int count : {448, 449, 512, 513, 1280, 1281, 9000}) {
    SCOPED_TRACE(count);
    Scene scene = random_shot_scene(seed, count, 3);
    const ShotOptions options{.radius_m = 1.8f};  // all of them
    for (const bool given : {true, false}) {
      for (const Context& context : testing::all_contexts()) {
        SCOPED_TRACE(testing::describe(context));
        const ShotDescriptors shot = shot_of(context, scene, options, given);
        const auto values = to_host(context, shot.values);
        scene.frames = to_host(context, shot.frames);
        for (std::size_t k = 0; k < scene.keypoints.size(); ++k) {
          const OracleHistogram truth = oracle_shot(scene, k, options);
          const bool clear = truth.nearest_edge >= 2e-6;
          strict += clear;
          // A vote within rounding of an edge may jump.
          EXPECT_LT(distance_to(truth, values.data() + 352 * k), clear ? 1e-5 : 0.1)
              << "keypoint " << k;
        }
      }
    }
  }
  EXPECT_GT(strict, 30);
}

}  // namespace
}  // namespace sextant
