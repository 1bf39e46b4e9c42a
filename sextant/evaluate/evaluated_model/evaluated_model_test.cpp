// SPDX-License-Identifier: Apache-2.0
#include "sextant/evaluate/evaluated_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/core/random.h"
#include "sextant/render/rasterize.h"
#include "tests/devices.h"
#include "tests/error_message.h"

namespace sextant {
namespace {

constexpr double kRadius_m = 0.05;

/// Points at random on a sphere, with or without their normals.
TriangleMesh ball(std::uint64_t seed, int count, bool with_normals) {
  std::vector<Vec3f> points, normals;
  for (int i = 0; i < count; ++i) {
    const Random random{seed, static_cast<std::uint64_t>(i)};
    const Vec3d n = normalized(Vec3d{random.normal(0), random.normal(1), random.normal(2)});
    points.push_back(cast<float>(n * kRadius_m));
    normals.push_back(cast<float>(n));
  }
  TriangleMesh cloud;
  cloud.vertices.points = copy(Context::cpu(), points);
  if (with_normals) cloud.vertices.normals = copy(Context::cpu(), normals);
  return cloud;
}

TEST(EvaluatedModel, OfACloudIsDrawnAsItsSurface) {
  constexpr int kPoints = 2620;
  constexpr double kDistance_m = 0.5;
  const Camera camera{160, 160, 525, 525, 79.5, 79.5, {}};
  // A chord over a circle of radius r lies r² / 2R inside the sphere. Circles are no larger than
  // 2.5 spacings, and rays meet the part that is looked at within 50° of its normals.
  const double spacing_m = std::sqrt(4 * M_PI / kPoints) * kRadius_m;
  const double most_m = std::pow(2.5 * 1.2 * spacing_m, 2) / (2 * kRadius_m) / std::cos(0.88);
  for (const bool with_normals : {true, false}) {
    const EvaluatedModel model =
        make_evaluated_model(3, ball(testing::seed_of_test(), kPoints, with_normals), {});
    EXPECT_EQ(model.points.size(), static_cast<std::size_t>(kPoints));
    Instance instance;
    instance.camera_from_object.translation = {0, 0, static_cast<float>(kDistance_m)};
    const Context cpu = Context::cpu();
    const Rendering drawn =
        render(cpu, RenderScene(cpu, model.mesh), camera, std::span(&instance, 1));
    const ImageView<const float> depth_m = drawn.depth_m_of(0);
    int looked_at = 0, holes = 0, outside = 0;
    for (int v = 0; v < camera.height; ++v) {
      for (int u = 0; u < camera.width; ++u) {
        const Vec3d ray{(u - camera.cx_px) / camera.fx_px, (v - camera.cy_px) / camera.fy_px, 1};
        const double length = norm(ray), along = kDistance_m / length;
        const double aside_m = std::sqrt(kDistance_m * kDistance_m - along * along);
        const bool hit = depth_m(u, v) > 0;
        if (aside_m > kRadius_m) outside += hit;
        if (aside_m > 0.75 * kRadius_m) continue;
        ++looked_at;
        if (!hit) {
          ++holes;
          continue;
        }
        const double inside_m = std::sqrt(kRadius_m * kRadius_m - aside_m * aside_m);
        const double expected_m = (along - inside_m) / length;
        const double behind_m = static_cast<double>(depth_m(u, v)) - expected_m;
        EXPECT_GT(behind_m, -1e-5) << u << ' ' << v;
        EXPECT_LT(behind_m, most_m) << u << ' ' << v;
      }
    }
    EXPECT_GT(looked_at, 4000);
    EXPECT_EQ(holes, 0) << with_normals;
    EXPECT_EQ(outside, 0) << with_normals;
  }
}

TEST(EvaluatedModel, RefusesWhatCannotBeDrawn) {
  TriangleMesh two;
  two.vertices.points = copy(Context::cpu(), std::vector<Vec3f>{{0, 0, 0}, {1, 0, 0}});
  EXPECT_TRUE(testing::mentions(
      testing::error_message([&] { make_evaluated_model(3, std::move(two), {}); }),
      "object 3: its points lie too far apart"));
}

}  // namespace
}  // namespace sextant
