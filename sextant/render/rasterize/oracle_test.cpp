// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "sextant/core/random.h"
#include "sextant/render/rasterize.h"
#include "tests/devices.h"
#include "tests/meshes.h"
#include "tests/renderings.h"

// A ray caster in double as the truth for triangles of every shape, and the rule that each pixel of
// a tessellated surface belongs to exactly one triangle.

namespace sextant {
namespace {

using namespace testing;

const Camera kCamera{64, 48, 60.0, 61.0, 31.3, 24.2, {}};
constexpr double kNear = 0.01;
constexpr double kFar = 100;
// Corners move by at most 1/512 px along each axis when they are rounded, edges therefore by 1/362.
constexpr double kEdgeMarginPx = 1.0 / 128;
constexpr double kDepthTolerance = 2.4e-7;  // 2 ulp, relative

struct Triangle {
  Vec3d corners[3];
};

/// The outline on the screen of what lies before the near plane; unbounded sizes are fine in
/// double.
std::vector<Vec2d> outline(const Triangle& triangle) {
  std::vector<Vec2d> pixels;
  for (int i = 0; i < 3; ++i) {
    const Vec3d& a = triangle.corners[i];
    const Vec3d& b = triangle.corners[(i + 1) % 3];
    if (a.z >= kNear) pixels.push_back(project(kCamera, a));
    if ((a.z >= kNear) != (b.z >= kNear)) {
      Vec3d cut = a + (b - a) * ((kNear - a.z) / (b.z - a.z));
      cut.z = kNear;
      pixels.push_back(project(kCamera, cut));
    }
  }
  return pixels;
}

double distance_to_segment(const Vec2d& p, const Vec2d& a, const Vec2d& b) {
  const Vec2d ab = b - a;
  const double length_sq = dot(ab, ab);
  const double t = length_sq > 0 ? clamp(dot(p - a, ab) / length_sq, 0.0, 1.0) : 0.0;
  const Vec2d away = p - (a + ab * t);
  return std::sqrt(dot(away, away));
}

double distance_to_outline(const Vec2d& p, const std::vector<Vec2d>& points) {
  double nearest = INFINITY;
  for (std::size_t i = 0; i < points.size(); ++i) {
    nearest = std::min(nearest, distance_to_segment(p, points[i], points[(i + 1) % points.size()]));
  }
  return nearest;
}

/// z where the ray meets the triangle, or NaN.
double cast_ray(const Triangle& triangle, const Vec3d& ray) {
  const Vec3d& a = triangle.corners[0];
  const Vec3d ab = triangle.corners[1] - a, ac = triangle.corners[2] - a;
  const Vec3d n = cross(ab, ac);
  const double steepness = dot(n, ray);
  if (steepness == 0) return NAN;
  const double z = dot(n, a) / steepness;
  const Vec3d p = ray * z - a;
  const double s = dot(cross(p, ac), n) / norm_sq(n);
  const double t = dot(cross(ab, p), n) / norm_sq(n);
  const bool hit = s >= 0 && t >= 0 && s + t <= 1 && z >= kNear && z <= kFar;
  return hit ? z : NAN;
}

Vec3f random_point(const Random& random, int draw, float spread, float depth) {
  return {(2 * random.uniform(draw) - 1) * spread, (2 * random.uniform(draw + 1) - 1) * spread,
          depth + (2 * random.uniform(draw + 2) - 1) * spread};
}

/// Ordinary triangles, tiny ones, slivers, ones without area, ones that cross the near plane or the
/// camera's own plane, and ones that reach far beyond the guard band.
std::vector<Triangle> random_triangles(std::uint64_t seed, int count) {
  std::vector<Triangle> triangles;
  for (int i = 0; i < count; ++i) {
    const Random random{seed, static_cast<std::uint64_t>(i)};
    Vec3f a = random_point(random, 0, 1.0f, 1.5f);
    Vec3f b = random_point(random, 3, 1.0f, 1.5f);
    Vec3f c = random_point(random, 6, 1.0f, 1.5f);
    switch (i % 8) {
      case 1:
        b = a + (b - a) * 0.02f, c = a + (c - a) * 0.02f;
        break;
      case 2:
        c = a + (b - a) * 0.6f + (c - a) * 0.003f;
        break;
      case 3:
        c = a + (b - a) * random.uniform(9);
        break;
      case 4:
        c.z = 0.002f * random.uniform(9);
        break;
      case 5:
        b.z = -b.z;
        break;
      case 6:
        b = b * 1e6f, c = random_point(random, 6, 1e5f, 0);
        break;
      case 7:
        a = a * 1e-3f;
        break;
      default:
        break;
    }
    triangles.push_back({{cast<double>(a), cast<double>(b), cast<double>(c)}});
  }
  return triangles;
}

/// Each triangle is an instance of its own, with its number as object id.
struct Soup {
  std::vector<TriangleMesh> meshes;
  std::vector<Instance> instances;

  explicit Soup(const std::vector<Triangle>& triangles) {
    for (const Triangle& t : triangles) {
      const std::vector<Vec3f> points{cast<float>(t.corners[0]), cast<float>(t.corners[1]),
                                      cast<float>(t.corners[2])};
      instances.push_back({static_cast<std::int32_t>(meshes.size()),
                           0,
                           static_cast<std::int32_t>(meshes.size()),
                           {}});
      meshes.push_back(mesh_of(points, {{0, 1, 2}}));
    }
  }
  RenderScene scene(const Context& context) const {
    std::vector<const TriangleMesh*> list;
    for (const TriangleMesh& mesh : meshes) list.push_back(&mesh);
    return RenderScene(context, list);
  }
};

/// Compares every pixel that lies clear of all outlines; returns how many those were.
int compare_with_rays(const std::vector<Triangle>& triangles, const Pictures& seen) {
  std::vector<std::vector<Vec2d>> outlines;
  for (const Triangle& triangle : triangles) outlines.push_back(outline(triangle));
  int compared = 0;
  for (int v = 0; v < kCamera.height; ++v) {
    for (int u = 0; u < kCamera.width; ++u) {
      const Vec2d pixel{static_cast<double>(u), static_cast<double>(v)};
      const Vec3d ray = unproject(kCamera, pixel);
      double nearest = NAN, second = NAN;
      int owner = -1;
      bool clear = true;
      for (std::size_t i = 0; i < triangles.size() && clear; ++i) {
        clear = distance_to_outline(pixel, outlines[i]) > kEdgeMarginPx;
        const double z = cast_ray(triangles[i], ray);
        if (!std::isnan(z) && !(nearest <= z)) {
          second = nearest;
          nearest = z;
          owner = static_cast<int>(i);
        } else if (!std::isnan(z) && !(second <= z)) {
          second = z;
        }
      }
      if (!clear) continue;
      ++compared;
      const float depth = seen.depth_m[seen.at(u, v)];
      if (std::isnan(nearest)) {
        EXPECT_TRUE(std::isnan(depth)) << u << ", " << v << ": " << depth;
        EXPECT_EQ(seen.object_ids[seen.at(u, v)], -1);
        continue;
      }
      EXPECT_NEAR(depth, nearest, kDepthTolerance * nearest) << u << ", " << v;
      if (!(second < nearest * (1 + 2 * kDepthTolerance))) {
        EXPECT_EQ(seen.object_ids[seen.at(u, v)], owner) << u << ", " << v;
      }
    }
  }
  return compared;
}

RenderOptions depth_and_ids() {
  RenderOptions options;
  options.object_ids = true;
  return options;
}

TEST(RasterizeOracle, RandomTrianglesMatchRays) {
  constexpr int kPixels = 64 * 48;
  int compared = 0;
  constexpr int kSoups = 60;
  for (int k = 0; k < kSoups; ++k) {
    const std::vector<Triangle> triangles = random_triangles(seed_of_test() + k, 24);
    const Soup soup(triangles);
    for (const Context& context : all_contexts()) {
      if (k > 3 && context.is_cpu() && context.threads() != 2) continue;
      SCOPED_TRACE(describe(context) + ", soup " + std::to_string(k));
      const Pictures seen = pictures(
          context, render(context, soup.scene(context), kCamera, soup.instances, depth_and_ids()));
      const int clear = compare_with_rays(triangles, seen);
      EXPECT_GT(clear, kPixels / 2);
      compared += clear;
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(compared, kSoups * kPixels / 2);
}

TEST(RasterizeOracle, SingleTrianglesOfExtremeSizeMatchRays) {
  const std::vector<Triangle> cases{
      {{{-1e6, -1e6, 5}, {1e6, -1e6, 5}, {0, 1e6, 5}}},       // corners far away
      {{{-1e6, 1, -1e6}, {1e6, 1, -1e6}, {0, 1, 1e6}}},       // a floor, also behind the camera
      {{{-1e6, -1e6, -1e5}, {1e6, -1e6, 1e5}, {0, 1e6, 7}}},  // oblique, through the camera's plane
      {{{-5, 0.5, 0}, {5, 0.5, 0}, {0, 0.5, 3}}},             // an edge in the camera's plane
      {{{-0.2, 0.1, 0}, {0.5, 0.2, 1}, {-0.5, 0.4, 2}}},      // a corner in the camera's plane
      {{{-0.1, -0.1, 0.005}, {0.2, 0, 0.02}, {0, 0.2, 0.02}}},  // across the near plane
      {{{-9, -9, 90}, {900, 0, 110}, {0, 900, 130}}},           // across the far limit
      {{{-1, -1, 1}, {1, -1, 1.5}, {1e-3, 30, 1}}},             // larger than the image
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    // The renderer sees the corners as floats.
    Triangle rounded = cases[i];
    for (Vec3d& corner : rounded.corners) corner = cast<double>(cast<float>(corner));
    const Soup soup({rounded});
    for (const Context& context : all_contexts()) {
      SCOPED_TRACE(describe(context) + ", case " + std::to_string(i));
      const Pictures seen = pictures(
          context, render(context, soup.scene(context), kCamera, soup.instances, depth_and_ids()));
      EXPECT_GT(compare_with_rays({rounded}, seen), 2500);
      EXPECT_GT(std::count(seen.object_ids.begin(), seen.object_ids.end(), 0), 50);
    }
  }
}

TEST(RasterizeOracle, TrianglesSeenEdgeOnStayOnTheirLine) {
  const std::vector<Triangle> triangles{
      {{{0, 0, 0}, {1, 1, 1}, {-1, 1, 2}}},              // a corner in the camera
      {{{-1, -0.7, 1}, {1, 0.7, 1}, {1, 0.7, 3}}},       // the camera in the plane
      {{{0.1, -2, 1}, {0.1, 3, 1}, {0.3, 2, 3}}},        // the same along a column
      {{{-0.4, 0, 1}, {0.6, 1e-7, 1}, {0.6, -0.1, 2}}},  // nearly
  };
  for (Triangle triangle : triangles) {
    for (Vec3d& corner : triangle.corners) corner = cast<double>(cast<float>(corner));
    const Soup soup({triangle});
    for (const Context& context : all_contexts()) {
      const Pictures seen = pictures(
          context, render(context, soup.scene(context), kCamera, soup.instances, depth_and_ids()));
      EXPECT_GT(compare_with_rays({triangle}, seen), 2900);
      for (const float z : seen.depth_m) EXPECT_TRUE(std::isnan(z) || (z >= 0.01f && z <= 3.0f));
    }
  }
}

}  // namespace
}  // namespace sextant
