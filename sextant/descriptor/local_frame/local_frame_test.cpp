// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/local_frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "sextant/core/eigen3.h"
#include "sextant/core/graph.h"
#include "sextant/core/rigid3.h"
#include "tests/devices.h"
#include "tests/neighbour_clouds.h"

namespace sextant {
namespace {

double angle_rad(const Vec3f& a, const Vec3f& b) {
  const Vec3d u = cast<double>(a), v = cast<double>(b);
  return std::atan2(norm(cross(u, v)), dot(u, v));
}

std::vector<Vec3f> frames_of(const Context& context, const std::vector<Vec3f>& points,
                             float radius_m) {
  return to_host(context,
                 compute_local_frames(context, copy(context, points), {.radius_m = radius_m}));
}

/// The frame as the header describes it, by looking at all points in order of distance.
struct Oracle {
  bool exists = false;
  bool clear = true;  ///< the axes are determined, and no point lies on the plane across one
  int ties = 0;
  Vec3d x, z;
};

Oracle oracle_frame(const std::vector<Vec3f>& points, const Vec3f& p, float radius_m) {
  Oracle oracle;
  std::vector<std::pair<float, std::size_t>> order;
  for (std::size_t i = 0; is_finite(p) && i < points.size(); ++i) {
    const float distance_sq = squared_distance(points[i], p);
    if (distance_sq < radius_m * radius_m && !(points[i] == p)) order.emplace_back(distance_sq, i);
  }
  if (order.size() < 5) return oracle;
  std::sort(order.begin(), order.end());
  Sym3d sum;
  for (const auto& [distance_sq, i] : order) {
    const double weight =
        static_cast<double>(radius_m) - std::sqrt(static_cast<double>(distance_sq));
    sum = sum + outer(cast<double>(points[i] - p)) * weight;
  }
  const Eigen3<double> e = eigen_jacobi(sum);
  oracle.exists = true;
  oracle.clear = e.values[1] - e.values[0] > 1e-3 * e.values[2] &&
                 e.values[2] - e.values[1] > 1e-3 * e.values[2];
  const auto with_sign = [&](const Vec3d& axis) {
    int positive = 0;
    for (const auto& [distance_sq, i] : order) {
      const double side = dot(cast<double>(points[i] - p), axis);
      oracle.clear = oracle.clear && std::abs(side) > 1e-9;
      positive += side >= 0;
    }
    const int count = static_cast<int>(order.size());
    if (2 * positive != count) return 2 * positive > count ? axis : -axis;
    ++oracle.ties;
    int in_the_middle = 0;
    for (int i = count / 2 - 2; i <= count / 2 + 2; ++i) {
      const std::size_t at = order[static_cast<std::size_t>(i)].second;
      in_the_middle += dot(cast<double>(points[at] - p), axis) > 0;
    }
    return in_the_middle >= 3 ? axis : -axis;
  };
  oracle.x = with_sign(e.vectors.row[2]);
  oracle.z = with_sign(e.vectors.row[0]);
  return oracle;
}

TEST(LocalFrame, EqualsAnOracleTiesIncluded) {
  const std::uint64_t seed = testing::seed_of_test();
  std::vector<Vec3f> points = testing::organised_cloud(seed).points;
  for (int i = 0; i < 300; ++i) points.push_back(testing::uniform_point(seed, i));
  int all_ties = 0, all_missing = 0;
  for (const float radius_m : {0.06f, 0.12f, 0.7f}) {
    std::vector<Oracle> truth;
    int ties = 0, missing = 0;
    for (const Vec3f& p : points) {
      truth.push_back(oracle_frame(points, p, radius_m));
      if (truth.back().clear) ties += truth.back().ties;
      missing += !truth.back().exists;
    }
    ASSERT_GT(ties, 3);
    all_ties += ties;
    all_missing += missing;
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const auto frames = frames_of(context, points, radius_m);
      for (std::size_t i = 0; i < points.size(); ++i) {
        ASSERT_EQ(is_finite(frames[3 * i]), truth[i].exists) << "point " << i;
        if (!truth[i].exists || !truth[i].clear) continue;
        ASSERT_LT(angle_rad(frames[3 * i], cast<float>(truth[i].x)), 1e-5) << "point " << i;
        ASSERT_LT(angle_rad(frames[3 * i + 2], cast<float>(truth[i].z)), 1e-5) << "point " << i;
        ASSERT_LT(norm(frames[3 * i + 1] - cross(frames[3 * i + 2], frames[3 * i])), 1e-6f);
      }
    }
  }
  ASSERT_GT(all_ties, 80);
  ASSERT_GT(all_missing, 200);
}

/// On CUDA some fit in a warp's list, more in a room for ties, and very many are looked for anew.
TEST(LocalFrame, OfFewAndOfVeryManyNeighbours) {
  const std::uint64_t seed = testing::seed_of_test();
  const float radius_m = 0.45f;
  for (const int half : {150, 223, 224, 225, 255, 256, 257, 640, 641, 1024, 1025, 4000}) {
    SCOPED_TRACE(half);
    // All of them near the origin, and mirrored, which ties both axes of a keypoint there.
    std::vector<Vec3f> points;
    for (int i = 0; i < half; ++i) {
      const Vec3f p = testing::uniform_point(seed, i) - Vec3f{0.5f, 0.5f, 0.5f};
      points.push_back({0.8f * p.x, 0.35f * p.y, 0.2f * p.z});
      points.push_back(-points.back());
    }
    const std::vector<Vec3f> keypoints{{0, 0, 0}, {0.01f, 0.02f, -0.01f}, {-0.1f, 0, 0.05f}};
    std::vector<Oracle> truth;
    for (const Vec3f& p : keypoints) truth.push_back(oracle_frame(points, p, radius_m));
    ASSERT_TRUE(truth[0].clear);
    ASSERT_EQ(truth[0].ties, 2);
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const auto frames =
          to_host(context, compute_local_frames(context, copy(context, points),
                                                copy(context, keypoints), {.radius_m = radius_m}));
      for (std::size_t i = 0; i < keypoints.size(); ++i) {
        ASSERT_TRUE(truth[i].exists);
        if (!truth[i].clear) continue;
        EXPECT_LT(angle_rad(frames[3 * i], cast<float>(truth[i].x)), 1e-5) << "keypoint " << i;
        EXPECT_LT(angle_rad(frames[3 * i + 2], cast<float>(truth[i].z)), 1e-5) << "keypoint " << i;
      }
    }
  }
}

/// A tied axis and one distance for all: the order of indices decides, and soon.
TEST(LocalFrame, OfVeryManyPointsEquallyFar) {
  for (const std::size_t half : {200u, 201u, 20000u}) {
    std::vector<Vec3f> points;
    for (std::size_t i = 0; i < half; ++i) {
      points.push_back({0.01f, 1e-8f * static_cast<float>(i % 100), 0});  // whose square vanishes
      points.push_back({-0.01f, points.back().y, 0});
    }
    // Of the five in the middle of the order, the third stands at an even or an odd place.
    const std::size_t first = half - 2;
    int positive = 0;
    for (std::size_t i = first; i < first + 5; ++i) positive += points[i].x > 0;
    const std::vector<Vec3f> keypoints{{0, 0, 0}};
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const auto frames =
          to_host(context, compute_local_frames(context, copy(context, points),
                                                copy(context, keypoints), {.radius_m = 0.02f}));
      EXPECT_NEAR(std::abs(frames[0].x), 1.0f, 1e-6f);
      // Before its sign is known, the axis is e or -e; the five are on the side of one of them.
      EXPECT_EQ(frames[0].x > 0, positive >= 3);
    }
  }
}

/// Whoever else is asked for, and in whatever order: not one bit of a frame changes.
TEST(LocalFrame, OfAKeypointDoesNotDependOnTheOthers) {
  const auto points = testing::organised_cloud(testing::seed_of_test()).points;
  std::vector<Vec3f> some;
  std::vector<std::size_t> from;
  for (std::size_t i = 0; i < points.size(); i += 7) {
    from.push_back(points.size() - 1 - i);
    some.push_back(points[from.back()]);
  }
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const float radius_m : {0.06f, 0.7f}) {
      const auto all = frames_of(context, points, radius_m);
      const auto few =
          to_host(context, compute_local_frames(context, copy(context, points), copy(context, some),
                                                {.radius_m = radius_m}));
      for (std::size_t i = 0; i < some.size(); ++i) {
        ASSERT_EQ(std::memcmp(&few[3 * i], &all[3 * from[i]], 3 * sizeof(Vec3f)), 0) << i;
      }
    }
  }
}

/// Cells from a twelfth of the radius, thousands in a sphere, to a multiple of it.
TEST(LocalFrame, IsTheSameWithCellsOfAnySize) {
  const auto points = testing::organised_cloud(testing::seed_of_test()).points;
  const float radius_m = 0.2f;
  std::vector<Oracle> truth;
  for (const Vec3f& p : points) truth.push_back(oracle_frame(points, p, radius_m));
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const auto surface = copy(context, points);
    for (const float cell_m : {radius_m / 12, radius_m / 3, radius_m, 4 * radius_m}) {
      SCOPED_TRACE(cell_m);
      const auto grid =
          build_neighbour_grid(context, surface, NeighbourGridOptions{.cell_m = cell_m});
      Buffer<Vec3f> frames(context, 3 * surface.size());
      Workspace workspace;
      compute_local_frames_into(context, grid, {.radius_m = radius_m}, frames, workspace);
      const auto found = to_host(context, frames);
      int clear = 0;
      for (std::size_t i = 0; i < points.size(); ++i) {
        ASSERT_EQ(is_finite(found[3 * i]), truth[i].exists) << i;
        if (!truth[i].exists || !truth[i].clear) continue;
        ++clear;
        ASSERT_LT(angle_rad(found[3 * i], cast<float>(truth[i].x)), 1e-5) << i;
        ASSERT_LT(angle_rad(found[3 * i + 2], cast<float>(truth[i].z)), 1e-5) << i;
      }
      EXPECT_GT(clear, 800);
    }
  }
}

/// A keypoint alone has fewer candidates than the block of a keypoint among all others, which takes
/// them in parts: another way to the same bits.
TEST(LocalFrame, OfAKeypointAloneIsTheSame) {
  const std::uint64_t seed = testing::seed_of_test();
  std::vector<Vec3f> points;
  for (int i = 0; i < 6000; ++i) {
    const Vec3f p = testing::uniform_point(seed, i);
    points.push_back({p.x, p.y, 0.1f * std::sin(9.0f * p.x) + 0.02f * p.z});
  }
  const float radius_m = 0.15f;  // some 400 neighbours
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const auto surface = copy(context, points);
    const auto grid = build_neighbour_grid(context, surface, {.cell_m = 0.7f * radius_m});
    Buffer<Vec3f> frames(context, 3 * surface.size());
    Workspace workspace;
    compute_local_frames_into(context, grid, {.radius_m = radius_m}, frames, workspace);
    const auto all = to_host(context, frames);
    for (std::size_t i = 0; i < points.size(); i += 101) {
      const auto keypoint = copy(context, std::vector<Vec3f>{points[i]});
      Buffer<Vec3f> frame(context, 3);
      compute_local_frames_into(context, grid, keypoint, {.radius_m = radius_m}, frame, workspace);
      const auto alone = to_host(context, frame);
      ASSERT_EQ(std::memcmp(alone.data(), &all[3 * i], 3 * sizeof(Vec3f)), 0) << i;
    }
  }
}

/// On the paraboloid 2 z = a x² + b y² with a < b, seen from its vertex: the surface bends away
/// from the tangent plane, so z points inwards, along the axis; x is the direction of least
/// curvature.
TEST(LocalFrame, OfAParaboloidIsItsPrincipalFrame) {
  std::vector<Vec3f> points;
  for (int i = -40; i <= 40; ++i) {
    for (int j = -40; j <= 40; ++j) {
      const float x = static_cast<float>(i) / 64.0f, y = static_cast<float>(j) / 64.0f;
      // A little more surface on the positive side of x, so that its sign is determined.
      if (i < -38) continue;
      points.push_back({x, y, 0.5f * (0.2f * x * x + 2.0f * y * y)});
    }
  }
  const std::vector<Vec3f> vertex{{0, 0, 0}};
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const auto frames =
        to_host(context, compute_local_frames(context, copy(context, points), copy(context, vertex),
                                              {.radius_m = 0.62f}));
    EXPECT_LT(angle_rad(frames[2], {0, 0, 1}), 0.02);
    EXPECT_LT(angle_rad(frames[0], {1, 0, 0}), 0.02);
    EXPECT_LT(angle_rad(frames[1], {0, 1, 0}), 0.02);
  }
}

TEST(LocalFrame, MovesWithTheCloudAndDoesNotDependOnItsOrder) {
  const std::vector<Vec3f> points = testing::organised_cloud(testing::seed_of_test()).points;
  const Rigid3f moved_from_here{exp_rotation(Vec3f{0.4f, -0.7f, 0.2f}), {0.3f, 0.1f, -0.2f}};
  std::vector<Vec3f> moved, reversed(points.rbegin(), points.rend());
  for (const Vec3f& p : points) moved.push_back(moved_from_here * p);
  constexpr float kRadius_m = 0.15f;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const auto frames = frames_of(context, points, kRadius_m);
    const auto moved_frames = frames_of(context, moved, kRadius_m);
    const auto reversed_frames = frames_of(context, reversed, kRadius_m);
    std::size_t compared = 0, equal = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Oracle oracle = oracle_frame(points, points[i], kRadius_m);
      if (!oracle.exists || !oracle.clear || oracle.ties > 0) continue;
      ++compared;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        ASSERT_LT(
            angle_rad(reversed_frames[3 * (points.size() - 1 - i) + axis], frames[3 * i + axis]),
            1e-5);
      }
      // Rounding of 1e-7 m may carry a point over the edge of the sphere, where it has no weight
      // but a voice in the signs.
      equal +=
          angle_rad(moved_frames[3 * i], moved_from_here.rotation * frames[3 * i]) < 1e-3 &&
          angle_rad(moved_frames[3 * i + 2], moved_from_here.rotation * frames[3 * i + 2]) < 1e-3;
    }
    EXPECT_GT(compared, 500u);
    EXPECT_GT(equal, compared * 98 / 100);
  }
}

TEST(LocalFrame, NeedsFiveOtherPointsStrictlyInside) {
  // Five neighbours: one of them lies on the sphere, one more equals the keypoint.
  const std::vector<Vec3f> points{{0, 0, 0},      {0, 0, 0},         {0.5f, 0, 0}, {0, 0.25f, 0},
                                  {0, 0, 0.125f}, {-0.5f, 0.25f, 0}, {0, 0, -1}};
  const std::vector<Vec3f> keypoint{{0, 0, 0}};
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const auto frame = [&](float radius_m) {
      return to_host(context,
                     compute_local_frames(context, copy(context, points), copy(context, keypoint),
                                          {.radius_m = radius_m}));
    };
    for (const Vec3f& axis : frame(1.0f)) EXPECT_FALSE(is_finite(axis));
    for (const Vec3f& axis : frame(1.0001f)) EXPECT_TRUE(is_finite(axis));
  }
}

TEST(LocalFrame, OfAllKindsOfCloudsIsOrthonormalOrNaN) {
  const std::uint64_t seed = testing::seed_of_test();
  for (const testing::TestCloud& cloud : testing::test_clouds(seed)) {
    SCOPED_TRACE(cloud.name);
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      for (const float radius_m : {1e-6f, 0.3f, 1e5f}) {
        const auto frames = frames_of(context, cloud.points, radius_m);
        ASSERT_EQ(frames.size(), 3 * cloud.points.size());
        for (std::size_t i = 0; i < cloud.points.size(); ++i) {
          const Vec3f x = frames[3 * i], y = frames[3 * i + 1], z = frames[3 * i + 2];
          if (!is_finite(cloud.points[i])) {
            EXPECT_FALSE(is_finite(x));
          }
          ASSERT_EQ(is_finite(x), is_finite(z));
          if (!is_finite(x)) continue;
          EXPECT_NEAR(norm(x), 1.0f, 1e-5f);
          EXPECT_NEAR(norm(z), 1.0f, 1e-5f);
          EXPECT_NEAR(dot(x, z), 0.0f, 1e-5f);
          EXPECT_LT(norm(y - cross(z, x)), 1e-5f);
        }
      }
    }
  }
}

TEST(LocalFrame, HasTheSameBitsForEveryNumberOfThreads) {
  const std::vector<Vec3f> points = testing::organised_cloud(testing::seed_of_test()).points;
  const auto one = frames_of(Context::cpu(1), points, 0.1f);
  for (const int threads : {2, 7}) {
    const auto many = frames_of(Context::cpu(threads), points, 0.1f);
    for (std::size_t i = 0; i < one.size(); ++i) {
      ASSERT_TRUE(one[i] == many[i] || !is_finite(one[i])) << "axis " << i;
    }
  }
}

TEST(LocalFrame, IntoRunsInAGraph) {
  const std::vector<Vec3f> host = testing::organised_cloud(testing::seed_of_test()).points;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Buffer<Vec3f> points = copy(context, host);
    const auto grid = build_neighbour_grid(context, points, NeighbourGridOptions::for_radius(0.1f));
    Buffer<Vec3f> frames(context, 3 * points.size());
    Workspace workspace;
    const Graph graph = Graph::capture(context, [&] {
      compute_local_frames_into(context, grid, points, {.radius_m = 0.1f}, frames, workspace);
    });
    graph.launch();
    context.synchronize();
    const auto expected = frames_of(context, host, 0.1f);
    const auto found = to_host(context, frames);
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_TRUE(is_finite(found[i]) ? angle_rad(found[i], expected[i]) < 1e-5
                                      : !is_finite(expected[i]));
    }
  }
}

TEST(LocalFrame, RefusesMisuse) {
  const Context context = Context::cpu(1);
  const std::vector<Vec3f> points{{0, 0, 1}, {1, 0, 1}, {0, 1, 1}};
  std::vector<Vec3f> frames(9);
  const auto grid = build_neighbour_grid(context, view_of(points));
  const auto compute = [&](const NeighbourGrid& from, float radius_m, std::int64_t room) {
    Workspace workspace;
    const View<Vec3f> to = view_of(frames).subview(0, room);
    compute_local_frames_into(context, from, {.radius_m = radius_m}, to, workspace);
  };
  EXPECT_THROW(frames_of(context, points, NAN), Error);
  EXPECT_THROW(compute(grid, 1.0f, 8), Error);
  EXPECT_THROW(compute(grid, 0.0f, 9), Error);
  EXPECT_THROW(compute(NeighbourGrid{}, 1.0f, 9), Error);
  EXPECT_NO_THROW(compute(grid, 1.0f, 9));
}

}  // namespace
}  // namespace sextant
