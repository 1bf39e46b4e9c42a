// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/triangulate.h"

#include <gtest/gtest.h>

#include "sextant/surface/normals.h"
#include "sextant/surface/triangulate/math.h"
#include "tests/devices.h"
#include "tests/organised_scene.h"

namespace sextant {

using namespace detail::triangulate;
namespace {

using testing::OrganisedScene;

/// Cells of a scene, with its true normals and these limits.
std::vector<std::uint8_t> cells_of(const Context& context, const OrganisedScene& scene,
                                   float max_edge_m, float max_angle_rad = 0.5f,
                                   const TriangulateOptions& options = {}) {
  std::vector<Vec3f> normals;
  for (const Vec3d& n : scene.normals) normals.push_back(cast<float>(n));
  const Image<Vec3f> on_device(copy(context, normals), scene.width, scene.height);
  SurfaceStatistics statistics;
  statistics.max_edge_m = max_edge_m;
  statistics.max_angle_rad = max_angle_rad;
  const Image<Vec3f> points = scene.on(context);
  return to_host(context, triangulate(context, points, on_device, statistics, options).pixels());
}

int triangles_in(const std::vector<std::uint8_t>& cells) {
  int count = 0;
  for (const std::uint8_t cell : cells) count += detail::triangulate::triangles_in(cell);
  return count;
}

TEST(Triangulate, APlaneIsWhole) {
  const OrganisedScene scene =
      testing::look_at(testing::PlaneSurface{1.0, {0.5, 0.2, -1}}, {.width = 301, .height = 47});
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    EXPECT_EQ(triangles_in(cells_of(context, scene, 0.01f)), 2 * 300 * 46);
    // Edges are 2 to 4 mm long.
    EXPECT_EQ(triangles_in(cells_of(context, scene, 0.0005f)), 0);
  }
}

TEST(Triangulate, DepthStepsAreCut) {
  const auto surface = [](const Vec3d& ray) {
    return testing::PlaneSurface{ray.x < 0 ? 1.0 : 1.5}(ray);
  };
  const OrganisedScene scene = testing::look_at(surface, {.width = 40, .height = 30});
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    // The column of cells between 19 and 20 is gone, by the length alone.
    const std::vector<std::uint8_t> cells = cells_of(context, scene, 0.01f);
    EXPECT_EQ(triangles_in(cells), 2 * 38 * 29);
    EXPECT_EQ(cells[19], 0);
    // And by the angle to the line of sight alone: the edge is 0.5 m along and 3 mm across it.
    EXPECT_EQ(triangles_in(cells_of(context, scene, 10.0f)), 2 * 38 * 29);
    EXPECT_EQ(triangles_in(cells_of(context, scene, 10.0f, 0.5f, {.view_angle_rad = 0})),
              2 * 39 * 29);
  }
}

TEST(Triangulate, GrazingEdgesAreCut) {
  // A plane whose edges down the image make 10° with the line of sight in the middle column; those
  // across lie at right angles to it.
  const double steep = 10.0 / 180 * std::numbers::pi;
  const OrganisedScene scene =
      testing::look_at(testing::PlaneSurface{1.0, {0, std::cos(steep), -std::sin(steep)}},
                       {.width = 21, .height = 21});
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    // The field of view is ±1.1°: all edges are between 8.9° and 11.1°.
    EXPECT_EQ(triangles_in(cells_of(context, scene, 1.0f)), 0);
    EXPECT_EQ(triangles_in(cells_of(context, scene, 1.0f, 0.5f, {.view_angle_rad = 0.14f})),
              2 * 20 * 20);
  }
}

TEST(Triangulate, CreasesAreKeptUpToTheLimit) {
  // Normals of the two halves differ by 50°.
  const double half = 25.0 / 180 * std::numbers::pi;
  const auto surface = [&](const Vec3d& ray) {
    const double side = ray.x < 0 ? -1 : 1;
    return testing::PlaneSurface{1.0, {side * std::sin(half), 0, -std::cos(half)}}(ray);
  };
  const OrganisedScene scene = testing::look_at(surface, {.width = 40, .height = 30});
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const float below = 0.85f, above = 0.89f;  // 50° is 0.8727 rad
    EXPECT_EQ(triangles_in(cells_of(context, scene, 0.01f, below)), 2 * 38 * 29);
    EXPECT_EQ(triangles_in(cells_of(context, scene, 0.01f, above)), 2 * 39 * 29);
    // The lower bound takes over where the surface's own limit is smaller.
    EXPECT_EQ(
        triangles_in(cells_of(context, scene, 0.01f, 0.01f, {.least_normal_angle_rad = above})),
        2 * 39 * 29);
  }
}

TEST(Triangulate, HolesTakeTheirTriangles) {
  OrganisedScene scene = testing::look_at(testing::PlaneSurface{}, {.width = 30, .height = 20});
  scene.point(10, 10) = {NAN, NAN, NAN};
  scene.normals[static_cast<std::size_t>(5 * 30 + 20)] = {NAN, NAN, NAN};
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    // An inner point belongs to six triangles.
    const std::vector<std::uint8_t> cells = cells_of(context, scene, 0.01f);
    EXPECT_EQ(triangles_in(cells), 2 * 29 * 19 - 12);
    EXPECT_EQ(cells[10 * 29 + 10], 2);  // the hole is its first point
    EXPECT_EQ(cells[9 * 29 + 9], 1);    // and here the last
  }
}

TEST(Triangulate, IndicesFollowTheCells) {
  const OrganisedScene scene =
      testing::look_at(testing::SphereSurface{}, {.width = 130, .height = 125, .noise_m = 0.001});
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const std::vector<std::uint8_t> cells = cells_of(context, scene, 0.004f);
    std::vector<Vec3i> expected;
    for (int v = 0; v < 124; ++v) {
      for (int u = 0; u < 129; ++u) {
        const std::uint8_t cell = cells[static_cast<std::size_t>(v * 129 + u)];
        const int i = v * 130 + u;
        if (cell & 1) expected.push_back({i, i + 130, i + 1});
        if (cell & 2) expected.push_back({i + 1, i + 130, i + 131});
      }
    }
    ASSERT_GT(expected.size(), 1000u);
    const Image<std::uint8_t> on_device(copy(context, cells), 129, 124);
    EXPECT_EQ(to_host(context, triangle_indices(context, on_device)), expected);
    // Counter-clockwise seen from the sensor: the triangle's normal points back to it.
    for (const Vec3i& t : expected) {
      const Vec3f a = scene.points[static_cast<std::size_t>(t.x)];
      const Vec3f b = scene.points[static_cast<std::size_t>(t.y)];
      const Vec3f c = scene.points[static_cast<std::size_t>(t.z)];
      ASSERT_LT(dot(cross(b - a, c - a), a), 0.0f);
    }
  }
}

/// The three conditions in double precision; nothing where an edge lies within rounding of a limit.
std::optional<bool> edge_in_double(const Vec3f& pf, const Vec3f& qf, const Vec3d& n, const Vec3d& m,
                                   double max_edge_m, double max_angle_rad, double view_rad) {
  const Vec3d p = cast<double>(pf);
  const Vec3d edge = cast<double>(qf) - p;
  if (!is_finite(edge) || !is_finite(n) || !is_finite(m)) return false;
  const double margins[3] = {(max_edge_m - norm(edge)) / max_edge_m,
                             std::cos(view_rad) - std::abs(dot(p, edge)) / (norm(p) * norm(edge)),
                             dot(n, m) - std::cos(max_angle_rad)};
  bool passes = true;
  for (const double margin : margins) {
    if (std::abs(margin) < 1e-5) return {};
    passes = passes && margin > 0;
  }
  return passes;
}

TEST(Triangulate, AgreesWithTheDefinition) {
  OrganisedScene scene = testing::look_at(
      testing::SphereSurface{},
      {.width = 131, .height = 127, .noise_m = 0.001, .seed = testing::seed_of_test()});
  const float max_edge_m = 0.003f, max_angle_rad = 0.05f;
  const TriangulateOptions options{.view_angle_rad = 0.5f, .least_normal_angle_rad = 0.02f};
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const auto cells = cells_of(context, scene, max_edge_m, max_angle_rad, options);
    int checked = 0, kept = 0;
    for (int v = 0; v + 1 < scene.height; ++v) {
      for (int u = 0; u + 1 < scene.width; ++u) {
        const auto edge = [&](int u0, int v0, int u1, int v1) {
          const auto i = static_cast<std::size_t>(v0 * scene.width + u0);
          const auto j = static_cast<std::size_t>(v1 * scene.width + u1);
          return edge_in_double(scene.points[i], scene.points[j], scene.normals[i],
                                scene.normals[j], max_edge_m, max_angle_rad,
                                options.view_angle_rad);
        };
        const std::optional<bool> edges[5] = {
            edge(u, v, u + 1, v), edge(u, v, u, v + 1), edge(u + 1, v, u, v + 1),
            edge(u + 1, v, u + 1, v + 1), edge(u, v + 1, u + 1, v + 1)};
        bool certain = true;
        for (const auto& e : edges) certain = certain && e.has_value();
        if (!certain) continue;
        ++checked;
        const int expected = (*edges[0] && *edges[1] && *edges[2] ? 1 : 0) +
                             (*edges[2] && *edges[3] && *edges[4] ? 2 : 0);
        ASSERT_EQ(int{cells[static_cast<std::size_t>(v * 130 + u)]}, expected) << u << " " << v;
        kept += expected != 0 ? 1 : 0;
      }
    }
    EXPECT_GT(checked, 15000);
    EXPECT_GT(kept, 500);
  }
}

TEST(Triangulate, ReportsItsLimits) {
  SurfaceStatistics statistics;
  statistics.max_edge_m = 0.01f;
  statistics.resolution_m = 0.002f;
  statistics.max_angle_rad = 0.1f;
  const EdgeLimits limits = edge_limits(statistics, {});
  EXPECT_FLOAT_EQ(limits.max_edge_m, 0.01f);
  EXPECT_NEAR(limits.max_angle_rad, 30.0 / 180 * std::numbers::pi, 1e-6);
  EXPECT_NEAR(limits.view_angle_rad, 12.5 / 180 * std::numbers::pi, 1e-6);
  statistics.max_angle_rad = 1.0f;
  EXPECT_FLOAT_EQ(edge_limits(statistics, {}).max_angle_rad, 1.0f);
  statistics.resolution_m = 0.005f;
  EXPECT_FLOAT_EQ(edge_limits(statistics, {}).max_edge_m, 0.015f);
  EXPECT_FLOAT_EQ(edge_limits(statistics, {.least_edge_resolutions = 0}).max_edge_m, 0.01f);
}

TEST(Triangulate, BadDataHasADefinedResult) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const auto& [width, height] : {std::pair{0, 0}, {1, 1}, {7, 1}, {1, 9}}) {
      const Image<Vec3f> image(context, width, height);
      const Image<std::uint8_t> cells = triangulate(context, image, image, {});
      EXPECT_TRUE(cells.empty());
      EXPECT_TRUE(triangle_indices(context, cells).empty());
    }
    // Statistics of nothing are NaN and let no edge pass; neither do all-NaN points.
    const OrganisedScene plane =
        testing::look_at(testing::PlaneSurface{}, {.width = 9, .height = 9});
    EXPECT_EQ(triangles_in(cells_of(context, plane, NAN, NAN)), 0);
    EXPECT_EQ(triangles_in(cells_of(context, plane, 1.0f, NAN)), 0);
    const OrganisedScene nothing =
        testing::look_at([](const Vec3d&) { return std::optional<testing::Hit>(); });
    EXPECT_EQ(triangles_in(cells_of(context, nothing, 1.0f)), 0);
  }
  const Context cpu = Context::cpu();
  Image<Vec3f> points(cpu, 8, 8);
  Image<Vec3f> small(cpu, 7, 8);
  Image<std::uint8_t> cells(cpu, 8, 8);
  const Buffer<SurfaceStatistics> one = copy(cpu, std::vector<SurfaceStatistics>(1));
  EXPECT_THROW(triangulate(cpu, points, small, {}), Error);
  EXPECT_THROW(triangulate_into(cpu, points, points, one, {}, cells), Error);
  EXPECT_THROW(triangulate(cpu, points, points, {}, {.view_angle_rad = -1}), Error);
}

TEST(Triangulate, IndicesIntoGivenRoomAreTheSame) {
  const OrganisedScene scene = testing::look_at(testing::SphereSurface{.radius_m = 0.05});
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<Vec3f> points = scene.on(context);
    const Image<Vec3f> normals(copy(context, normals_of(scene)), scene.width, scene.height);
    const Image<std::uint8_t> cells =
        triangulate(context, points, normals, surface_statistics(context, points, normals));
    const std::vector<Vec3i> expected = to_host(context, triangle_indices(context, cells));
    Buffer<Vec3i> triangles(context, 2 * cells.pixels().size());
    Buffer<std::int32_t> count(context, 1);
    Workspace workspace;
    triangle_indices_into(context, cells, triangles, count, workspace);
    ASSERT_EQ(to_host(context, count)[0], static_cast<std::int32_t>(expected.size()));
    ASSERT_GT(expected.size(), 1000u);
    const std::vector<Vec3i> found = to_host(context, triangles);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), found.begin()));
    const Image<std::uint8_t> nothing(context, 0, 0);
    triangle_indices_into(context, nothing, triangles.view().subview(0, 0), count, workspace);
    EXPECT_EQ(to_host(context, count)[0], 0);
    EXPECT_THROW(
        triangle_indices_into(context, cells, triangles.view().subview(0, 7), count, workspace),
        Error);
  }
}

}  // namespace
}  // namespace sextant
