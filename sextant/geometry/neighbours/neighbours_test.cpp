// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/neighbours.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sextant/core/graph.h"
#include "sextant/geometry/neighbours/nearest.h"
#include "tests/devices.h"
#include "tests/neighbour_clouds.h"

namespace sextant {

using namespace detail::neighbours;
namespace {

using testing::TestCloud;

struct Neighbour {
  float distance_sq;
  std::int32_t index;
  bool operator==(const Neighbour&) const = default;
  bool operator<(const Neighbour& other) const {
    return distance_sq < other.distance_sq ||
           (distance_sq == other.distance_sq && index < other.index);
  }
};
using Row = std::vector<Neighbour>;

std::ostream& operator<<(std::ostream& out, const Neighbour& n) {
  return out << n.index << " at sqrt " << n.distance_sq;
}

/// Every point that is not farther than the limit, by looking at all of them.
Row brute_force(const std::vector<Vec3f>& points, const Vec3f& query, float most_sq) {
  Row row;
  if (!is_finite(query)) return row;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!is_finite(points[i])) continue;
    const Vec3f d = points[i] - query;
    const float distance_sq = d.x * d.x + d.y * d.y + d.z * d.z;
    if (distance_sq <= most_sq) row.push_back({distance_sq, static_cast<std::int32_t>(i)});
  }
  std::sort(row.begin(), row.end());
  return row;
}

Row brute_force_nearest(const std::vector<Vec3f>& points, const Vec3f& query, int k) {
  Row row = brute_force(points, query, FLT_MAX);
  row.resize(static_cast<std::size_t>(k), {INFINITY, -1});
  return row;
}

std::vector<Row> rows_of(const Context& context, const NearestNeighbours& nearest) {
  const auto indices = to_host(context, nearest.indices);
  const auto distances_sq = to_host(context, nearest.distances_sq);
  const auto k = static_cast<std::size_t>(nearest.k);
  std::vector<Row> rows(indices.size() / k);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    rows[i / k].push_back({distances_sq[i], indices[i]});
  }
  return rows;
}

std::vector<Row> rows_of(const Context& context, const NeighbourLists& lists) {
  const auto first = to_host(context, lists.first);
  const auto indices = to_host(context, lists.indices);
  const auto distances_sq = to_host(context, lists.distances_sq);
  std::vector<Row> rows(first.size() - 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (auto j = static_cast<std::size_t>(first[i]); j < static_cast<std::size_t>(first[i + 1]);
         ++j) {
      rows[i].push_back({distances_sq[j], indices[j]});
    }
  }
  return rows;
}

/// Queries on, between and far from the points.
std::vector<Vec3f> queries_for(const TestCloud& cloud, std::uint64_t seed) {
  std::vector<Vec3f> queries{
      {0, 0, 0}, {1e3f, 1e3f, -1e3f}, {NAN, 0, 0}, {0, INFINITY, 0}, {-3e38f, 3e38f, 1}};
  for (int i = 0; i < 60; ++i) {
    const Vec3f at = testing::uniform_point(seed, i);
    queries.push_back(at * 2.0f - Vec3f{0.5f, 0.5f, 0.5f});
    if (cloud.points.empty()) continue;
    const Vec3f& near = cloud.points[static_cast<std::size_t>(i * 31) % cloud.points.size()];
    queries.push_back(near);
    queries.push_back(near + at * 0.01f);
  }
  return queries;
}

void expect_rows(const std::vector<Row>& found, const std::vector<Row>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], expected[i]) << "row " << i;
}

TEST(Neighbours, NearestEqualBruteForceForEveryPoint) {
  const std::uint64_t seed = testing::seed_of_test();
  for (const TestCloud& cloud : testing::test_clouds(seed)) {
    for (const int k : {1, 15, 100}) {
      SCOPED_TRACE(cloud.name + ", k = " + std::to_string(k));
      std::vector<Row> expected;
      for (const Vec3f& p : cloud.points) {
        expected.push_back(brute_force_nearest(cloud.points, p, k));
      }
      for (const Context& context : testing::all_contexts()) {
        SCOPED_TRACE(testing::describe(context));
        const Buffer<Vec3f> points = copy(context, cloud.points);
        const auto grid =
            build_neighbour_grid(context, points, NeighbourGridOptions::for_nearest(k));
        expect_rows(rows_of(context, k_nearest(context, grid, k)), expected);
      }
    }
  }
}

TEST(Neighbours, NearestEqualBruteForceForAnyQueryAndAnyCellSize) {
  const std::uint64_t seed = testing::seed_of_test();
  constexpr int kK = 7;
  for (const TestCloud& cloud : testing::test_clouds(seed)) {
    SCOPED_TRACE(cloud.name);
    const std::vector<Vec3f> queries = queries_for(cloud, seed);
    std::vector<Row> expected;
    for (const Vec3f& q : queries) expected.push_back(brute_force_nearest(cloud.points, q, kK));
    for (const float cell_m : {0.0f, 1e-6f, 0.1f, 1e5f}) {
      SCOPED_TRACE("cells of " + std::to_string(cell_m));
      for (const Context& context : testing::all_contexts()) {
        SCOPED_TRACE(testing::describe(context));
        const auto grid =
            build_neighbour_grid(context, copy(context, cloud.points).view(), {.cell_m = cell_m});
        const Buffer<Vec3f> asked = copy(context, queries);
        expect_rows(rows_of(context, k_nearest(context, grid, asked, kK)), expected);
      }
    }
  }
}

/// The function that a GPU thread runs, on the host: it is tested where there is no GPU too.
TEST(Neighbours, SearchOfOneQueryEqualsTheSearchByCells) {
  const std::uint64_t seed = testing::seed_of_test();
  const Context context = Context::cpu(2);
  for (const TestCloud& cloud : testing::test_clouds(seed)) {
    for (const int k : {1, 15, 33, 70}) {
      SCOPED_TRACE(cloud.name + ", k = " + std::to_string(k));
      const auto grid = build_neighbour_grid(context, view_of(cloud.points),
                                             NeighbourGridOptions::for_nearest(k));
      const auto expected = rows_of(context, k_nearest(context, grid, k));
      NearestNeighbours found{k, Buffer<std::int32_t>(context, grid.size() * k),
                              Buffer<float>(context, grid.size() * k)};
      const NeighbourGridView view = grid.view();
      const NearestRow<64> small{view, view.points, k, found.indices.data(),
                                 found.distances_sq.data()};
      const NearestRow<0> large{view, view.points, k, found.indices.data(),
                                found.distances_sq.data()};
      for (std::int64_t i = 0; i < grid.size(); ++i) k <= 64 ? small(i) : large(i);
      expect_rows(rows_of(context, found), expected);
    }
  }
}

TEST(Neighbours, ListsEqualBruteForce) {
  const std::uint64_t seed = testing::seed_of_test();
  for (const TestCloud& cloud : testing::test_clouds(seed)) {
    for (const float radius_m : {0.0f, 1e-4f, 0.25f, 5e4f}) {
      SCOPED_TRACE(cloud.name + ", radius " + std::to_string(radius_m));
      std::vector<Row> expected;
      for (const Vec3f& p : cloud.points) {
        expected.push_back(brute_force(cloud.points, p, radius_m * radius_m));
      }
      for (const Context& context : testing::all_contexts()) {
        SCOPED_TRACE(testing::describe(context));
        const Buffer<Vec3f> points = copy(context, cloud.points);
        const auto grid =
            build_neighbour_grid(context, points, NeighbourGridOptions::for_radius(radius_m));
        const auto sorted = neighbours_within(context, grid, radius_m, NeighbourOrder::kDistance);
        expect_rows(rows_of(context, sorted), expected);
        auto by_cells = rows_of(context, neighbours_within(context, grid, points, radius_m));
        for (Row& row : by_cells) std::sort(row.begin(), row.end());
        expect_rows(by_cells, expected);
        Buffer<std::int32_t> counts(context, grid.size());
        count_neighbours_into(context, grid, radius_m, counts);
        const auto counted = to_host(context, counts);
        for (std::size_t i = 0; i < counted.size(); ++i) {
          ASSERT_EQ(counted[i], static_cast<std::int64_t>(expected[i].size())) << "point " << i;
        }
      }
    }
  }
}

TEST(Neighbours, ForEachNeighbourVisitsWhatTheListsHoldInTheirOrder) {
  const std::uint64_t seed = testing::seed_of_test();
  const Context context = Context::cpu(1);
  constexpr float kRadius_m = 0.2f;
  for (const TestCloud& cloud : testing::test_clouds(seed)) {
    SCOPED_TRACE(cloud.name);
    // The radius need not be that of the cells.
    const auto grid = build_neighbour_grid(context, view_of(cloud.points), {.cell_m = 0.07f});
    const auto expected =
        rows_of(context, neighbours_within(context, grid, kRadius_m, NeighbourOrder::kDistance));
    for (std::size_t i = 0; i < cloud.points.size(); ++i) {
      if (!is_finite(cloud.points[i])) continue;
      Row row;
      for_each_neighbour(grid.view(), cloud.points[i], kRadius_m,
                         [&](const GridPoint& neighbour, float distance_sq) {
                           row.push_back({distance_sq, neighbour.index});
                         });
      std::sort(row.begin(), row.end());
      ASSERT_EQ(row, expected[i]) << "point " << i;
    }
  }
}

TEST(Neighbours, SortListOrdersByDistanceThenIndex) {
  const std::uint64_t seed = testing::seed_of_test();
  for (int count = 0; count < 40; ++count) {
    Row row;
    for (int i = 0; i < count; ++i) {
      const Random random{seed, static_cast<std::uint64_t>(count * 100 + i)};
      row.push_back({static_cast<float>(random.below(5, 0)), i});
    }
    std::vector<std::int32_t> indices;
    std::vector<float> distances_sq;
    for (auto at = row.rbegin(); at != row.rend(); ++at) {
      indices.push_back(at->index);
      distances_sq.push_back(at->distance_sq);
    }
    sort_list(indices.data(), distances_sq.data(), count);
    std::sort(row.begin(), row.end());
    for (std::size_t i = 0; i < row.size(); ++i) {
      EXPECT_EQ((Neighbour{distances_sq[i], indices[i]}), row[i]);
    }
  }
}

/// Points, and among them many in one place and some so far off that they would need cells of
/// metres.
struct CrowdedCloud {
  std::vector<Vec3f> points, held;  ///< as given, and as a grid takes them
  CrowdedCloud(std::uint64_t seed, int copies) {
    const Vec3f place{0.25f, 0.5f, 0.75f};
    for (int i = 0; i < 3000; ++i) {
      add(testing::uniform_point(seed, i), true);
      for (int j = 0; j < copies / 3000; ++j) add(place, i == 0 && j == 0);
    }
    add({1e6f, -1e6f, 2e6f}, true);
    add({1e9f, 0, 0}, true);
  }
  void add(const Vec3f& p, bool is_held) {
    points.push_back(p);
    held.push_back(is_held ? p : Vec3f{NAN, NAN, NAN});
  }
};

TEST(Neighbours, OfManyEqualPointsAreThoseOfOne) {
  const std::uint64_t seed = testing::seed_of_test();
  const CrowdedCloud cloud(seed, 300'000);  // pairs of them would take minutes
  constexpr int kK = 15;
  constexpr float kRadius_m = 0.1f;
  std::vector<Row> nearest, within;
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < cloud.points.size(); i += 977) asked.push_back(i);
  asked.push_back(cloud.points.size() - 1);
  std::vector<Vec3f> apart;
  std::vector<std::int32_t> index_of;
  for (std::size_t i = 0; i < cloud.held.size(); ++i) {
    if (!is_finite(cloud.held[i])) continue;
    apart.push_back(cloud.held[i]);
    index_of.push_back(static_cast<std::int32_t>(i));
  }
  const auto named = [&](Row row) {
    for (Neighbour& n : row)
      n.index = n.index < 0 ? -1 : index_of[static_cast<std::size_t>(n.index)];
    return row;
  };
  for (const std::size_t i : asked) {
    nearest.push_back(named(brute_force_nearest(apart, cloud.held[i], kK)));
    within.push_back(named(brute_force(apart, cloud.held[i], kRadius_m * kRadius_m)));
  }
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Buffer<Vec3f> points = copy(context, cloud.points);
    const auto grid = build_neighbour_grid(context, points, NeighbourGridOptions::for_nearest(kK));
    const auto cells =
        build_neighbour_grid(context, points, NeighbourGridOptions::for_radius(kRadius_m));
    const auto rows = rows_of(context, k_nearest(context, grid, kK));
    const auto lists =
        rows_of(context, neighbours_within(context, cells, kRadius_m, NeighbourOrder::kDistance));
    for (std::size_t i = 0; i < asked.size(); ++i) {
      ASSERT_EQ(rows[asked[i]], nearest[i]) << "point " << asked[i];
      ASSERT_EQ(lists[asked[i]], within[i]) << "point " << asked[i];
    }
  }
}

TEST(NeighbourGrid, HoldsEveryFinitePointOnceAndAimsAtTheDensity) {
  const std::uint64_t seed = testing::seed_of_test();
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const TestCloud& cloud : testing::test_clouds(seed)) {
      SCOPED_TRACE(cloud.name);
      const auto grid = build_neighbour_grid(context, copy(context, cloud.points).view());
      const NeighbourGridView view = grid.view();
      const auto frame =
          to_host(context, View<const detail::GridFrame>{view.frame, 1, context.device()})[0];
      const auto placed =
          to_host(context, View<const GridPoint>{view.points, view.size, context.device()});
      std::vector<int> seen(cloud.points.size(), 0);
      for (std::size_t i = 0; i < placed.size(); ++i) {
        ++seen[static_cast<std::size_t>(placed[i].index)];
        EXPECT_EQ(is_finite(placed[i].position), static_cast<int>(i) < frame.points);
      }
      EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
      if (cloud.name == "uniform" || cloud.name == "coplanar" || cloud.name == "collinear") {
        const float mean = static_cast<float>(frame.points) / static_cast<float>(frame.used_cells);
        EXPECT_GT(mean, 2.0f);
        EXPECT_LT(mean, 8.0f);
      }
    }
  }
}

TEST(NeighbourGrid, IsBuiltAgainInItsMemoryAndInAGraph) {
  const std::uint64_t seed = testing::seed_of_test();
  constexpr int kK = 5;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    NeighbourGrid grid(context, 1500);
    for (const TestCloud& cloud : testing::test_clouds(seed)) {
      SCOPED_TRACE(cloud.name);
      const Buffer<Vec3f> points = copy(context, cloud.points);
      const std::int64_t count = points.size();
      Buffer<std::int32_t> indices(context, count * kK);
      Buffer<float> distances_sq(context, count * kK);
      const Graph graph = Graph::capture(context, [&] {
        build_neighbour_grid_into(context, points, {}, grid);
        k_nearest_into(context, grid, kK, indices, distances_sq);
      });
      graph.launch();
      context.synchronize();
      const auto fresh = build_neighbour_grid(context, points);
      EXPECT_EQ(to_host(context, indices), to_host(context, k_nearest(context, fresh, kK).indices));
    }
  }
}

TEST(NeighbourGrid, MovedFromIsEmpty) {
  const Context context = Context::cpu(1);
  const std::vector<Vec3f> points{{0, 0, 0}, {1, 0, 0}};
  NeighbourGrid grid = build_neighbour_grid(context, view_of(points));
  const NeighbourGrid moved = std::move(grid);
  EXPECT_EQ(moved.size(), 2);
  EXPECT_EQ(grid.size(), 0);
  EXPECT_THROW(k_nearest(context, grid, 1), Error);
}

TEST(NeighbourGrid, RefusesMisuse) {
  const Context context = Context::cpu(1);
  const std::vector<Vec3f> points{{0, 0, 0}, {1, 0, 0}};
  EXPECT_THROW(build_neighbour_grid(context, view_of(points), {.cell_m = -1.0f}), Error);
  EXPECT_THROW(build_neighbour_grid(context, view_of(points), {.cell_m = NAN}), Error);
  EXPECT_THROW(NeighbourGrid(context, -1), Error);
  NeighbourGrid small(context, 1);
  EXPECT_THROW(build_neighbour_grid_into(context, view_of(points), {}, small), Error);
  EXPECT_THROW(k_nearest(context, NeighbourGrid{}, 1), Error);
  const auto grid = build_neighbour_grid(context, view_of(points));
  EXPECT_THROW(k_nearest(context, grid, 0), Error);
  EXPECT_THROW(k_nearest(context, grid, view_of(points), -3), Error);
  EXPECT_THROW(neighbours_within(context, grid, -0.1f), Error);
  EXPECT_THROW(neighbours_within(context, grid, NAN), Error);
  EXPECT_THROW(neighbours_within(context, grid, INFINITY), Error);
  std::vector<std::int32_t> indices(3);
  std::vector<float> distances_sq(4);
  EXPECT_THROW(k_nearest_into(context, grid, 2, view_of(indices), view_of(distances_sq)), Error);
  EXPECT_THROW(NeighbourGridOptions::for_radius(-1.0f), Error);
  EXPECT_THROW(NeighbourGridOptions::for_nearest(0), Error);
}

}  // namespace
}  // namespace sextant
