// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/cloud_normals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>
#include <numeric>

#include "sextant/core/graph.h"
#include "sextant/core/random.h"
#include "sextant/core/rigid3.h"
#include "sextant/surface/cloud_normals/math.h"
#include "tests/devices.h"
#include "tests/neighbour_clouds.h"

namespace sextant {

using namespace detail::cloud_normals;
namespace {

const CloudNormalsOptions kWeighted{.method = CloudNormalsMethod::kWeighted};

double angle_deg(const Vec3f& a, const Vec3f& b) {
  const Vec3d u = cast<double>(a), v = cast<double>(b);
  return std::atan2(norm(cross(u, v)), dot(u, v)) * 180.0 / std::numbers::pi;
}

std::vector<Vec3f> normals_of(const Context& context, const std::vector<Vec3f>& points,
                              const CloudNormalsOptions& options) {
  return to_host(context, estimate_cloud_normals(context, copy(context, points), options));
}

bool same_bits(const Vec3f& a, const Vec3f& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

/// What the header promises, by looking at all points, in double.
Vec3d oracle_normal(const std::vector<Vec3f>& points, std::size_t at, int k, double& gap) {
  std::vector<std::pair<float, std::size_t>> order;
  for (std::size_t i = 0; i < points.size(); ++i) {
    order.emplace_back(squared_distance(points[i], points[at]), i);
  }
  std::sort(order.begin(), order.end());
  order.resize(static_cast<std::size_t>(k));
  Vec3d mean;
  for (const auto& [distance_sq, i] : order) mean += cast<double>(points[i]) / double(k);
  Sym3d scatter;
  for (const auto& [distance_sq, i] : order) {
    scatter = scatter + outer(cast<double>(points[i]) - mean);
  }
  const Eigen3<double> e = eigen_jacobi(scatter);
  gap = (e.values[1] - e.values[0]) / e.values[2];
  const Vec3d normal = e.vectors.row[0];
  return dot(normal, cast<double>(points[at])) > 0 ? -normal : normal;
}

/// Points on the sphere of the given radius at `centre`, evenly spread (Fibonacci's spiral).
std::vector<Vec3f> sphere_points(int count, float radius_m, const Vec3f& centre) {
  std::vector<Vec3f> points;
  for (int i = 0; i < count; ++i) {
    const double z = 1.0 - (2.0 * i + 1.0) / count;
    const double turn = i * std::numbers::pi * (3.0 - std::sqrt(5.0));
    const double r = std::sqrt(1.0 - z * z);
    points.push_back(centre +
                     cast<float>(Vec3d{r * std::cos(turn), r * std::sin(turn), z}) * radius_m);
  }
  return points;
}

TEST(CloudNormals, OfAPlaneAreExact) {
  const std::uint64_t seed = testing::seed_of_test();
  // Far from the origin, where float has steps of 0.06 mm at 1 km: take a plane whose points have
  // exact coordinates, so that nothing but the method can be wrong.
  for (const float offset_m : {0.0f, 1024.0f}) {
    std::vector<Vec3f> points;
    for (int i = 0; i < 3000; ++i) {
      const Random random{seed, static_cast<std::uint64_t>(i)};
      const float x = static_cast<float>(random.below(2048, 0)) / 1024.0f;
      const float y = static_cast<float>(random.below(2048, 1)) / 1024.0f;
      points.push_back({offset_m + x, y, 4.0f + 0.5f * x - 0.25f * y});
    }
    const Vec3f truth = normalized(Vec3f{0.5f, -0.25f, -1.0f});
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      for (const CloudNormalsOptions& options :
           {CloudNormalsOptions{.k = 15}, CloudNormalsOptions{.k = 64},
            CloudNormalsOptions{.radius_m = 0.1f}, kWeighted,
            CloudNormalsOptions{.method = CloudNormalsMethod::kWeighted, .sigma_m = 0.05f}}) {
        const Vec3f viewpoint{offset_m, 0, 0};
        CloudNormalsOptions seen = options;
        seen.viewpoint_m = viewpoint;
        for (const Vec3f& normal : normals_of(context, points, seen)) {
          ASSERT_LT(angle_deg(normal, truth), 0.01);
        }
      }
    }
  }
}

TEST(CloudNormals, OfASphereAndACylinder) {
  constexpr int kCount = 20000;
  constexpr float kRadius_m = 0.1f;
  const Vec3f centre{0.2f, -0.1f, 1.0f};
  const std::vector<Vec3f> sphere = sphere_points(kCount, kRadius_m, centre);
  std::vector<Vec3f> cylinder;
  for (int i = 0; i < kCount; ++i) {
    const float turn = static_cast<float>(i % 200) / 200.0f * 2.0f * std::numbers::pi_v<float>;
    const float along = static_cast<float>(i / 200) * 0.003f + static_cast<float>(i % 2) * 0.0015f;
    cylinder.push_back(centre +
                       Vec3f{kRadius_m * std::cos(turn), along, kRadius_m * std::sin(turn)});
  }
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    // Seen from the centre, normals point inwards. The neighbourhood is a disc of 15 points, of
    // radius sqrt(15 · 4 R² / n) = 0.055 R; its mean lies off the point by less than a fifth of
    // that and the plane turns by offset / R < 0.011 rad.
    const auto normals = normals_of(context, sphere, {.k = 15, .viewpoint_m = centre});
    for (std::size_t i = 0; i < sphere.size(); ++i) {
      ASSERT_LT(angle_deg(normals[i], normalized(centre - sphere[i])), 0.63) << "point " << i;
    }
    // Away from the cylinder's ends. Points within r = 8 mm lie symmetrically up to one ring of
    // spacing 3 mm: the mean is off by less than 1.5 mm, 0.015 rad.
    const auto round = normals_of(context, cylinder, {.radius_m = 0.008f, .viewpoint_m = centre});
    for (std::size_t i = 2000; i < cylinder.size() - 2000; ++i) {
      Vec3f towards = centre - cylinder[i];
      towards.y = 0;
      // The viewpoint lies on the axis at the lower end, so inwards is towards it.
      ASSERT_LT(angle_deg(round[i], normalized(towards)), 0.86) << "point " << i;
    }
  }
}

TEST(CloudNormals, EqualAnOracleInDoubleOnNoise) {
  const std::uint64_t seed = testing::seed_of_test();
  std::vector<Vec3f> points = testing::organised_cloud(seed).points;
  std::erase_if(points, [](const Vec3f& p) { return !is_finite(p); });
  for (const int k : {3, 15, 40}) {
    SCOPED_TRACE("k = " + std::to_string(k));
    std::vector<Vec3f> truth;
    std::vector<double> gaps;
    for (std::size_t i = 0; i < points.size(); ++i) {
      gaps.emplace_back();
      truth.push_back(cast<float>(oracle_normal(points, i, k, gaps.back())));
    }
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const auto normals = normals_of(context, points, {.k = k});
      int compared = 0;
      for (std::size_t i = 0; i < points.size(); ++i) {
        if (gaps[i] < 0.01) continue;
        // A normal across the line of sight may be turned either way by the last bit.
        const float side = dot(truth[i], normalized(points[i]));
        const Vec3f expected =
            std::abs(side) < 1e-4f && dot(normals[i], truth[i]) < 0 ? -truth[i] : truth[i];
        ASSERT_LT(angle_deg(normals[i], expected), 0.01) << "point " << i;
        ++compared;
      }
      EXPECT_GT(compared, 500);
    }
  }
}

/// By definition, in double: weighted mean and covariance of all points nearer than 3 σ.
TEST(CloudNormals, WithWeightsEqualAnOracleInDouble) {
  const std::uint64_t seed = testing::seed_of_test();
  std::vector<Vec3f> points = testing::organised_cloud(seed).points;
  constexpr float kSigma_m = 0.05f;
  std::vector<Eigen3<double>> truth;
  for (const Vec3f& p : points) {
    double total = 0;
    Vec3d mean;
    Sym3d squares;
    for (const Vec3f& q : points) {
      const Vec3d d = cast<double>(q) - cast<double>(p);
      const double ratio_sq = norm_sq(d) / double(kSigma_m * kSigma_m);
      if (!(ratio_sq < 9)) continue;
      const double weight = std::exp(-ratio_sq);
      total += weight;
      mean += d * weight;
      squares = squares + outer(d) * weight;
    }
    truth.push_back(eigen_jacobi(squares - outer(mean) * (1 / std::max(total, 1e-300))));
  }
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const auto normals =
        normals_of(context, points, {.method = CloudNormalsMethod::kWeighted, .sigma_m = kSigma_m});
    int compared = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      ASSERT_EQ(is_finite(normals[i]), is_finite(points[i])) << i;
      const Eigen3<double>& e = truth[i];
      if (!is_finite(points[i]) || !(e.values[1] - e.values[0] > 0.01 * e.values[2])) continue;
      // Up to sign: a voter at 3 σ to the last bit would weigh 1e-4.
      const double angle = angle_deg(normals[i], cast<float>(e.vectors.row[0]));
      ASSERT_LT(std::min(angle, 180 - angle), 0.01) << "point " << i;
      ASSERT_GE(dot(normals[i], -points[i]), 0);
      ++compared;
    }
    EXPECT_GT(compared, 1000);
  }
}

/// The function that a GPU thread runs, on the host.
TEST(CloudNormals, OfOnePointEqualThoseByCells) {
  const std::uint64_t seed = testing::seed_of_test();
  const Context context = Context::cpu(2);
  const std::vector<Vec3f> points = testing::organised_cloud(seed).points;
  for (const CloudNormalsOptions& options :
       {CloudNormalsOptions{.k = 15}, CloudNormalsOptions{.radius_m = 0.08f}}) {
    const auto grid = build_neighbour_grid(context, view_of(points));
    std::vector<Vec3f> by_cells(points.size());
    std::vector<Vec3f> one_by_one(points.size());
    estimate_cloud_normals_into(context, grid, options, view_of(by_cells));
    const CloudNormal<16> nearest{grid.view(), options.k, 0, {}, one_by_one.data()};
    const CloudNormal<0> within{grid.view(), 0, options.radius_m, {}, one_by_one.data()};
    for (std::int64_t i = 0; i < grid.size(); ++i) options.radius_m > 0 ? within(i) : nearest(i);
    int finite = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      ASSERT_EQ(is_finite(by_cells[i]), is_finite(one_by_one[i])) << "point " << i;
      if (!is_finite(by_cells[i])) continue;
      ++finite;
      // Up to sign: on noise a normal may lie across the line of sight.
      ASSERT_LT(norm(cross(by_cells[i], one_by_one[i])), 2e-4f) << "point " << i;
    }
    EXPECT_GT(finite, 1000);
  }
}

TEST(CloudNormals, MoveWithTheCloudAndDoNotDependOnItsOrder) {
  const std::vector<Vec3f> points = sphere_points(3000, 0.3f, {0, 0, 1.5f});
  const Rigid3f moved_from_here{exp_rotation(Vec3f{0.4f, -0.7f, 0.2f}), {0.3f, 0.1f, -0.2f}};
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const auto normals = normals_of(context, points, {});
    std::vector<Vec3f> moved, reversed(points.rbegin(), points.rend());
    for (const Vec3f& p : points) moved.push_back(moved_from_here * p);
    const auto moved_normals =
        normals_of(context, moved, {.viewpoint_m = moved_from_here.translation});
    const auto reversed_normals = normals_of(context, reversed, {});
    for (std::size_t i = 0; i < points.size(); ++i) {
      // Rounding by 1e-7 m in a neighbourhood of 0.02 m, and now and then another 15th neighbour.
      ASSERT_LT(angle_deg(moved_normals[i], moved_from_here.rotation * normals[i]), 0.3);
      ASSERT_LT(angle_deg(reversed_normals[points.size() - 1 - i], normals[i]), 0.3);
    }
  }
}

TEST(CloudNormals, HaveTheSameBitsForEveryNumberOfThreads) {
  const std::uint64_t seed = testing::seed_of_test();
  const std::vector<Vec3f> points = testing::organised_cloud(seed).points;
  for (const CloudNormalsOptions& options :
       {CloudNormalsOptions{.k = 15}, CloudNormalsOptions{.radius_m = 0.05f}, kWeighted}) {
    const auto one = normals_of(Context::cpu(1), points, options);
    for (const int threads : {2, 7}) {
      const auto many = normals_of(Context::cpu(threads), points, options);
      for (std::size_t i = 0; i < one.size(); ++i) {
        ASSERT_TRUE(same_bits(one[i], many[i]) || !is_finite(one[i])) << "point " << i;
      }
    }
  }
}

TEST(CloudNormals, OfDegenerateCloudsAreNaN) {
  const std::uint64_t seed = testing::seed_of_test();
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const testing::TestCloud& cloud : testing::test_clouds(seed)) {
      SCOPED_TRACE(cloud.name);
      for (const CloudNormalsOptions& options :
           {CloudNormalsOptions{.k = 15}, CloudNormalsOptions{.k = 3},
            CloudNormalsOptions{.radius_m = 0.2f}, kWeighted}) {
        const auto normals = normals_of(context, cloud.points, options);
        ASSERT_EQ(normals.size(), cloud.points.size());
        const bool no_plane = cloud.name == "coincident" || cloud.name == "one point" ||
                              cloud.name == "nothing but NaN";
        for (std::size_t i = 0; i < normals.size(); ++i) {
          if (no_plane || !is_finite(cloud.points[i])) {
            EXPECT_FALSE(is_finite(normals[i]));
          } else if (is_finite(normals[i])) {
            EXPECT_NEAR(norm(normals[i]), 1.0f, 1e-5f);
          }
        }
      }
    }
    // On a line through points with exact coordinates, and with too few neighbours.
    std::vector<Vec3f> line;
    for (int i = 0; i < 50; ++i) line.push_back(Vec3f{1, 2, -4} * static_cast<float>(i));
    for (const Vec3f& normal : normals_of(context, line, {.k = 7})) EXPECT_FALSE(is_finite(normal));
    for (const Vec3f& normal : normals_of(context, line, kWeighted)) {
      EXPECT_FALSE(is_finite(normal));
    }
    for (const CloudNormalsOptions& options : {CloudNormalsOptions{.k = 15}, kWeighted}) {
      for (const Vec3f& normal : normals_of(context, {{0, 0, 1}, {1, 0, 1}}, options)) {
        EXPECT_FALSE(is_finite(normal));
      }
    }
    for (const Vec3f& normal : normals_of(context, {{0, 0, 1}, {1, 0, 1}, {0, 1, 1}}, {.k = 15})) {
      EXPECT_LT(angle_deg(normal, {0, 0, -1}), 1e-4);
    }
  }
}

TEST(CloudNormals, AreThoseOfFifteenNeighboursUnlessAskedOtherwise) {
  const std::vector<Vec3f> points = testing::organised_cloud(testing::seed_of_test()).points;
  const Context context = Context::cpu(1);
  const auto expect_same = [&](const CloudNormalsOptions& a, const CloudNormalsOptions& b) {
    const auto found = normals_of(context, points, a), expected = normals_of(context, points, b);
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_TRUE(same_bits(found[i], expected[i]) || !is_finite(found[i]));
    }
  };
  expect_same({}, {.method = CloudNormalsMethod::kPca, .k = 15});
  expect_same({.sigma_m = 0.1f}, {.method = CloudNormalsMethod::kWeighted, .sigma_m = 0.1f});
  expect_same({.k = 20}, {.method = CloudNormalsMethod::kPca, .k = 20});
  expect_same({.radius_m = 0.1f}, {.method = CloudNormalsMethod::kPca, .radius_m = 0.1f});
}

TEST(CloudNormals, IntoRunInAGraph) {
  const std::vector<Vec3f> host = sphere_points(2000, 0.2f, {0, 0, 1});
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Buffer<Vec3f> points = copy(context, host);
    Buffer<Vec3f> normals(context, points.size());
    NeighbourGrid grid(context, points.size());
    const Graph graph = Graph::capture(context, [&] {
      const CloudNormalsOptions nearest{.k = 15};
      build_neighbour_grid_into(context, points, grid_options(nearest), grid);
      estimate_cloud_normals_into(context, grid, nearest, normals);
    });
    graph.launch();
    context.synchronize();
    const auto expected = to_host(context, estimate_cloud_normals(context, points, {.k = 15}));
    const auto found = to_host(context, normals);
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_TRUE(same_bits(found[i], expected[i]));
    }
  }
}

TEST(CloudNormals, RefuseMisuse) {
  const Context context = Context::cpu(1);
  const std::vector<Vec3f> points{{0, 0, 1}, {1, 0, 1}, {0, 1, 1}};
  std::vector<Vec3f> normals(2);
  EXPECT_THROW(estimate_cloud_normals(context, view_of(points), {.k = 2}), Error);
  EXPECT_THROW(estimate_cloud_normals(context, view_of(points), {.k = 65}), Error);
  EXPECT_THROW(estimate_cloud_normals(context, view_of(points), {.radius_m = -1}), Error);
  EXPECT_THROW(estimate_cloud_normals(context, view_of(points), {.radius_m = NAN}), Error);
  EXPECT_THROW(estimate_cloud_normals(context, view_of(points), {.viewpoint_m = {NAN, 0, 0}}),
               Error);
  const NeighbourGrid grid = build_neighbour_grid(context, view_of(points));
  EXPECT_THROW(estimate_cloud_normals_into(context, grid, {.k = 15}, view_of(normals)), Error);
  normals.resize(3);
  // Without σ there is nothing that could be done without waiting.
  EXPECT_THROW(estimate_cloud_normals_into(context, grid, kWeighted, view_of(normals)), Error);
  EXPECT_NO_THROW(estimate_cloud_normals(context, view_of(points), kWeighted));
  // Options of the other method are not ignored.
  EXPECT_THROW(estimate_cloud_normals(context, view_of(points),
                                      {.method = CloudNormalsMethod::kWeighted, .k = 15}),
               Error);
  EXPECT_THROW(estimate_cloud_normals(context, view_of(points), {.k = 15, .sigma_m = 0.1f}), Error);
  EXPECT_THROW(estimate_cloud_normals_into(context, NeighbourGrid{}, {}, view_of(normals)), Error);
}

}  // namespace
}  // namespace sextant
