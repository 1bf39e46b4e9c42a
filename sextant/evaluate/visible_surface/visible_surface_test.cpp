// SPDX-License-Identifier: Apache-2.0
#include "sextant/evaluate/visible_surface.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/core/random.h"
#include "tests/devices.h"
#include "tests/error_message.h"
#include "tests/meshes.h"

namespace sextant {
namespace {

/// f = 100 px, so that a plate of 0.4 m at 1 m covers 40 pixels: from 12 to 51 in an image 64 wide
/// about column 32, since its left edge lies at 31.5 - 20 = 11.5.
const Camera kCamera{64, 48, 100, 100, 31.5, 23.5, {}};

TriangleMesh plate() { return testing::quad({-0.2f, -0.1f, 0}, {0.4f, 0, 0}, {0, 0.2f, 0}); }

Bounds bounds_of(const TriangleMesh& mesh) { return bounds(Context::cpu(), mesh.vertices.points); }

Image<float> depth_of(float z) {
  Image<float> depth(Context::cpu(), kCamera.width, kCamera.height);
  for (float& pixel : depth.pixels().host()) pixel = z;
  return depth;
}

Rigid3d at(double x, double y, double z) { return {Mat3d::identity(), {x, y, z}}; }

/// A truth at 1 m and an estimate elsewhere, in a measured map.
SurfaceCounts compare(const Context& context, const Rigid3d& estimate, const Rigid3d& truth,
                      const Image<float>& measured, double diameter_m) {
  const TriangleMesh mesh = plate();
  const RenderScene scene(context, mesh);
  const Bounds box = bounds_of(mesh);
  const std::vector<DrawnPose> poses{{0, estimate}, {0, truth}};
  const PosePair pair{0, 1, diameter_m};
  const Image<float> on_device = copy(context, measured);
  VisibleSurfaceMemory memory;
  return compare_surfaces(context, scene, {&box, 1}, kCamera, on_device, poses, {&pair, 1}, {},
                          memory)
      .at(0);
}

TEST(VisibleSurface, APlateMovedAsideByPixels) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    // 40 x 20 pixels each; five columns aside leave 35 in common and 45 in the union.
    const SurfaceCounts counts =
        compare(context, at(0.05, 0, 1), at(0, 0, 1), depth_of(1.0f), 0.447);
    EXPECT_EQ(counts.union_px, 45 * 20);
    EXPECT_EQ(counts.common_px, 35 * 20);
    for (int i = 0; i < kVsdTolerances; ++i) {
      EXPECT_EQ(counts.within_px[i], 35 * 20);
      EXPECT_DOUBLE_EQ(counts.vsd(i), 10.0 / 45);
    }
  }
}

TEST(VisibleSurface, APlateMovedAlongTheViewIsJudgedByTheTolerance) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    // 12 mm nearer, a little larger in the picture: at the centre the distance differs by 12 mm, at
    // the corners of the view by sqrt(1 + 0.2² + 0.1²) = 1.025 times as much. With a diameter of
    // 0.1 m all of that is within 0.15 of it and beyond 0.10.
    const SurfaceCounts counts =
        compare(context, at(0, 0, 0.988), at(0, 0, 1), depth_of(1.0f), 0.1);
    EXPECT_EQ(counts.common_px, 40 * 20);
    EXPECT_EQ(counts.within_px[0], 0);
    EXPECT_EQ(counts.within_px[1], 0);
    EXPECT_EQ(counts.within_px[2], counts.common_px);
    EXPECT_EQ(counts.vsd(1), 1.0);
  }
}

TEST(VisibleSurface, WhatIsHiddenDoesNotCount) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Image<float> measured = depth_of(1.0f);
    for (int v = 0; v < kCamera.height; ++v) {
      for (int u = 0; u < 22; ++u) measured(u, v) = 0.5f;  // something stands before it
      for (int u = 42; u < 64; ++u) measured(u, v) = NAN;  // nothing was measured
    }
    const SurfaceCounts counts = compare(context, at(0, 0, 1), at(0, 0, 1), measured, 0.4);
    // Columns 12 to 21 are hidden, 22 to 51 count; a missing depth hides nothing.
    EXPECT_EQ(counts.union_px, 30 * 20);
    EXPECT_EQ(counts.vsd(0), 0.0);
    // An estimate behind the measured surface is visible only where the truth is.
    const SurfaceCounts behind = compare(context, at(0, 0, 1.2), at(0, 0, 1), measured, 10.0);
    EXPECT_EQ(behind.union_px, 30 * 20);
    EXPECT_GT(behind.common_px, 0);
    // Nothing visible at all: the error is 1.
    const SurfaceCounts none = compare(context, at(0, 0, 1), at(0, 0, 1), depth_of(0.4f), 0.4);
    EXPECT_EQ(none.union_px, 0);
    EXPECT_EQ(none.vsd(9), 1.0);
  }
}

TEST(VisibleSurface, EqualsTheDefinitionByBruteForceOnEveryDevice) {
  const TriangleMesh ball = testing::sphere(0.08f, 24, 32);
  const TriangleMesh flat = plate();
  const std::vector<const TriangleMesh*> meshes{&ball, &flat};
  const std::vector<Bounds> boxes{bounds_of(ball), bounds_of(flat)};
  const Random random{testing::seed_of_test(), 1};
  Image<float> measured = depth_of(0.9f);
  for (std::int64_t i = 0; i < measured.pixels().size(); ++i) {
    const float r = random.uniform(static_cast<std::uint64_t>(i));
    measured.pixels().data()[i] = r < 0.1f ? NAN : 0.85f + 0.1f * r;
  }
  std::vector<DrawnPose> poses;
  std::vector<PosePair> pairs;
  for (int i = 0; i < 12; ++i) {
    const auto draw = [&](int k) {
      return double{random.uniform(static_cast<std::uint64_t>(100000 + 10 * i + k))} - 0.5;
    };
    poses.push_back({i % 2,
                     {exp_rotation(Vec3d{draw(0), draw(1), draw(2)} * 2.0),
                      {0.3 * draw(3), 0.2 * draw(4), 0.9 + 0.1 * draw(5)}}});
    if (i >= 2) pairs.push_back({i, i - 2, 0.3});
  }
  std::vector<std::vector<SurfaceCounts>> all;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const RenderScene scene(context, meshes);
    const Image<float> on_device = copy(context, measured);
    VisibleSurfaceMemory memory;
    all.push_back(
        compare_surfaces(context, scene, boxes, kCamera, on_device, poses, pairs, {}, memory));
    const Rendering drawn = to_host(context, memory.rendering);
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      // Masks and sums as the benchmark's paper writes them, over whole images.
      std::int64_t both = 0, either = 0;
      std::int64_t wrong[kVsdTolerances] = {};
      for (int v = 0; v < kCamera.height; ++v) {
        for (int u = 0; u < kCamera.width; ++u) {
          const double length =
              std::sqrt(1 + std::pow((u - 31.5) / 100, 2) + std::pow((v - 23.5) / 100, 2));
          const auto distance = [&](float z) { return z > 0 ? z * length : 0.0; };
          const double e = distance(drawn.depth_m_of(pairs[p].estimate)(u, v));
          const double t = distance(drawn.depth_m_of(pairs[p].truth)(u, v));
          const double m = distance(measured(u, v));
          const bool truth_seen = t > 0 && (m == 0 || t - m <= 0.015);
          const bool estimate_seen = e > 0 && (m == 0 || e - m <= 0.015 || truth_seen);
          either += truth_seen || estimate_seen;
          if (!(truth_seen && estimate_seen)) continue;
          ++both;
          for (int i = 0; i < kVsdTolerances; ++i) {
            wrong[i] += std::abs(e - t) / 0.3 >= vsd_tolerance(i);
          }
        }
      }
      const SurfaceCounts& counts = all.back()[p];
      EXPECT_EQ(counts.union_px, either);
      EXPECT_EQ(counts.common_px, both);
      for (int i = 0; i < kVsdTolerances; ++i) {
        if (either == 0) continue;
        EXPECT_NEAR(counts.vsd(i),
                    static_cast<double>(wrong[i] + either - both) / static_cast<double>(either),
                    1e-12);
      }
    }
    // The same counts on every device.
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      EXPECT_EQ(all.back()[p].union_px, all.front()[p].union_px);
      EXPECT_EQ(all.back()[p].within_px[4], all.front()[p].within_px[4]);
    }
  }
}

TEST(VisibleSurface, VisibleSharesAndBoxes) {
  const TriangleMesh mesh = plate();
  const Bounds box = bounds_of(mesh);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const RenderScene scene(context, mesh);
    Image<float> measured = depth_of(1.0f);
    for (int v = 0; v < kCamera.height; ++v) {
      for (int u = 0; u < 22; ++u) measured(u, v) = 0.5f;
      for (int u = 42; u < 64; ++u) measured(u, v) = NAN;
    }
    const Image<float> on_device = copy(context, measured);
    VisibleSurfaceMemory memory;
    // In the middle; half outside on the right; behind everything; out of view.
    const std::vector<DrawnPose> poses{
        {0, at(0, 0, 1)}, {0, at(0.32, 0, 1)}, {0, at(0, 0, 1.5)}, {0, at(9, 0, 1)}};
    const auto counts =
        measure_visible(context, scene, {&box, 1}, kCamera, on_device, poses, {}, memory);
    EXPECT_EQ(counts[0].all_px, 800);
    EXPECT_EQ(counts[0].valid_px, 30 * 20);
    EXPECT_EQ(counts[0].visible_px, 30 * 20);
    EXPECT_DOUBLE_EQ(counts[0].fraction(), 0.75);
    EXPECT_EQ(counts[0].box.left, 12);
    EXPECT_EQ(counts[0].box.right, 52);
    EXPECT_EQ(counts[0].box.top, 14);
    EXPECT_EQ(counts[0].box.bottom, 34);
    EXPECT_EQ(counts[0].visible_box.left, 22);
    EXPECT_EQ(counts[1].all_px, 800);
    EXPECT_EQ(counts[1].box.right, 84);
    EXPECT_EQ(counts[1].visible_px, 20 * 20);
    // Behind the measured surface only what was not measured may show.
    EXPECT_EQ(counts[2].valid_px > 0, true);
    EXPECT_LT(counts[2].fraction(), 0.3);
    EXPECT_EQ(counts[3].all_px, 0);
    EXPECT_EQ(counts[3].fraction(), 0);
    EXPECT_TRUE(counts[3].box.empty());
  }
}

TEST(VisibleSurface, RefusesWhatItCannotDraw) {
  const Context context = Context::cpu(1);
  const TriangleMesh mesh = plate();
  const RenderScene scene(context, mesh);
  const Bounds box = bounds_of(mesh);
  const Image<float> measured = depth_of(1);
  VisibleSurfaceMemory memory;
  const std::vector<DrawnPose> poses{{0, at(0, 0, 1)}};
  const auto refused = [&](const Camera& camera, const DrawnPose& pose, PosePair pair) {
    return testing::error_message([&] {
      compare_surfaces(context, scene, {&box, 1}, camera, measured, {&pose, 1}, {&pair, 1}, {},
                       memory);
    });
  };
  Camera bent = kCamera;
  bent.distortion.k1 = 0.1;
  EXPECT_TRUE(testing::mentions(refused(bent, poses[0], {0, 0, 1}), "distorted"));
  EXPECT_TRUE(testing::mentions(refused(kCamera, {3, at(0, 0, 1)}, {0, 0, 1}), "mesh 3"));
  EXPECT_TRUE(testing::mentions(refused(kCamera, poses[0], {0, 1, 1}), "0 and 1"));
  EXPECT_TRUE(testing::mentions(refused(kCamera, poses[0], {0, 0, 0}), "diameter_m"));
  Camera small = kCamera;
  small.width = 32;
  EXPECT_TRUE(testing::mentions(refused(small, poses[0], {0, 0, 1}), "measured_m"));
}

}  // namespace
}  // namespace sextant
