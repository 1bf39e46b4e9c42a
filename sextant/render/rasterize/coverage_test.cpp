// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "sextant/core/random.h"
#include "sextant/render/rasterize/math.h"
#include "tests/devices.h"
#include "tests/meshes.h"
#include "tests/renderings.h"

// Each pixel of a tessellated surface belongs to exactly one triangle.

namespace sextant {

using namespace detail::rasterize;
namespace {

using namespace testing;

const Camera kCamera{64, 48, 60.0, 61.0, 31.3, 24.2, {}};

/// How many triangles of a mesh draw each pixel: every triangle is drawn into a view of its own.
std::vector<int> coverage(const Context& context, const std::vector<Vec3f>& points,
                          const std::vector<Vec3i>& triangles) {
  std::vector<TriangleMesh> meshes;
  std::vector<Instance> instances;
  for (std::size_t i = 0; i < triangles.size(); ++i) {
    meshes.push_back(mesh_of(points, {triangles[i]}));
    instances.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(i), 0, {}});
  }
  std::vector<const TriangleMesh*> list;
  for (const TriangleMesh& mesh : meshes) list.push_back(&mesh);
  const RenderScene scene(context, list);
  const Pictures seen = pictures(context, render(context, scene, kCamera, instances));
  const std::size_t pixels = static_cast<std::size_t>(kCamera.width) * kCamera.height;
  std::vector<int> counts(pixels);
  for (std::size_t i = 0; i < seen.depth_m.size(); ++i) {
    counts[i % pixels] += std::isnan(seen.depth_m[i]) ? 0 : 1;
  }
  return counts;
}

/// A grid of quads, each cut along a random diagonal.
std::vector<Vec3i> grid_triangles(std::uint64_t seed, int columns, int rows) {
  std::vector<Vec3i> triangles;
  for (int row = 0; row + 1 < rows; ++row) {
    for (int column = 0; column + 1 < columns; ++column) {
      const int a = row * columns + column, b = a + 1, c = a + columns, d = c + 1;
      if (Random{seed, static_cast<std::uint64_t>(a)}.below(2, 0) == 0) {
        triangles.insert(triangles.end(), {{a, b, d}, {a, d, c}});
      } else {
        triangles.insert(triangles.end(), {{a, b, c}, {b, d, c}});
      }
    }
  }
  return triangles;
}

TEST(RasterizeCoverage, TessellationCoversEveryPixelOnce) {
  // Corners on pixel centres, half-way between them, and anywhere: edges pass through many centres.
  for (const double step : {1.0, 0.5, 0.0}) {
    constexpr int kSide = 14;
    std::vector<Vec3f> points;
    for (int row = 0; row < kSide; ++row) {
      for (int column = 0; column < kSide; ++column) {
        const Random random{seed_of_test(), points.size()};
        Vec2d pixel{-3 + column * 5.5 + 2 * random.uniform(0),
                    -3 + row * 4.5 + 2 * random.uniform(1)};
        if (step > 0)
          pixel = {std::round(pixel.x / step) * step, std::round(pixel.y / step) * step};
        const double z = 1 + random.uniform(2);
        points.push_back(cast<float>(unproject(kCamera, pixel) * z));
      }
    }
    const std::vector<Vec3i> triangles = grid_triangles(seed_of_test(), kSide, kSide);
    for (const Context& context : all_contexts()) {
      SCOPED_TRACE(describe(context) + ", step " + std::to_string(step));
      for (const int count : coverage(context, points, triangles)) ASSERT_EQ(count, 1);
    }
  }
}

TEST(RasterizeCoverage, FanCoversEveryPixelOnce) {
  constexpr int kBlades = 150;
  std::vector<Vec3f> points{cast<float>(unproject(kCamera, Vec2d{30, 20}))};  // on a pixel centre
  std::vector<Vec3i> triangles;
  for (int i = 0; i < kBlades; ++i) {
    const double turn = 2 * M_PI * i / kBlades;
    points.push_back({static_cast<float>(9 * std::cos(turn)),
                      static_cast<float>(9 * std::sin(turn)), 3.0f + static_cast<float>(i % 3)});
    triangles.push_back({0, 1 + i, 1 + (i + 1) % kBlades});
  }
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    for (const int count : coverage(context, points, triangles)) ASSERT_EQ(count, 1);
  }
}

/// A floor that runs from behind the camera to far beyond: most of its edges are cut, and the two
/// triangles at a cut edge must agree on the point.
TEST(RasterizeCoverage, CutTessellationCoversEveryPixelOnce) {
  constexpr int kSide = 10;
  std::vector<Vec3f> points;
  for (int row = 0; row < kSide; ++row) {
    for (int column = 0; column < kSide; ++column) {
      const Random random{seed_of_test(), points.size()};
      const bool rim = row == 0 || column == 0 || row == kSide - 1 || column == kSide - 1;
      const float jitter_m = rim ? 0.0f : 0.6f;
      points.push_back({(static_cast<float>(column) - 4.5f) * 2e3f,
                        0.2f + 0.02f * random.uniform(0),
                        (static_cast<float>(row) - 4.7f) + jitter_m * random.uniform(1)});
    }
  }
  const std::vector<Vec3i> triangles = grid_triangles(seed_of_test(), kSide, kSide);
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    const std::vector<int> counts = coverage(context, points, triangles);
    for (int v = 0; v < kCamera.height; ++v) {
      for (int u = 0; u < kCamera.width; ++u) {
        // The floor lies 0.20 to 0.22 below the camera and ends 4.3 before it.
        const double y = (v - kCamera.cy_px) / kCamera.fy_px;
        const int count = counts[static_cast<std::size_t>(v) * kCamera.width + u];
        const bool undecided = y >= 0.20 / 4.4 && y <= 0.22 / 4.2;
        ASSERT_TRUE(undecided || count == (y > 0.21 / 4.3 ? 1 : 0)) << u << ", " << v;
      }
    }
  }
}

TEST(RasterizeCoverage, PixelsOnAnEdgeBelongToTheLeftAndTopOne) {
  const auto at = [](double u, double v) {
    return cast<float>(unproject(kCamera, Vec2d{u, v}) * 2.0);
  };
  for (const bool turned : {false, true}) {
    std::vector<Vec3f> points{at(10, 10), at(20, 10), at(20, 18), at(10, 18)};
    if (turned) std::reverse(points.begin(), points.end());
    for (const Context& context : all_contexts()) {
      const std::vector<int> counts = coverage(context, points, {{0, 1, 2}, {0, 2, 3}});
      for (int v = 0; v < kCamera.height; ++v) {
        for (int u = 0; u < kCamera.width; ++u) {
          const bool inside = u >= 10 && u < 20 && v >= 10 && v < 18;
          EXPECT_EQ(counts[static_cast<std::size_t>(v) * kCamera.width + u], inside ? 1 : 0);
        }
      }
    }
  }
}

/// The outline A, B, A runs along one edge forth and back, as two neighbours do.
TEST(RasterizeCoverage, NeighboursCutTheirEdgeAtTheSamePoint) {
  int cut = 0;
  for (int i = 0; i < 100000; ++i) {
    const Random random{seed_of_test(), static_cast<std::uint64_t>(i)};
    const auto draw = [&](int k) { return 1e6 * (2 * double{random.uniform(k)} - 1); };
    const Vec3d a{draw(0), draw(1), 9e5 + draw(2)};
    const Vec3d b{draw(3), draw(4), -9e5 + draw(5)};
    ScreenPoint points[kMaxPolygonPoints];
    const int count = clip(kCamera, 0.01, {{a, b, a}}, points);
    for (int k = 0; k < count; ++k) {
      ASSERT_EQ(points[k].x, points[count - 1 - k].x);
      ASSERT_EQ(points[k].y, points[count - 1 - k].y);
    }
    cut += count > 0;
  }
  EXPECT_GT(cut, 10000);
}

}  // namespace
}  // namespace sextant
