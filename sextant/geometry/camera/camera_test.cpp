// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/camera.h"

#include <gtest/gtest.h>

#include "sextant/core/random.h"
#include "tests/devices.h"

namespace sextant {
namespace {

const Distortion<double> kLenses[] = {
    {},
    {-0.28, 0.09, 0.001, -0.0007, -0.01},  // wide angle, barrel
    {0.26, -0.95, -0.005, 0.0026, 1.16},   // Kinect's colour camera
    {0.02, 0, 0, 0, 0},
};

Camera camera_with(const Distortion<double>& lens) {
  return {640, 480, 525.0, 523.5, 319.5, 239.2, lens};
}

TEST(Camera, ProjectsByHand) {
  const Camera camera = camera_with({});
  const Vec2d pixel = project(camera, Vec3d{0.2, -0.1, 2.0});
  EXPECT_DOUBLE_EQ(pixel.x, 319.5 + 525.0 * 0.1);
  EXPECT_DOUBLE_EQ(pixel.y, 239.2 - 523.5 * 0.05);
  // OpenCV's formula, written out for one point: x = 0.1, y = -0.05, r² = 0.0125.
  const Camera bent = camera_with({0.5, 0.25, 0.01, 0.02, 0.125});
  const double r2 = 0.0125;
  const double radial = 1 + 0.5 * r2 + 0.25 * r2 * r2 + 0.125 * r2 * r2 * r2;
  const double x = 0.1 * radial + 2 * 0.01 * 0.1 * -0.05 + 0.02 * (r2 + 2 * 0.01);
  const double y = -0.05 * radial + 0.01 * (r2 + 2 * 0.0025) + 2 * 0.02 * 0.1 * -0.05;
  const Vec2d bent_pixel = project(bent, Vec3d{0.2, -0.1, 2.0});
  EXPECT_NEAR(bent_pixel.x, 319.5 + 525.0 * x, 1e-12);
  EXPECT_NEAR(bent_pixel.y, 239.2 + 523.5 * y, 1e-12);
}

TEST(Camera, UnprojectInvertsProject) {
  const Random random{testing::seed_of_test(), 0};
  for (const Distortion<double>& lens : kLenses) {
    const Camera camera = camera_with(lens);
    const Cameraf single = cast<float>(camera);
    for (std::uint64_t i = 0; i < 2000; ++i) {
      const Vec2d pixel{random.uniform(2 * i) * 639.0, random.uniform(2 * i + 1) * 479.0};
      const Vec3d ray = unproject(camera, pixel);
      const Vec2d back = project(camera, ray * 1.7);
      ASSERT_NEAR(back.x, pixel.x, 1e-9);
      ASSERT_NEAR(back.y, pixel.y, 1e-9);
      const Vec2f pixelf{float(pixel.x), float(pixel.y)};
      const Vec2f backf = project(single, unproject(single, pixelf));
      ASSERT_NEAR(backf.x, pixelf.x, 2e-3);
      ASSERT_NEAR(backf.y, pixelf.y, 2e-3);
    }
  }
}

TEST(Camera, PointsBehindAndRaysThatDoNotExist) {
  const Camera camera = camera_with({});
  EXPECT_TRUE(std::isnan(project(camera, Vec3d{0, 0, 0}).x));
  EXPECT_TRUE(std::isnan(project(camera, Vec3d{0, 0, -1}).x));
  EXPECT_TRUE(std::isnan(project(camera, Vec3d{0, 0, NAN}).x));
  // r (1 - 0.3 r²) falls beyond r = 1.05: a point at 1.8 would land near the centre of the image.
  const Camera folding = camera_with({-0.3, 0, 0, 0, 0});
  EXPECT_FALSE(std::isnan(project(folding, Vec3d{1.0, 0, 1}).x));
  EXPECT_TRUE(std::isnan(project(folding, Vec3d{1.8, 0, 1}).x));
  // r (1 - r²/2 + r⁴/10) falls between r = 1 and 1.41 and grows again: 1.45 would land at 0.57.
  const Camera wavy = camera_with({-0.5, 0.1, 0, 0, 0});
  EXPECT_FALSE(std::isnan(project(wavy, Vec3d{0.99, 0, 1}).x));
  EXPECT_TRUE(std::isnan(project(wavy, Vec3d{1.2, 0, 1}).x));
  EXPECT_TRUE(std::isnan(project(wavy, Vec3d{1.45, 0, 1}).x));
  // The same with the sixth power alone behind the fold.
  const Camera late = camera_with({-0.5, 0, 0, 0, 0.05});
  EXPECT_TRUE(std::isnan(project(late, Vec3d{1.6, 0, 1}).x));
  // A pincushion never folds.
  EXPECT_FALSE(std::isnan(project(camera_with({0.3, 0.1, 0, 0, 0.02}), Vec3d{3, 0, 1}).x));
  // r (1 - r²/2) never exceeds 0.55: the model does not reach the point 2.
  const Vec2d beyond = undistort(Distortion<double>{-0.5, 0, 0, 0, 0}, Vec2d{2, 0});
  EXPECT_TRUE(std::isnan(beyond.x));
  EXPECT_TRUE(std::isnan(undistort(Distortion<double>{0.1, 0, 0, 0, 0}, Vec2d{NAN, 0}).x));
}

TEST(Camera, RefusesNonsense) {
  EXPECT_NO_THROW(check_camera(camera_with(kLenses[1])));
  const auto broken = [](auto change) {
    Camera camera = camera_with({});
    change(camera);
    EXPECT_THROW(check_camera(camera), Error);
  };
  broken([](Camera& c) { c.width = 0; });
  broken([](Camera& c) { c.height = -1; });
  broken([](Camera& c) { c.fx_px = 0; });
  broken([](Camera& c) { c.fy_px = -525; });
  broken([](Camera& c) { c.fx_px = NAN; });
  broken([](Camera& c) { c.cx_px = INFINITY; });
  broken([](Camera& c) { c.distortion.k2 = NAN; });
}

}  // namespace
}  // namespace sextant
