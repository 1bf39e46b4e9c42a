// SPDX-License-Identifier: Apache-2.0
#include "sextant/pose/bundle.h"

#include <gtest/gtest.h>

#include "sextant/core/random.h"
#include "sextant/pose/bundle/math.h"
#include "tests/error_message.h"

namespace sextant {
namespace {

using detail::bundle::kCameraUnknowns;
using testing::error_message;
using testing::mentions;

constexpr Camera kCamera{1000, 800, 900, 910, 510, 395, {-0.1, 0.02, 0.001, -0.002, 0.003}};

Rigid3d looking_from(double turn_rad, double raise_rad) {
  const Mat3d turn = exp_rotation(Vec3d{0.5 + raise_rad, 0, 0}) *
                     exp_rotation(Vec3d{0, turn_rad, 0}) * exp_rotation(Vec3d{0.1, 0.05, turn_rad});
  return {turn, {0.01 * turn_rad, -0.01, 0.6}};
}

/// Eight views of points in a cube, as they are seen without noise; the first `known` are known.
Bundle exact_bundle(int known) {
  Bundle bundle;
  bundle.cameras = {kCamera};
  for (int v = 0; v < 8; ++v) {
    bundle.views.push_back({0, looking_from(0.25 * (v - 4), 0.1 * (v % 3))});
  }
  for (int p = 0; p < 60; ++p) {
    const Random random{7, static_cast<std::uint64_t>(p)};
    const auto at = [&](int i) {
      return 0.2 * random.uniform(static_cast<std::uint64_t>(i)) - 0.1;
    };
    bundle.points.push_back({{at(0), at(1), at(2)}, p < known});
  }
  for (std::int32_t v = 0; v < 8; ++v) {
    for (std::int32_t p = 0; p < 60; ++p) {
      const auto view = static_cast<std::size_t>(v), point = static_cast<std::size_t>(p);
      const Vec2d at =
          project(kCamera, bundle.views[view].camera_from_world * bundle.points[point].at_m);
      if (std::isfinite(at.x)) bundle.observations.push_back({v, p, at});
    }
  }
  return bundle;
}

/// The same with poses, free points and the focal length off by some.
Bundle disturbed(Bundle bundle, double share) {
  std::uint64_t draw = 0;
  const Random random{3, 0};
  const auto off = [&] { return share * random.normal(draw++); };
  for (BundleView& view : bundle.views) {
    const Twist3<double> twist{{off(), off(), off()}, {off(), off(), off()}};
    view.camera_from_world = exp(twist) * view.camera_from_world;
  }
  for (BundlePoint& point : bundle.points) {
    if (!point.known) point.at_m += Vec3d{off(), off(), off()};
  }
  return bundle;
}

TEST(Bundle, DerivativesAreThoseOfDifferences) {
  const Vec3d at{0.12, -0.07, 0.5};
  const auto slopes = detail::bundle::project_with_slopes(kCamera, at);
  const Vec2d plain = project(kCamera, at);
  EXPECT_NEAR(slopes.at_px.x, plain.x, 1e-9);
  EXPECT_NEAR(slopes.at_px.y, plain.y, 1e-9);
  constexpr double kStep = 1e-6;
  for (int i = 0; i < 3; ++i) {
    const Vec3d step{i == 0 ? kStep : 0, i == 1 ? kStep : 0, i == 2 ? kStep : 0};
    const Vec2d difference =
        (project(kCamera, at + step) - project(kCamera, at - step)) * (0.5 / kStep);
    const Vec3d row[2] = {slopes.by_place[0], slopes.by_place[1]};
    EXPECT_NEAR(dot(row[0], step) / kStep, difference.x, 1e-3);
    EXPECT_NEAR(dot(row[1], step) / kStep, difference.y, 1e-3);
  }
  for (int i = 0; i < kCameraUnknowns; ++i) {
    double there[kCameraUnknowns] = {}, back[kCameraUnknowns] = {};
    there[i] = kStep;
    back[i] = -kStep;
    const Vec2d difference = (project(detail::bundle::moved(kCamera, there), at) -
                              project(detail::bundle::moved(kCamera, back), at)) *
                             (0.5 / kStep);
    EXPECT_NEAR(slopes.by_camera[0][i], difference.x, 1e-3) << i;
    EXPECT_NEAR(slopes.by_camera[1][i], difference.y, 1e-3) << i;
  }
}

TEST(Bundle, KnownPointsBringBackPosesPointsAndFocalLength) {
  const Bundle truth = exact_bundle(12);
  Bundle bundle = disturbed(truth, 0.01);
  bundle.cameras[0].fx_px *= 1.05;
  bundle.cameras[0].fy_px *= 1.05;
  bundle.cameras[0].distortion.k1 = 0;
  BundleOptions options;
  options.focal = options.distortion = true;
  const BundleResult result = adjust_bundle(bundle, options);
  EXPECT_TRUE(result.converged);
  EXPECT_GT(result.cost_before, 100);
  EXPECT_LT(result.rms_px, 1e-3);
  EXPECT_NEAR(bundle.cameras[0].fx_px, 900, 0.05);
  EXPECT_NEAR(bundle.cameras[0].fy_px / bundle.cameras[0].fx_px, 910.0 / 900, 1e-12);
  EXPECT_NEAR(bundle.cameras[0].distortion.k1, -0.1, 1e-3);
  for (std::size_t p = 0; p < truth.points.size(); ++p) {
    EXPECT_LT(norm(bundle.points[p].at_m - truth.points[p].at_m), 1e-5) << p;
  }
  ASSERT_EQ(result.focal_deviation_px.size(), 1u);
  EXPECT_LT(result.focal_deviation_px[0], 1);
}

TEST(Bundle, APriorKeepsThePlaceOfTheWorld) {
  const Bundle truth = exact_bundle(0);
  Bundle bundle = disturbed(truth, 0.003);
  BundleOptions options;
  options.pose_m = options.pose_rad = 0.003;
  const BundleResult result = adjust_bundle(bundle, options);
  EXPECT_LT(result.rms_px, 0.2);
  for (std::size_t v = 0; v < truth.views.size(); ++v) {
    // All views together may move by the mean of what they were moved.
    EXPECT_LT(norm(inverse(bundle.views[v].camera_from_world).translation -
                   inverse(truth.views[v].camera_from_world).translation),
              0.006);
  }
}

TEST(Bundle, OutliersHaveLittleSay) {
  const Bundle truth = exact_bundle(30);
  Bundle bundle = disturbed(truth, 0.003);
  for (std::size_t i = 0; i < bundle.observations.size(); i += 15) {
    bundle.observations[i].at_px.x += 60;
  }
  BundleOptions options;
  options.outlier_px = 0.5;
  adjust_bundle(bundle, options);
  for (std::size_t v = 0; v < truth.views.size(); ++v) {
    const Rigid3d off =
        bundle.views[v].camera_from_world * inverse(truth.views[v].camera_from_world);
    EXPECT_LT(norm(off.translation), 0.002) << v;
  }
}

TEST(Bundle, BadInput) {
  Bundle nothing;
  EXPECT_EQ(adjust_bundle(nothing).rms_px, 0);
  Bundle bundle = exact_bundle(12);
  bundle.observations[3].view = 9;
  EXPECT_TRUE(mentions(error_message([&] { adjust_bundle(bundle); }), "of view 9"));
  bundle = exact_bundle(12);
  bundle.observations[3].point = -1;
  EXPECT_TRUE(mentions(error_message([&] { adjust_bundle(bundle); }), "of point -1"));
  // A point that nobody sees, and one behind a camera, stay where they are.
  bundle = exact_bundle(12);
  bundle.points.push_back({{1, 2, 3}, false});
  bundle.points.push_back({{0, 0, -50}, false});
  bundle.observations.push_back({0, 61, {10, 10}});
  adjust_bundle(bundle);
  EXPECT_EQ(bundle.points[60].at_m, (Vec3d{1, 2, 3}));
  EXPECT_EQ(bundle.points[61].at_m, (Vec3d{0, 0, -50}));
}

}  // namespace
}  // namespace sextant
