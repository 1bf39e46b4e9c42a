// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/resolution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "sextant/surface/resolution/math.h"
#include "tests/devices.h"
#include "tests/organised_scene.h"

namespace sextant {

using namespace detail::resolution;
namespace {

struct Surface {
  int width = 0;
  int height = 0;
  std::vector<Vec3f> points;
  std::vector<Vec3f> normals;
};

SurfaceStatistics statistics_of(const Context& context, const Surface& surface,
                                StatisticsMode mode = StatisticsMode::kRobust) {
  const Image<Vec3f> points(copy(context, surface.points), surface.width, surface.height);
  const Image<Vec3f> normals(copy(context, surface.normals), surface.width, surface.height);
  return surface_statistics(context, points, normals, {.mode = mode});
}

/// A grid with these steps; normals turn by `turn_rad` from column to column.
Surface grid(int width, int height, double step_x, double step_y, double turn_rad) {
  Surface surface{width, height, {}, {}};
  for (int v = 0; v < height; ++v) {
    for (int u = 0; u < width; ++u) {
      surface.points.push_back(cast<float>(Vec3d{u * step_x, v * step_y, 1.0}));
      surface.normals.push_back(
          cast<float>(Vec3d{std::sin(turn_rad * u), 0, -std::cos(turn_rad * u)}));
    }
  }
  return surface;
}

/// The definition, in double precision.
struct Expected {
  double mean = 0;
  double deviation = 0;
  int pixels = 0;
};
struct ExpectedStatistics {
  Expected distance;
  Expected angle;
  double median = 0;
};
Expected moments_of(const std::vector<double>& values) {
  Expected result;
  for (const double value : values) result.mean += value / static_cast<double>(values.size());
  for (const double value : values) {
    result.deviation +=
        (value - result.mean) * (value - result.mean) / static_cast<double>(values.size());
  }
  result.deviation = std::sqrt(result.deviation);
  result.pixels = static_cast<int>(values.size());
  return result;
}
template <class Visit>
void visit_links(const Surface& surface, int u, int v, const Visit& visit) {
  const int steps[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
  const auto here = static_cast<std::size_t>(v * surface.width + u);
  for (const auto& step : steps) {
    const int x = u + step[0];
    const int y = v + step[1];
    if (x < 0 || y < 0 || x >= surface.width || y >= surface.height) continue;
    const auto there = static_cast<std::size_t>(y * surface.width + x);
    const double length =
        norm(cast<double>(surface.points[there]) - cast<double>(surface.points[here]));
    if (!std::isfinite(length)) continue;
    visit(length, testing::angle_rad(cast<double>(surface.normals[here]),
                                     cast<double>(surface.normals[there])));
  }
}
ExpectedStatistics expected_of(const Surface& surface, StatisticsMode mode) {
  std::vector<double> lengths;
  for (int v = 0; v < surface.height; ++v) {
    for (int u = 0; u < surface.width; ++u) {
      visit_links(surface, u, v, [&](double length, double) { lengths.push_back(length); });
    }
  }
  std::sort(lengths.begin(), lengths.end());
  ExpectedStatistics result;
  result.median = lengths.empty() ? NAN : lengths[(lengths.size() - 1) / 2];
  const double longest =
      mode == StatisticsMode::kPaper
          ? INFINITY
          : 4.0 * link_length_of_bin(link_bin(static_cast<float>(result.median)));
  std::vector<double> distances;
  std::vector<double> angles;
  for (int v = 0; v < surface.height; ++v) {
    for (int u = 0; u < surface.width; ++u) {
      double distance = 0, angle = 0;
      int links = 0, turns = 0;
      visit_links(surface, u, v, [&](double length, double turn) {
        if (length > longest) return;
        distance += length;
        ++links;
        if (std::isnan(turn)) return;
        angle += turn;
        ++turns;
      });
      if (links > 0) distances.push_back(distance / links);
      if (turns > 0) angles.push_back(angle / turns);
    }
  }
  result.distance = moments_of(distances);
  result.angle = moments_of(angles);
  return result;
}

/// Two noisy plates, one behind the other, with holes in points and normals.
Surface plates(std::uint64_t seed, int width, int height) {
  Surface surface{width, height, {}, {}};
  for (int v = 0; v < height; ++v) {
    for (int u = 0; u < width; ++u) {
      const Random random{seed, static_cast<std::uint64_t>(v * width + u)};
      const double depth = (u < width / 2 ? 1.0 : 1.6) + 0.0005 * random.normal(0);
      Vec3d p{(u - 40) / 525.0 * depth, (v - 30) / 525.0 * depth, depth};
      Vec3d n = normalized(Vec3d{0.2 * random.normal(1), 0.2 * random.normal(2), -1});
      if (random.uniform(3) < 0.1f) p.x = NAN;
      if (random.uniform(4) < 0.1f) n = {NAN, NAN, NAN};
      surface.points.push_back(cast<float>(p));
      surface.normals.push_back(cast<float>(n));
    }
  }
  return surface;
}

TEST(SurfaceStatistics, UniformGridIsExact) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const StatisticsMode mode : {StatisticsMode::kRobust, StatisticsMode::kPaper}) {
      const SurfaceStatistics s = statistics_of(context, grid(150, 70, 0.25, 0.25, 0), mode);
      // Quarters are exact in float, so are their lengths up to the last digits of the root.
      EXPECT_NEAR(s.resolution_m, 0.25, 1e-7);
      EXPECT_NEAR(s.distance_deviation_m, 0, 1e-7);
      EXPECT_NEAR(s.max_edge_m, 0.25, 2e-7);
      EXPECT_EQ(s.max_angle_rad, 0);
      EXPECT_EQ(s.distances, 150 * 70);
      EXPECT_EQ(s.angles, 150 * 70);
    }
  }
}

TEST(SurfaceStatistics, RectangularGridHasItsAnalyticValues) {
  constexpr int kWidth = 90;
  constexpr int kHeight = 41;
  constexpr double kX = 0.002, kY = 0.003, kTurn = 0.05;
  // Pixels inside have two links each way, the border one less, the corners one each way.
  const double inside = (kWidth - 2) * (kHeight - 2);
  const double sides = 2 * (kHeight - 2);  // one horizontal link
  const double ends = 2 * (kWidth - 2);    // one vertical link
  const double pixels = kWidth * kHeight;
  const auto mean = [&](double x, double y, int power) {
    return (inside * std::pow((2 * x + 2 * y) / 4, power) +
            sides * std::pow((x + 2 * y) / 3, power) + ends * std::pow((2 * x + y) / 3, power) +
            4 * std::pow((x + y) / 2, power)) /
           pixels;
  };
  const auto deviation = [&](double x, double y) {
    return std::sqrt(mean(x, y, 2) - mean(x, y, 1) * mean(x, y, 1));
  };
  const Surface surface = grid(kWidth, kHeight, kX, kY, kTurn);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const SurfaceStatistics s = statistics_of(context, surface);
    EXPECT_NEAR(s.resolution_m, mean(kX, kY, 1), 1e-7);
    EXPECT_NEAR(s.distance_deviation_m, deviation(kX, kY), 1e-7);
    EXPECT_NEAR(s.max_edge_m, mean(kX, kY, 1) + deviation(kX, kY), 2e-7);
    // Vertical links do not turn.
    EXPECT_NEAR(s.mean_angle_rad, mean(kTurn, 0, 1), 1e-6);
    EXPECT_NEAR(s.angle_deviation_rad, deviation(kTurn, 0), 2e-6);
  }
}

TEST(SurfaceStatistics, AgreeWithTheDefinition) {
  for (const auto& [width, height] : {std::pair{97, 75}, {64, 16}, {65, 17}, {2, 3}, {200, 1}}) {
    const Surface surface = plates(testing::seed_of_test(), width, height);
    for (const StatisticsMode mode : {StatisticsMode::kRobust, StatisticsMode::kPaper}) {
      const ExpectedStatistics expected = expected_of(surface, mode);
      for (const Context& context : testing::all_contexts()) {
        SCOPED_TRACE(testing::describe(context) + ", width " + std::to_string(width));
        const SurfaceStatistics s = statistics_of(context, surface, mode);
        EXPECT_EQ(s.distances, expected.distance.pixels);
        EXPECT_EQ(s.angles, expected.angle.pixels);
        EXPECT_NEAR(s.resolution_m, expected.distance.mean, 1e-5 * expected.distance.mean);
        EXPECT_NEAR(s.distance_deviation_m, expected.distance.deviation,
                    1e-5 * expected.distance.mean);
        EXPECT_NEAR(s.mean_angle_rad, expected.angle.mean, 1e-5 * expected.angle.mean);
        EXPECT_NEAR(s.angle_deviation_rad, expected.angle.deviation, 1e-5 * expected.angle.mean);
        EXPECT_FLOAT_EQ(s.max_angle_rad, s.mean_angle_rad + s.angle_deviation_rad);
        if (mode == StatisticsMode::kRobust) {
          EXPECT_NEAR(s.median_link_m, expected.median, 0.03 * expected.median);
        } else {
          EXPECT_TRUE(std::isnan(s.median_link_m));
        }
      }
    }
  }
}

TEST(SurfaceStatistics, ADepthStepMattersInPaperModeOnly) {
  const Surface surface = plates(testing::seed_of_test(), 97, 75);
  const SurfaceStatistics robust = statistics_of(Context::cpu(), surface);
  const SurfaceStatistics paper = statistics_of(Context::cpu(), surface, StatisticsMode::kPaper);
  EXPECT_LT(robust.max_edge_m, 0.006f);
  EXPECT_GT(paper.max_edge_m, 5 * robust.max_edge_m);
}

TEST(SurfaceStatistics, SameBitsForEveryThreadCount) {
  const Surface surface = plates(testing::seed_of_test(), 200, 150);
  const SurfaceStatistics one = statistics_of(Context::cpu(1), surface);
  for (const int threads : {2, 7}) {
    const SurfaceStatistics many = statistics_of(Context::cpu(threads), surface);
    EXPECT_EQ(std::memcmp(&one, &many, sizeof one), 0);
  }
  for (const Context& context : testing::all_contexts()) {
    const SurfaceStatistics first = statistics_of(context, surface);
    const SurfaceStatistics again = statistics_of(context, surface);
    EXPECT_EQ(std::memcmp(&first, &again, sizeof first), 0);
  }
}

TEST(SurfaceStatistics, BadDataHasADefinedResult) {
  const Vec3f nan{NAN, NAN, NAN};
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const StatisticsMode mode : {StatisticsMode::kRobust, StatisticsMode::kPaper}) {
      for (const Surface& surface :
           {Surface{}, Surface{1, 1, {{0, 0, 1}}, {{0, 0, -1}}},
            Surface{30, 30, std::vector<Vec3f>(900, nan), std::vector<Vec3f>(900, nan)},
            Surface{30, 30, std::vector<Vec3f>(900, {0, 0, INFINITY}),
                    std::vector<Vec3f>(900, nan)}}) {
        const SurfaceStatistics s = statistics_of(context, surface, mode);
        EXPECT_EQ(s.distances, 0);
        EXPECT_TRUE(std::isnan(s.resolution_m));
        EXPECT_TRUE(std::isnan(s.max_angle_rad));
      }
      const Surface equal{30, 30, std::vector<Vec3f>(900, {0, 0, 1}), std::vector<Vec3f>(900, nan)};
      const SurfaceStatistics s = statistics_of(context, equal, mode);
      EXPECT_EQ(s.distances, 900);
      EXPECT_EQ(s.resolution_m, 0.0f);
      EXPECT_EQ(s.angles, 0);
    }
  }
  const Context cpu = Context::cpu();
  Image<Vec3f> points(cpu, 8, 8);
  Image<Vec3f> small(cpu, 7, 8);
  EXPECT_THROW(surface_statistics(cpu, points, small), Error);
}

TEST(SurfaceStatistics, OneInfinitePointSpoilsNothing) {
  Surface surface{30, 30, {}, std::vector<Vec3f>(900, {0, 0, -1})};
  for (int i = 0; i < 900; ++i) {
    surface.points.push_back(
        {0.001f * static_cast<float>(i % 30), 0.001f * static_cast<float>(i / 30), 1.0f});
  }
  surface.points[450].x = INFINITY;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const StatisticsMode mode : {StatisticsMode::kRobust, StatisticsMode::kPaper}) {
      const SurfaceStatistics s = statistics_of(context, surface, mode);
      EXPECT_EQ(s.distances, 899);
      EXPECT_NEAR(s.resolution_m, 0.001f, 1e-8f);
    }
  }
}

TEST(SurfaceStatistics, AnglesFromChords) {
  for (int i = 0; i < 2000; ++i) {
    const double angle = i < 1000 ? std::pow(10, -7 + i / 150.0) : (i - 1000) * 3.14159 / 1000;
    if (angle > 3.14159) continue;
    const Vec3f n{0, 0, 1};
    const Vec3f m = cast<float>(Vec3d{std::sin(angle), 0, std::cos(angle)});
    // Half the chord is wrong by 2e-7, from the vector's rounding and its own, and the arc sine
    // steepens towards a half turn.
    const double tolerance = 4e-7 / std::max(std::cos(angle / 2), 1e-3);
    EXPECT_NEAR(angle_between(n, m), angle, tolerance) << angle;
  }
}

TEST(SurfaceStatistics, LinkBins) {
  for (double length = 1e-5; length < 1e3; length *= 1.01) {
    const float back = link_length_of_bin(link_bin(static_cast<float>(length)));
    EXPECT_NEAR(back, length, 0.0157 * length);  // half a bin of 1/32 of an octave's foot
  }
  EXPECT_EQ(link_bin(0.0f), 0);
  EXPECT_EQ(link_bin(1e30f), kLinkBins - 1);
}

}  // namespace
}  // namespace sextant
