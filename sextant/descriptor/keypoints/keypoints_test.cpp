// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/keypoints.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "sextant/core/graph.h"
#include "sextant/core/rigid3.h"
#include "sextant/descriptor/keypoints/math.h"
#include "tests/devices.h"
#include "tests/neighbour_clouds.h"

namespace sextant {

using namespace detail::keypoints;
namespace {

using Indices = std::vector<std::int32_t>;

Indices uniform_of(const Context& context, const std::vector<Vec3f>& points, float leaf_m) {
  return to_host(context, uniform_keypoints(context, copy(context, points), {.leaf_m = leaf_m}));
}
Indices iss_of(const Context& context, const std::vector<Vec3f>& points,
               const IssOptions& options) {
  return to_host(context, iss_keypoints(context, copy(context, points), options));
}

/// What the header says, voxel by voxel, over all points.
Indices uniform_oracle(const std::vector<Vec3f>& points, float leaf_m) {
  const VoxelGrid grid = voxel_grid(leaf_m);
  std::vector<std::pair<std::vector<float>, std::pair<float, std::int32_t>>> rows;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec3f p = points[i];
    if (!is_finite(p)) continue;
    const float distance_sq = squared_distance(p, grid.centre(p));
    rows.push_back({{grid.along(p.x), grid.along(p.y), grid.along(p.z)},
                    {distance_sq, static_cast<std::int32_t>(i)}});
  }
  std::sort(rows.begin(), rows.end());
  Indices chosen;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || rows[i].first != rows[i - 1].first) chosen.push_back(rows[i].second.second);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

Indices iss_oracle(const std::vector<Vec3f>& points, const IssOptions& options) {
  const auto within = [&](std::size_t i, float radius_m) {
    std::vector<std::size_t> found;
    for (std::size_t j = 0; is_finite(points[i]) && j < points.size(); ++j) {
      if (squared_distance(points[j], points[i]) < radius_m * radius_m) found.push_back(j);
    }
    return found;
  };
  std::vector<double> saliency(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    Sym3d scatter;
    const auto near = within(i, options.salient_radius_m);
    for (const std::size_t j : near) scatter = scatter + outer(cast<double>(points[j] - points[i]));
    const Eigen3<double> e = eigen_jacobi(scatter);
    if (static_cast<int>(near.size()) >= options.least_neighbours &&
        e.values[1] / e.values[2] < static_cast<double>(options.most_ratio_21) &&
        e.values[0] / e.values[1] < static_cast<double>(options.most_ratio_32) &&
        e.values[0] > 1e-14 * e.values[2]) {
      saliency[i] = e.values[0];
    }
  }
  Indices chosen;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto near = within(i, options.non_max_radius_m);
    const bool most = std::all_of(near.begin(), near.end(),
                                  [&](std::size_t j) { return saliency[j] <= saliency[i]; });
    if (saliency[i] > 0 && most && static_cast<int>(near.size()) >= options.least_neighbours) {
      chosen.push_back(static_cast<std::int32_t>(i));
    }
  }
  return chosen;
}

/// Four points to a voxel of 1 m with exact coordinates: at the centre's distance 0.125, 0.25
/// (twice) and 0.375 m, in an order that depends on the voxel.
TEST(UniformKeypoints, AreTheNearestToTheCentres) {
  std::vector<Vec3f> points;
  std::set<std::int32_t> truth;
  for (int voxel = 0; voxel < 125; ++voxel) {
    const Vec3f centre{static_cast<float>(voxel % 5) - 2.5f + 0.0f,
                       static_cast<float>(voxel / 5 % 5) + 0.5f,
                       static_cast<float>(voxel / 25) - 7.5f};
    for (int i = 0; i < 4; ++i) {
      const int kind = (i + voxel) % 4;
      if (kind == 0) truth.insert(static_cast<std::int32_t>(points.size()));
      const Vec3f offsets[] = {{0.125f, 0, 0}, {0, 0.25f, 0}, {0, 0, -0.25f}, {-0.375f, 0, 0}};
      points.push_back(centre + offsets[kind]);
    }
  }
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    EXPECT_EQ(uniform_of(context, points, 1.0f), Indices(truth.begin(), truth.end()));
  }
}

TEST(UniformKeypoints, EqualAnOracleOnAllKindsOfClouds) {
  const std::uint64_t seed = testing::seed_of_test();
  for (const testing::TestCloud& cloud : testing::test_clouds(seed)) {
    SCOPED_TRACE(cloud.name);
    if (cloud.name == "at the ends of float" || cloud.name == "one outlier") continue;
    const float leaf_m = cloud.name.find("km wide") != std::string::npos ? 1e4f : 0.2f;
    const Indices truth = uniform_oracle(cloud.points, leaf_m);
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      EXPECT_EQ(uniform_of(context, cloud.points, leaf_m), truth);
    }
  }
}

// One in a hundred at most: a sensor's far outliers change nothing for the points of a surface.
TEST(UniformKeypoints, FarPointsDoNotDisturbTheOthers) {
  const std::uint64_t seed = testing::seed_of_test();
  std::vector<Vec3f> points;
  for (int i = 0; i < 500; ++i) points.push_back(testing::uniform_point(seed, i));
  const Indices near = uniform_oracle(points, 0.1f);
  for (const std::vector<Vec3f>& far :
       {std::vector<Vec3f>{{1e6f, 0, 0}}, std::vector<Vec3f>{{-3e38f, 3e38f, 0}, {0, 2e7f, 0}},
        std::vector<Vec3f>{{-1e9f, -1e9f, -1e9f}, {1e9f, 1e9f, 1e9f}}}) {
    std::vector<Vec3f> all = points;
    all.insert(all.end(), far.begin(), far.end());
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      Indices found = uniform_of(context, all, 0.1f);
      std::erase_if(found, [](std::int32_t i) { return i >= 500; });
      EXPECT_EQ(found, near);
    }
  }
}

TEST(UniformKeypoints, RefuseTooManyVoxels) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    EXPECT_THROW(uniform_of(context, {{0, 0, 0}, {3e6f, 0, 0}}, 1.0f), Error);
    EXPECT_THROW(uniform_of(context, {{-3e38f, 0, 0}, {3e38f, 0, 0}}, 1.0f), Error);
    EXPECT_THROW(uniform_of(context, {{0, 0, 0}}, -1.0f), Error);
    EXPECT_EQ(uniform_of(context, {{0, 0, 0}}, 0.0f), Indices{0});  // any voxel holds it
    EXPECT_THROW(uniform_of(context, {{0, 0, 0}}, NAN), Error);
  }
}

/// Faces of a cube are planes and have no saliency; where three of them meet it is largest.
TEST(IssKeypoints, OfACubeLieAtItsCornersAndNotOnItsFaces) {
  constexpr int kEdge = 20;
  constexpr float kSpacing = 1.0f / 64;
  std::vector<Vec3f> points;
  for (int x = 0; x <= kEdge; ++x) {
    for (int y = 0; y <= kEdge; ++y) {
      for (int z = 0; z <= kEdge; ++z) {
        if (x % kEdge != 0 && y % kEdge != 0 && z % kEdge != 0) continue;
        points.push_back(
            Vec3f{static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)} * kSpacing);
      }
    }
  }
  // Symmetric corners have equal eigenvalues: the bounds must let them pass.
  const IssOptions options{.salient_radius_m = 4.5f * kSpacing,
                           .non_max_radius_m = 3.5f * kSpacing,
                           .most_ratio_21 = 1.5f,
                           .most_ratio_32 = 1.5f};
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    int at_corner[8] = {};
    for (const std::int32_t i : iss_of(context, points, options)) {
      const Vec3f p = points[static_cast<std::size_t>(i)] * (1.0f / kSpacing);
      const auto far = [](float c) { return c > kEdge / 2; };
      const auto from_end = [](float c) { return min_of(c, kEdge - c); };
      const Vec3f off{from_end(p.x), from_end(p.y), from_end(p.z)};
      // On a face within 4.5 spacings of no other face there is nothing.
      const int near_faces = int{off.x < 4.5f} + int{off.y < 4.5f} + int{off.z < 4.5f};
      EXPECT_GE(near_faces, 2) << i;
      if (norm(off) < 4.5f) ++at_corner[int{far(p.x)} + 2 * int{far(p.y)} + 4 * int{far(p.z)}];
    }
    for (const int found : at_corner) {
      EXPECT_GT(found, 0);
      EXPECT_EQ(found, at_corner[0]);
    }
  }
}

TEST(IssKeypoints, EqualAnOracleOnNoise) {
  std::vector<Vec3f> points = testing::organised_cloud(testing::seed_of_test()).points;
  for (const IssOptions& options :
       {IssOptions{.salient_radius_m = 0.11f, .non_max_radius_m = 0.07f},
        IssOptions{.salient_radius_m = 0.08f,
        .non_max_radius_m = 0.12f,
        .most_ratio_21 = 0.7f,
        .most_ratio_32 = 0.3f,
        .least_neighbours = 9}}) {
    const Indices truth = iss_oracle(points, options);
    ASSERT_GT(truth.size(), 3u);
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      EXPECT_EQ(iss_of(context, points, options), truth);
    }
  }
}

TEST(IssKeypoints, OfDegenerateCloudsAreNone) {
  const std::uint64_t seed = testing::seed_of_test();
  for (const testing::TestCloud& cloud : testing::test_clouds(seed)) {
    SCOPED_TRACE(cloud.name);
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const Indices found =
          iss_of(context, cloud.points, {.salient_radius_m = 0.3f, .non_max_radius_m = 0.2f});
      for (const std::int32_t i : found) {
        ASSERT_TRUE(i >= 0 && i < static_cast<std::int32_t>(cloud.points.size()));
        EXPECT_TRUE(is_finite(cloud.points[static_cast<std::size_t>(i)]));
      }
      EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
      if (cloud.name == "none" || cloud.name == "one point" || cloud.name == "coincident" ||
          cloud.name == "coplanar" || cloud.name == "nothing but NaN") {
        EXPECT_TRUE(found.empty());
      }
    }
  }
}

TEST(Keypoints, IntoRunInAGraph) {
  const std::vector<Vec3f> host = testing::organised_cloud(testing::seed_of_test()).points;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Buffer<Vec3f> points = copy(context, host);
    const auto grid = build_neighbour_grid(context, points, NeighbourGridOptions::for_radius(0.1f));
    Buffer<std::int32_t> uniform(context, points.size()), iss(context, points.size());
    Buffer<std::int32_t> counts(context, 2);
    Workspace workspace;
    const UniformKeypointOptions leaf{.leaf_m = 0.05f};
    const IssOptions options{.salient_radius_m = 0.11f, .non_max_radius_m = 0.07f};
    const Graph graph = Graph::capture(context, [&] {
      uniform_keypoints_into(context, points, leaf, uniform, counts.view().subview(0, 1),
                             workspace);
      iss_keypoints_into(context, grid, options, iss, counts.view().subview(1, 1), workspace);
    });
    graph.launch();
    context.synchronize();
    const auto sizes = to_host(context, counts);
    auto found = to_host(context, uniform);
    found.resize(static_cast<std::size_t>(sizes[0]));
    EXPECT_EQ(found, uniform_of(context, host, leaf.leaf_m));
    found = to_host(context, iss);
    found.resize(static_cast<std::size_t>(sizes[1]));
    EXPECT_EQ(found, iss_of(context, host, options));
  }
}

TEST(Keypoints, RefuseMisuse) {
  const Context context = Context::cpu(1);
  const std::vector<Vec3f> points{{0, 0, 1}, {1, 0, 1}, {0, 1, 1}};
  const NeighbourGrid grid = build_neighbour_grid(context, view_of(points));
  std::vector<std::int32_t> indices(3);
  std::vector<std::int32_t> count(1);
  Workspace workspace;
  const auto uniform = [&](float leaf_m, std::int64_t room) {
    uniform_keypoints_into(context, view_of(points), {.leaf_m = leaf_m},
                           view_of(indices).subview(0, room), view_of(count), workspace);
  };
  EXPECT_THROW(uniform(1.0f, 2), Error);
  EXPECT_THROW(uniform(0.0f, 3), Error);
  EXPECT_NO_THROW(uniform(1.0f, 3));
  const auto iss = [&](const NeighbourGrid& from, float non_max_radius_m) {
    iss_keypoints_into(context, from,
                       {.salient_radius_m = 1.0f, .non_max_radius_m = non_max_radius_m},
                       view_of(indices), view_of(count), workspace);
  };
  EXPECT_THROW(iss(NeighbourGrid{}, 1.0f), Error);
  EXPECT_THROW(iss(grid, 0.0f), Error);
  EXPECT_NO_THROW(iss(grid, 1.0f));
  EXPECT_THROW(iss_of(context, points, {.salient_radius_m = -1.0f}), Error);
  EXPECT_THROW(iss_of(context, points, {.least_neighbours = 0}), Error);
}

}  // namespace
}  // namespace sextant
