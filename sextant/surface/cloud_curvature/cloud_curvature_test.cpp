// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/cloud_curvature.h"

#include <gtest/gtest.h>

#include <numbers>

#include "sextant/core/graph.h"
#include "sextant/core/random.h"
#include "sextant/core/rigid3.h"
#include "sextant/surface/cloud_curvature/math.h"
#include "tests/devices.h"
#include "tests/neighbour_clouds.h"

namespace sextant {

using namespace detail::cloud_curvature;
namespace {

/// A CloudCurvature on the host.
struct Found {
  std::vector<float> k1, k2;
  std::vector<Vec3f> direction1, normals, points;
  std::vector<std::uint8_t> valid;
};

Found curvature_of(const Context& context, const std::vector<Vec3f>& points,
                   const CloudCurvatureOptions& options, const std::vector<Vec3f>& normals = {}) {
  const CloudCurvature found =
      estimate_cloud_curvature(context, copy(context, points), copy(context, normals), options);
  return {to_host(context, found.k1_per_m),   to_host(context, found.k2_per_m),
          to_host(context, found.direction1), to_host(context, found.normals),
          to_host(context, found.points),     to_host(context, found.valid)};
}

double angle_deg(const Vec3f& a, const Vec3f& b) {
  const Vec3d u = cast<double>(a), v = cast<double>(b);
  return std::atan2(norm(cross(u, v)), dot(u, v)) * 180.0 / std::numbers::pi;
}

/// Points on the cap of a sphere around `centre` that faces the origin, evenly spread and each
/// `offset_m(i)` outside: those with a cosine of at least `least_cosine` to the line of sight.
template <class Offset>
std::vector<Vec3f> cap_points(int count, double radius_m, double least_cosine, const Vec3d& centre,
                              const Offset& offset_m) {
  std::vector<Vec3f> points;
  const Vec3d towards = normalized(-centre);
  const Vec3d x = normalized(cross(towards, Vec3d{0.3, 1, 0.2}));
  const Vec3d y = cross(towards, x);
  for (int i = 0; i < count; ++i) {
    const double z = 1.0 - (1.0 - least_cosine) * (i + 0.5) / count;
    const double turn = i * std::numbers::pi * (3.0 - std::sqrt(5.0));
    const double r = std::sqrt(1.0 - z * z);
    const Vec3d out = x * (r * std::cos(turn)) + y * (r * std::sin(turn)) + towards * z;
    points.push_back(cast<float>(centre + out * (radius_m + offset_m(i))));
  }
  return points;
}
double nothing(int) { return 0; }

const Vec3d kCentre{0.1, -0.05, 1.0};

TEST(CloudCurvature, OfAPlaneIsZero) {
  const std::uint64_t seed = testing::seed_of_test();
  std::vector<Vec3f> points;
  for (int i = 0; i < 3000; ++i) {
    const Random random{seed, static_cast<std::uint64_t>(i)};
    const float x = static_cast<float>(random.below(2048, 0)) / 1024.0f;
    const float y = static_cast<float>(random.below(2048, 1)) / 1024.0f;
    points.push_back({x, y, 4.0f + 0.5f * x - 0.25f * y});  // exact
  }
  const Vec3f truth = normalized(Vec3f{0.5f, -0.25f, -1.0f});
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Found found = curvature_of(context, points, {.radius_m = 0.15f});
    for (std::size_t i = 0; i < points.size(); ++i) {
      ASSERT_EQ(found.valid[i], 1) << "point " << i;
      ASSERT_LT(std::abs(found.k1[i]), 1e-3f) << "point " << i;  // 1e-6 / mm
      ASSERT_LT(std::abs(found.k2[i]), 1e-3f) << "point " << i;
      ASSERT_LT(angle_deg(found.normals[i], truth), 0.001) << "point " << i;
      ASSERT_LT(norm(found.points[i] - points[i]), 1e-6f) << "point " << i;
    }
  }
}

/// No bias, however large the patch is beside the surface.
TEST(CloudCurvature, OfASphereIsThatOfTheSphere) {
  for (const double radius_m : {0.03, 0.05, 0.1}) {
    SCOPED_TRACE(radius_m);
    const float patch_m = 0.02f;
    const auto points = cap_points(1500, radius_m, 0.5, kCentre, nothing);
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const Found found = curvature_of(context, points, {.radius_m = patch_m});
      for (std::size_t i = 0; i < points.size(); ++i) {
        ASSERT_EQ(found.valid[i], 1) << "point " << i;
        // Coordinates are rounded by 6e-8 m; a patch turns that into some 1e-3 of 1/patch.
        ASSERT_NEAR(found.k1[i], 1 / radius_m, 1e-3 / patch_m) << "point " << i;
        ASSERT_NEAR(found.k2[i], 1 / radius_m, 1e-3 / patch_m) << "point " << i;
        const Vec3f truth = normalized(points[i] - cast<float>(kCentre));
        ASSERT_LT(angle_deg(found.normals[i], truth), 0.01) << "point " << i;
      }
    }
  }
}

TEST(CloudCurvature, OfACylinderHasItsDirections) {
  std::vector<Vec3f> points;
  constexpr double kRadius_m = 0.04;
  const Vec3d axis = normalized(Vec3d{1, 0.4, 0.2});
  const Vec3d up = normalized(cross(axis, Vec3d{0, 1, 0}));
  const Vec3d across = cross(axis, up);
  for (int i = 0; i < 6000; ++i) {
    const double turn = i * std::numbers::pi * (3.0 - std::sqrt(5.0));
    const double along = (i / 6000.0 - 0.5) * 0.2;
    points.push_back(cast<float>(kCentre + axis * along +
                                 (up * std::cos(turn) + across * std::sin(turn)) * kRadius_m));
  }
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const float patch_m = 0.015f;
    std::vector<Vec3f> outwards;
    for (const Vec3f& p : points) {
      const Vec3d d = cast<double>(p) - kCentre;
      outwards.push_back(cast<float>(normalized(d - axis * dot(axis, d))));
    }
    const Found found = curvature_of(context, points, {.radius_m = patch_m}, outwards);
    for (std::size_t i = 0; i < points.size(); ++i) {
      ASSERT_EQ(found.valid[i], 1) << "point " << i;
      ASSERT_NEAR(found.k1[i], 1 / kRadius_m, 1e-3 / patch_m) << "point " << i;
      ASSERT_NEAR(found.k2[i], 0, 1e-3 / patch_m) << "point " << i;
      ASSERT_LT(angle_deg(found.normals[i], outwards[i]), 0.01) << "point " << i;
      ASSERT_LT(std::abs(dot(found.direction1[i], cast<float>(axis))), 1e-3f) << "point " << i;
      ASSERT_NEAR(norm(found.direction1[i]), 1.0f, 1e-5f) << "point " << i;
    }
    // Turned over, all is the other way round.
    for (Vec3f& n : outwards) n = -n;
    const Found inside = curvature_of(context, points, {.radius_m = patch_m}, outwards);
    for (std::size_t i = 0; i < points.size(); ++i) {
      ASSERT_NEAR(inside.k2[i], -1 / kRadius_m, 1e-3 / patch_m) << "point " << i;
      ASSERT_LT(angle_deg(inside.normals[i], outwards[i]), 0.01) << "point " << i;
    }
  }
}

/// What least squares of a quadric over a disc of n points with noise σ gives: the mean curvature
/// has the deviation √48 σ / (h² √n), each part of the difference √24 σ / (h² √n), so k1 and k2 of
/// a sphere err by √96 σ / (h² √n).
double expected_rms(double sigma_m, double patch_m, double neighbours) {
  return std::sqrt(96 / neighbours) * sigma_m / (patch_m * patch_m);
}

struct NoisyCap {
  std::vector<Vec3f> points;
  double neighbours;  ///< within the patch
};
/// Sphere of 0.1 m with normal noise; `outlier_share` of the points are anywhere within ±15 mm.
NoisyCap noisy_cap(std::uint64_t seed, double sigma_m, double outlier_share, double patch_m,
                   int count = 4000) {
  constexpr double kLeastCosine = 0.6;
  NoisyCap cap;
  cap.points = cap_points(count, 0.1, kLeastCosine, kCentre, [&](int i) {
    const Random random{seed, static_cast<std::uint64_t>(i)};
    const bool outlier = static_cast<double>(random.uniform(1)) < outlier_share;
    return outlier ? 0.03 * static_cast<double>(random.uniform(2)) - 0.015
                   : sigma_m * random.normal(0);
  });
  const double area = 2 * std::numbers::pi * 0.01 * (1 - kLeastCosine);
  cap.neighbours = count * std::numbers::pi * patch_m * patch_m / area;
  return cap;
}

/// RMS error of both curvatures, away from the rim of the cap, of points that are no outliers.
double rms_of(const Found& found, const std::vector<Vec3f>& points, double sigma_m) {
  double sum = 0;
  double count = 0;
  for (std::size_t i = 0; i < points.size() / 2; ++i) {
    const double off_m = norm(cast<double>(points[i]) - kCentre) - 0.1;
    if (!found.valid[i] || std::abs(off_m) > 4 * sigma_m) continue;
    sum += (found.k1[i] - 10) * (found.k1[i] - 10) + (found.k2[i] - 10) * (found.k2[i] - 10);
    count += 2;
  }
  return std::sqrt(sum / count);
}

TEST(CloudCurvature, UnderNoiseIsAsGoodAsLeastSquares) {
  const std::uint64_t seed = testing::seed_of_test();
  constexpr float kPatch_m = 0.015f;
  for (const double sigma_m : {0.0002, 0.001}) {
    SCOPED_TRACE(sigma_m);
    const NoisyCap cap = noisy_cap(seed, sigma_m, 0, static_cast<double>(kPatch_m));
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const Found found = curvature_of(context, cap.points, {.radius_m = kPatch_m});
      const double expected = expected_rms(sigma_m, static_cast<double>(kPatch_m), cap.neighbours);
      // The ball cuts a curved disc with a little less reach than the flat one, and weights cost a
      // few percent; there are some 18 patches that do not overlap, which leaves 10 % to chance.
      EXPECT_NEAR(rms_of(found, cap.points, sigma_m), expected, 0.25 * expected);
      // The same fit puts points back: their noise is averaged over the neighbours.
      double left = 0;
      for (std::size_t i = 0; i < cap.points.size() / 2; ++i) {
        const double r = norm(cast<double>(found.points[i]) - kCentre) - 0.1;
        left += r * r / static_cast<double>(cap.points.size() / 2);
      }
      // The height in the middle of such a disc has the deviation 2 σ / √n.
      EXPECT_NEAR(std::sqrt(left), 2 * sigma_m / std::sqrt(cap.neighbours),
                  0.3 * 2 * sigma_m / std::sqrt(cap.neighbours));
    }
  }
}

TEST(CloudCurvature, OutliersDoLittle) {
  const std::uint64_t seed = testing::seed_of_test();
  constexpr float kPatch_m = 0.02f;
  constexpr double kSigma_m = 0.0005;
  const NoisyCap cap = noisy_cap(seed, kSigma_m, 0.2, static_cast<double>(kPatch_m));
  const double expected = expected_rms(kSigma_m, static_cast<double>(kPatch_m), cap.neighbours);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const double robust =
        rms_of(curvature_of(context, cap.points, {.radius_m = kPatch_m, .iterations = 10}),
               cap.points, kSigma_m);
    CloudCurvatureOptions plain;
    plain.radius_m = kPatch_m;
    plain.weights = CurvatureWeights::kNone;
    const double least_squares =
        rms_of(curvature_of(context, cap.points, plain), cap.points, kSigma_m);
    // Outliers have 17 times the noise; without weights the error is that of their mean square.
    EXPECT_GT(least_squares, 4 * expected);
    EXPECT_LT(robust, 2 * expected);
  }
}

/// How many points differ by more than the header allows.
std::size_t apart(const Found& a, const Found& b, float radius_m) {
  const float tolerance = 1e-3f / radius_m;
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.k1.size(); ++i) {
    if (!a.valid[i] && !b.valid[i]) continue;
    const bool same = std::abs(a.k1[i] - b.k1[i]) <= tolerance &&
                      std::abs(a.k2[i] - b.k2[i]) <= tolerance &&
                      norm(a.normals[i] - b.normals[i]) <= 1e-3f &&
                      norm(a.points[i] - b.points[i]) <= 1e-3f * radius_m;
    count += !same;  // also where one is NaN
  }
  return count;
}

TEST(CloudCurvature, IsTheSameOnEveryDevice) {
  const std::uint64_t seed = testing::seed_of_test();
  const std::vector<Vec3f> points = noisy_cap(seed, 0.0005, 0.05, 0.02, 3000).points;
  const Found reference = curvature_of(Context::cpu(1), points, {.radius_m = 0.02f});
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Found found = curvature_of(context, points, {.radius_m = 0.02f});
    EXPECT_LE(apart(found, reference, 0.02f), points.size() / 1000);
  }
}

/// The function that a GPU thread runs, on the host.
TEST(CloudCurvature, OfOnePointEqualsThatOfPacks) {
  const std::uint64_t seed = testing::seed_of_test();
  const Context context = Context::cpu(2);
  const std::vector<Vec3f> points = noisy_cap(seed, 0.001, 0.05, 0.02, 2000).points;
  for (const CurvatureWeights weights :
       {CurvatureWeights::kRobust, CurvatureWeights::kPaper, CurvatureWeights::kPaperRejecting,
        CurvatureWeights::kCode, CurvatureWeights::kNone}) {
    CloudCurvatureOptions options;
    options.radius_m = 0.02f;
    options.widen_below = 30;
    options.weights = weights;
    const Found packs = curvature_of(context, points, options);
    const auto grid =
        build_neighbour_grid(context, view_of(points), NeighbourGridOptions::for_radius(0.02f));
    Found one = packs;
    const CloudCurvatureJob job(grid.view(), {}, options,
                                {view_of(one.k1), view_of(one.k2), view_of(one.direction1),
                                 view_of(one.normals), view_of(one.points), view_of(one.valid)});
    for (std::int64_t i = 0; i < grid.size(); ++i) {
      if (job.rules.ours()) {
        CloudCurvaturePoint<true>{job}(i);
      } else {
        CloudCurvaturePoint<false>{job}(i);
      }
    }
    // A sample on the edge of being rejected changes its patch; the other weights are smooth.
    EXPECT_LE(apart(packs, one, options.radius_m), points.size() / 1000)
        << name_of(weights, kCurvatureWeights);
  }
}

TEST(CloudCurvature, MovesWithTheCloudAndScalesInversely) {
  const std::uint64_t seed = testing::seed_of_test();
  const std::vector<Vec3f> points = noisy_cap(seed, 0.0005, 0, 0.03, 2000).points;
  const Rigid3f moved_from_here{exp_rotation(Vec3f{0.4f, -0.7f, 0.2f}), {0.3f, 0.1f, -0.2f}};
  std::vector<Vec3f> moved, larger, reversed(points.rbegin(), points.rend());
  for (const Vec3f& p : points) {
    moved.push_back(moved_from_here * p);
    larger.push_back(p * 2.0f);
  }
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const CloudCurvatureOptions options{.radius_m = 0.03f};
    const Found here = curvature_of(context, points, options);
    const Found there = curvature_of(
        context, moved, {.radius_m = 0.03f, .viewpoint_m = moved_from_here.translation});
    const Found twice =
        curvature_of(context, larger, {.radius_m = 0.06f, .weight_scale_m = 0.002f});
    const Found back = curvature_of(context, reversed, options);
    std::size_t apart = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::size_t r = points.size() - 1 - i;
      // Rounding of 1e-7 m over a patch of 0.03 m, and now and then one more point on its rim,
      // which is one of 90 with a noise of 0.5 mm.
      apart +=
          std::abs(there.k1[i] - here.k1[i]) > 0.1f || std::abs(there.k2[i] - here.k2[i]) > 0.1f;
      ASSERT_LT(angle_deg(there.normals[i], moved_from_here.rotation * here.normals[i]), 0.5);
      ASSERT_NEAR(twice.k1[i], here.k1[i] / 2, 0.01f) << "point " << i;
      ASSERT_NEAR(back.k1[r], here.k1[i], 0.01f) << "point " << i;
      ASSERT_NEAR(back.k2[r], here.k2[i], 0.01f) << "point " << i;
    }
    EXPECT_LT(apart, points.size() / 50);
  }
}

TEST(CloudCurvature, HasTheSameBitsForEveryNumberOfThreads) {
  const std::uint64_t seed = testing::seed_of_test();
  const std::vector<Vec3f> points = testing::organised_cloud(seed).points;
  const auto bits = [](const std::vector<float>& values) {
    std::vector<std::uint32_t> words(values.size());
    std::memcpy(words.data(), values.data(), 4 * values.size());
    return words;
  };
  const Found one = curvature_of(Context::cpu(1), points, {.radius_m = 0.08f});
  for (const int threads : {2, 7}) {
    const Found many = curvature_of(Context::cpu(threads), points, {.radius_m = 0.08f});
    EXPECT_EQ(bits(one.k1), bits(many.k1));
    EXPECT_EQ(bits(one.k2), bits(many.k2));
    EXPECT_EQ(one.valid, many.valid);
  }
}

TEST(CloudCurvature, OfDegenerateCloudsIsNaNOrFinite) {
  const std::uint64_t seed = testing::seed_of_test();
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const testing::TestCloud& cloud : testing::test_clouds(seed)) {
      SCOPED_TRACE(cloud.name);
      for (const CloudCurvatureOptions& options :
           {CloudCurvatureOptions{}, CloudCurvatureOptions{.radius_m = 0.2f}}) {
        const Found found = curvature_of(context, cloud.points, options);
        ASSERT_EQ(found.k1.size(), cloud.points.size());
        for (std::size_t i = 0; i < found.k1.size(); ++i) {
          ASSERT_EQ(std::isfinite(found.k1[i]), found.valid[i] == 1);
          ASSERT_EQ(std::isfinite(found.k2[i]), found.valid[i] == 1);
          ASSERT_EQ(is_finite(found.normals[i]), found.valid[i] == 1);
          ASSERT_EQ(is_finite(found.points[i]), found.valid[i] == 1);
          if (!found.valid[i]) continue;
          EXPECT_TRUE(is_finite(cloud.points[i]));
          EXPECT_GE(found.k1[i], found.k2[i]);
          EXPECT_NEAR(norm(found.normals[i]), 1.0f, 1e-4f);
        }
      }
    }
  }
}

TEST(CloudCurvature, IntoRunsInAGraphAndWritesWhatIsAskedFor) {
  const std::uint64_t seed = testing::seed_of_test();
  const std::vector<Vec3f> host = noisy_cap(seed, 0.0005, 0, 0.03, 2000).points;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Buffer<Vec3f> points = copy(context, host);
    Buffer<float> k1(context, points.size());
    const CloudCurvatureOptions options{.radius_m = 0.03f, .clamp_per_m = 10.0f};
    CloudCurvatureViews out;
    out.k1_per_m = k1;
    NeighbourGrid grid(context, points.size());
    const Graph graph = Graph::capture(context, [&] {
      build_neighbour_grid_into(context, points, grid_options(options), grid);
      estimate_cloud_curvature_into(context, grid, {}, options, out);
    });
    graph.launch();
    context.synchronize();
    const auto expected =
        to_host(context, estimate_cloud_curvature(context, points, {}, options).k1_per_m);
    const auto found = to_host(context, k1);
    EXPECT_EQ(found, expected);
    EXPECT_EQ(*std::max_element(found.begin(), found.end()), 10.0f);
  }
}

}  // namespace
}  // namespace sextant
