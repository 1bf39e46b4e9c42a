// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/noise/frame_noise.h"

#include <gtest/gtest.h>

#include <cstring>

#include "sextant/depth/deproject.h"
#include "sextant/synth/analytic_frame.h"
#include "sextant/synth/sensor_noise.h"
#include "tests/devices.h"
#include "tests/organised_scene.h"

namespace sextant {
namespace {

using detail::noise::depth_bin;
using detail::noise::estimate_frame_noise;
using detail::noise::FrameNoise;

const Camera kCamera{640, 480, 560, 560, 319.5, 239.5, {}};

/// A slanted wall at 1.5 m with a ball before it, under this noise.
Image<Vec3f> wall(const std::optional<SensorNoiseOptions>& noise) {
  const Context host = Context::cpu(2);
  Rigid3d pose;
  pose.translation = {0, 0, 1.5};
  pose.rotation.row[1] = {0, 0.9, 0.4358899};
  pose.rotation.row[2] = {0, -0.4358899, 0.9};
  Rigid3d nearer;
  nearer.translation = {0.1, 0, 0.8};
  const AnalyticShape shapes[] = {AnalyticShape::plane(pose), AnalyticShape::sphere(0.08, nearer)};
  const AnalyticFrame truth = render_analytic(host, kCamera, shapes);
  Image<float> depth_m = copy(host, truth.depth_m);
  if (noise) {
    depth_m =
        add_sensor_noise(host, depth_m, truth.normals, kCamera, *noise, testing::seed_of_test());
  }
  Cloud cloud = deproject(host, depth_m, kCamera);
  return Image<Vec3f>(std::move(cloud.points), kCamera.width, kCamera.height);
}

FrameNoise noise_of(const Context& context, const Image<Vec3f>& points) {
  Workspace workspace;
  const Image<Vec3f> there = copy(context, points);
  const FrameNoise* found = estimate_frame_noise(context, there, {}, workspace);
  return to_host(context, View<const FrameNoise>{found, 1, context.device()})[0];
}

SensorNoiseOptions only_noise(float sigma_per_m, float box_px) {
  SensorNoiseOptions noise;
  noise.sigma_per_m = box_px > 1 ? sigma_per_m : 0.0f;
  noise.white_per_m = box_px > 1 ? 0.0f : sigma_per_m;
  noise.sigma_relative = 0;
  noise.kernel_x_px = noise.kernel_y_px = box_px;
  noise.warp_per_m = noise.step_per_m = noise.depth_step_m = 0;
  return noise;
}

TEST(FrameNoiseLevels, AreThoseOfTheSensor) {
  // The mean of n pixels deviates by σ / √n, and by as many times more as a box has pixels on a
  // side. Bins of noise are a quarter octave wide, and levels are raised by 1 / 0.85, since windows
  // of real sensors have few independent errors: 1.3 for errors that are all independent.
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const float box_px : {1.0f, 8.0f}) {
      const FrameNoise found = noise_of(context, wall(only_noise(1e-3f, box_px)));
      for (const float z_m : {0.8f, 1.5f}) {  // the ball has too few windows of its own
        const int bin = depth_bin(z_m);
        EXPECT_NEAR(found.sigma_per_m[bin], 1e-3f, 0.35e-3f) << box_px;
        EXPECT_NEAR(found.density_per_m[bin], box_px * 1e-3f, box_px * 0.4e-3f) << box_px;
      }
    }
  }
}

TEST(FrameNoiseLevels, ExactFramesHaveNone) {
  const FrameNoise found = noise_of(Context::cpu(2), wall({}));
  EXPECT_LT(found.sigma_per_m[depth_bin(1.5f)], 1e-6f);
  EXPECT_LT(found.density_per_m[depth_bin(1.5f)], 1e-5f);
  EXPECT_LT(found.density_per_m[depth_bin(0.8f)], 1e-5f);
}

TEST(FrameNoiseLevels, BallsAloneAreNotTakenForNoise) {
  // Nothing flat is in sight: what is bent within 8 pixels is what can be told from noise.
  const Context host = Context::cpu(2);
  Rigid3d pose;
  pose.translation = {0, 0, 1};
  const AnalyticShape ball[] = {AnalyticShape::sphere(0.05, pose)};
  const AnalyticFrame truth = render_analytic(host, kCamera, ball);
  for (const bool noisy : {false, true}) {
    Image<float> depth_m = copy(host, truth.depth_m);
    if (noisy) {
      depth_m = add_sensor_noise(host, depth_m, truth.normals, kCamera,
                                 sensor_noise(SensorModel::kKinect), testing::seed_of_test());
    }
    Cloud cloud = deproject(host, depth_m, kCamera);
    const Image<Vec3f> points(std::move(cloud.points), kCamera.width, kCamera.height);
    const float density = noise_of(host, points).density_per_m[depth_bin(0.97f)];
    if (noisy) {
      EXPECT_GT(density, 4e-3f);  // a Kinect's is 1e-2
      EXPECT_LT(density, 4e-2f);
    } else {
      EXPECT_LT(density, 1e-3f);
    }
  }
}

TEST(FrameNoiseLevels, SameBitsEverywhere) {
  const Image<Vec3f> points = wall(sensor_noise(SensorModel::kKinect));
  const FrameNoise first = noise_of(Context::cpu(1), points);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const FrameNoise again = noise_of(context, points);
    EXPECT_EQ(std::memcmp(&first, &again, sizeof first), 0);
  }
}

TEST(FrameNoiseLevels, EmptyAndBrokenFrames) {
  for (const Context& context : testing::all_contexts()) {
    for (const float z : {NAN, 0.0f, -1.0f, INFINITY, 1e-38f}) {
      const std::vector<Vec3f> values(100 * 100, Vec3f{0, 0, z});
      const Image<Vec3f> points(copy(Context::cpu(1), values), 100, 100);
      const FrameNoise found = noise_of(context, points);
      for (const float level : found.density_per_m) EXPECT_FALSE(level < 0) << z;
    }
    const Image<Vec3f> small(copy(Context::cpu(1), std::vector<Vec3f>(7 * 3)), 7, 3);
    for (const float level : noise_of(context, small).density_per_m) EXPECT_EQ(level, 0.0f);
  }
}

}  // namespace
}  // namespace sextant
