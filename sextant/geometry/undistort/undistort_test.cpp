// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/undistort.h"

#include <gtest/gtest.h>

#include "tests/devices.h"

namespace sextant {
namespace {

Camera wide_angle() {
  return {320, 240, 260.0, 258.0, 158.3, 121.7, {-0.28, 0.09, 0.001, -0.0007, -0.01}};
}

/// A smooth pattern over the viewing direction: what a distorted and an ideal camera both see.
Rgb8 pattern(const Vec3d& ray) {
  const auto level = [](double value) {
    return static_cast<std::uint8_t>(127.5 + 100 * std::sin(value) + 0.5);
  };
  return {level(6 * ray.x), level(5 * ray.y), level(4 * (ray.x + ray.y))};
}

template <class Pixel, class Scene>
Image<Pixel> photograph(const Camera& camera, const Scene& scene) {
  Image<Pixel> image(Context::cpu(), camera.width, camera.height);
  for (int v = 0; v < camera.height; ++v) {
    for (int u = 0; u < camera.width; ++u) {
      image(u, v) = scene(unproject(camera, Vec2d{double(u), double(v)}));
    }
  }
  return image;
}

TEST(Undistort, GivesWhatTheIdealCameraSees) {
  const Camera camera = wide_angle();
  const Camera ideal = without_distortion(camera);
  const Image<Rgb8> expected = photograph<Rgb8>(ideal, pattern);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<Rgb8> distorted = copy(context, photograph<Rgb8>(camera, pattern));
    const Image<Rgb8> result = to_host(context, undistort(context, distorted, camera, ideal));
    int seen = 0;
    for (int v = 0; v < ideal.height; ++v) {
      for (int u = 0; u < ideal.width; ++u) {
        const Rgb8 got = result(u, v);
        if (got == Rgb8{}) continue;
        ++seen;
        // Rounding to 8 bits twice, and the curvature of the pattern between pixels:
        // 100·6²/(8·260²).
        ASSERT_NEAR(got.x, expected(u, v).x, 1.1) << u << ' ' << v;
        ASSERT_NEAR(got.y, expected(u, v).y, 1.1) << u << ' ' << v;
        ASSERT_NEAR(got.z, expected(u, v).z, 1.1) << u << ' ' << v;
      }
    }
    // Barrel distortion: the ideal camera of the same focal length sees less, so all is covered.
    EXPECT_EQ(seen, 320 * 240);
  }
}

TEST(Undistort, DepthKeepsMeasuredValuesAndHoles) {
  const Camera camera = wide_angle();
  const Camera ideal = without_distortion(camera);
  const auto step = [](const Vec3d& ray) { return ray.x < 0.1 ? 1.0f : ray.y < 0 ? 2.0f : NAN; };
  const Image<float> expected = photograph<float>(ideal, step);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<float> depth = copy(context, photograph<float>(camera, step));
    const Image<float> result = to_host(context, undistort(context, depth, camera, ideal));
    int different = 0;
    for (int v = 0; v < ideal.height; ++v) {
      for (int u = 0; u < ideal.width; ++u) {
        const float got = result(u, v);
        ASSERT_TRUE(got == 1.0f || got == 2.0f || std::isnan(got));
        different += !(got == expected(u, v) || (std::isnan(got) && std::isnan(expected(u, v))));
      }
    }
    // Only along the two edges, where the nearest pixel decides.
    EXPECT_LE(different, 240 + 160);
  }
}

TEST(Undistort, ALargerIdealViewIsBlackOutside) {
  const Camera camera = wide_angle();
  Camera larger = without_distortion(camera);
  larger.fx_px = larger.fy_px = 60;
  const Context context = Context::cpu();
  const Image<Rgb8> image = photograph<Rgb8>(camera, pattern);
  const Image<Rgb8> result = undistort(context, image, camera, larger);
  EXPECT_EQ(result(0, 0), Rgb8{});
  EXPECT_NE(result(158, 121), Rgb8{});
}

TEST(Undistort, Misuse) {
  const Context context = Context::cpu();
  const Camera camera = wide_angle();
  const Image<float> small(context, 10, 10);
  EXPECT_THROW(undistort(context, small, camera, without_distortion(camera)), Error);
  const Image<float> depth(context, 320, 240);
  EXPECT_THROW(undistort(context, depth, camera, camera), Error);
  Camera broken = camera;
  broken.fx_px = 0;
  EXPECT_THROW(undistort(context, depth, broken, without_distortion(camera)), Error);
}

}  // namespace
}  // namespace sextant
