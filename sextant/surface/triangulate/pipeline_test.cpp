// SPDX-License-Identifier: Apache-2.0
// Normals, statistics and triangulation as one recorded sequence: what a camera's frame goes
// through.
#include <gtest/gtest.h>

#include <cstring>

#include "sextant/core/graph.h"
#include "sextant/depth/deproject.h"
#include "sextant/io/png.h"
#include "sextant/surface/normals.h"
#include "sextant/surface/triangulate.h"
#include "tests/devices.h"
#include "tests/organised_scene.h"
#include "tests/shared_data.h"

namespace sextant {
namespace {

using testing::OrganisedScene;

TEST(OrganisedPipeline, ReplaysWithoutAllocating) {
  constexpr int kWidth = 160, kHeight = 120;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Image<Vec3f> points(copy(context, std::vector<Vec3f>(kWidth * kHeight)), kWidth, kHeight);
    Image<Vec3f> normals(context, kWidth, kHeight);
    Image<std::uint8_t> cells(context, kWidth - 1, kHeight - 1);
    Buffer<SurfaceStatistics> statistics(context, 1);
    Workspace workspace;
    const auto frame = [&] {
      estimate_normals_into(context, points, {}, normals);
      surface_statistics_into(context, points, normals, {}, statistics, workspace);
      triangulate_into(context, points, normals, statistics, {}, cells);
    };
    frame();  // the workspace grows to its size
    const Graph graph = Graph::capture(context, frame);
    for (const double radius_m : {0.1, 0.14}) {
      const OrganisedScene scene =
          testing::look_at(testing::SphereSurface{.radius_m = radius_m},
                           {.width = kWidth, .height = kHeight, .noise_m = 0.0002});
      copy<Vec3f>(context, view_of(scene.points), points.pixels().view());
      context.synchronize();
      const Counters before = context.counters();
      graph.launch();
      graph.launch();
      EXPECT_EQ(context.counters().allocations, before.allocations);
      EXPECT_EQ(context.counters().synchronisations, before.synchronisations);
      EXPECT_EQ(context.counters().downloads, before.downloads);
      context.synchronize();

      // The same as one operation after the other.
      const Image<Vec3f> direct_normals = estimate_normals(context, points);
      const SurfaceStatistics direct = surface_statistics(context, points, direct_normals);
      const Image<std::uint8_t> direct_cells = triangulate(context, points, direct_normals, direct);
      const SurfaceStatistics replayed = to_host(context, statistics)[0];
      EXPECT_EQ(std::memcmp(&replayed, &direct, sizeof direct), 0);
      EXPECT_EQ(to_host(context, cells.pixels()), to_host(context, direct_cells.pixels()));
      // Pixels are 1.7 mm to 1.9 mm apart on the sphere, more where it turns away.
      EXPECT_GT(direct.resolution_m, 0.0016f);
      EXPECT_LT(direct.resolution_m, 0.004f);
      EXPECT_GT(triangle_indices(context, cells).size(), 5000);
    }
  }
}

TEST(OrganisedPipeline, APlaneIsWholeWithItsOwnStatistics) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const Vec3d& normal : {Vec3d{0, 0, -1}, Vec3d{0, 1, -1}}) {
      const Image<Vec3f> points = testing::look_at(testing::PlaneSurface{1.0, normal}).on(context);
      const Image<Vec3f> normals = estimate_normals(context, points);
      const SurfaceStatistics statistics = surface_statistics(context, points, normals);
      const auto triangles = [&](const TriangulateOptions& options) {
        const Image<std::uint8_t> cells =
            triangulate(context, points, normals, statistics, options);
        return triangle_indices(context, cells).size();
      };
      EXPECT_EQ(triangles({}), 2 * 159 * 119);
      // The paper's T_d is shorter than any diagonal.
      EXPECT_EQ(triangles({.edge_length = EdgeLength::kFrame, .least_edge_resolutions = 0}), 0);
    }
  }
}

TEST(OrganisedPipeline, CudaAgreesWithTheCpu) {
  const OrganisedScene scene = testing::look_at(
      testing::SphereSurface{}, {.noise_m = 0.0005, .seed = testing::seed_of_test()});
  const auto run = [&](const Context& context, SurfaceStatistics& statistics) {
    const Image<Vec3f> points = scene.on(context);
    const Image<Vec3f> normals = estimate_normals(context, points);
    statistics = surface_statistics(context, points, normals);
    return to_host(context, triangulate(context, points, normals, statistics).pixels());
  };
  SurfaceStatistics on_cpu;
  const std::vector<std::uint8_t> cpu = run(Context::cpu(), on_cpu);
  for (const Context& context : testing::all_contexts()) {
    if (context.is_cpu()) continue;
    SurfaceStatistics on_cuda;
    const std::vector<std::uint8_t> cuda = run(context, on_cuda);
    EXPECT_NEAR(on_cuda.max_edge_m, on_cpu.max_edge_m, 1e-5 * on_cpu.max_edge_m);
    EXPECT_NEAR(on_cuda.max_angle_rad, on_cpu.max_angle_rad, 1e-4 * on_cpu.max_angle_rad);
    int differing = 0;
    for (std::size_t i = 0; i < cpu.size(); ++i) differing += cpu[i] == cuda[i] ? 0 : 1;
    // Only edges within rounding of a limit may fall on the other side.
    EXPECT_LE(differing, 5);
  }
}

/// Triangles between `near_m` and `far_m` over all that their valid neighbours allow.
double share_of_triangles(const Context& context, const Image<Vec3f>& points, EdgeLength length,
                          float near_m, float far_m) {
  const Image<Vec3f> normals = estimate_normals(context, points);
  const SurfaceStatistics statistics = surface_statistics(context, points, normals);
  const std::vector<std::uint8_t> cells = to_host(
      context, triangulate(context, points, normals, statistics, {.edge_length = length}).pixels());
  const std::vector<Vec3f> p = to_host(context, points.pixels());
  const std::vector<Vec3f> n = to_host(context, normals.pixels());
  const int width = points.width();
  std::int64_t possible = 0, found = 0;
  for (int v = 0; v + 1 < points.height(); ++v) {
    for (int u = 0; u + 1 < width; ++u) {
      const auto at = static_cast<std::size_t>(v) * static_cast<std::size_t>(width) +
                      static_cast<std::size_t>(u);
      bool whole = p[at].z >= near_m && p[at].z < far_m;
      for (const std::size_t i : {at, at + 1, at + static_cast<std::size_t>(width),
                                  at + static_cast<std::size_t>(width) + 1}) {
        whole = whole && is_finite(p[i]) && is_finite(n[i]) && std::abs(p[i].z - p[at].z) < 0.1f;
      }
      if (!whole) continue;
      possible += 2;
      const std::uint8_t cell =
          cells[static_cast<std::size_t>(v) * static_cast<std::size_t>(width - 1) +
                static_cast<std::size_t>(u)];
      found += (cell & 1) + (cell >> 1 & 1);
    }
  }
  return static_cast<double>(found) / static_cast<double>(std::max<std::int64_t>(possible, 1));
}

TEST(OrganisedPipeline, EdgesFollowTheDepth) {
  // A floor from 0.6 m to 5 m under a camera that looks down by 20 degrees.
  const Image<Vec3f> host =
      testing::look_at(testing::PlaneSurface{1.2, {0, -2.0, -1}}, {.width = 160, .height = 360})
          .on(Context::cpu());
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<Vec3f> points = copy(context, host);
    EXPECT_GT(share_of_triangles(context, points, EdgeLength::kLocal, 0, 100), 0.99);
  }
}

TEST(OrganisedPipeline, FarSurfacesOfRealFramesAreMeshed) {
  const auto folder = testing::shared_data("rgbd_7scenes");
  if (!folder) GTEST_SKIP() << "the captured frames are not here";
  const Camera camera{640, 480, 585, 585, 320, 240, {}};
  double local = 0, frame = 0;
  int frames = 0;
  for (const auto& entry : std::filesystem::directory_iterator(*folder)) {
    if (!entry.path().filename().string().ends_with(".depth.png")) continue;
    Image<float> depth_m = read_depth_png(entry.path());
    for (float& z_m : depth_m.pixels().host()) z_m = z_m < 60.0f ? z_m : NAN;  // 65535 is none
    const Context context = Context::cpu();
    const Image<Vec3f> points(std::move(deproject(context, depth_m, camera).points), 640, 480);
    local += share_of_triangles(context, points, EdgeLength::kLocal, 2.0f, 3.0f);
    frame += share_of_triangles(context, points, EdgeLength::kFrame, 2.0f, 3.0f);
    ++frames;
  }
  ASSERT_GT(frames, 0);
  printf("triangles at 2 to 3 m: %.3f with local edges, %.3f with one length for the frame\n",
         local / frames, frame / frames);
  EXPECT_GT(local / frames, 0.8);
  EXPECT_GT(local, frame);
}

}  // namespace
}  // namespace sextant
