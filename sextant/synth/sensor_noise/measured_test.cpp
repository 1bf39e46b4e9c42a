// SPDX-License-Identifier: Apache-2.0
// The models beside what was measured on planar patches of real frames, by the same estimator.
#include <gtest/gtest.h>

#include <numbers>
#include <string>

#include "sextant/core/random.h"
#include "sextant/io/png.h"
#include "sextant/synth/sensor_noise.h"
#include "tests/devices.h"
#include "tests/flat_scenes.h"
#include "tests/patch_noise.h"
#include "tests/shared_data.h"

namespace sextant {
namespace {

using testing::PatchNoise;

/// The noise of planes turned by up to 35° in all directions.
PatchNoise simulated(SensorModel model, double nearest_m, double farthest_m, std::uint64_t seed) {
  constexpr int kPatches = 60;
  const Camera camera = testing::square_camera(PatchNoise::kSide_px, 585);
  std::vector<PatchNoise> patches;
  for (int i = 0; i < kPatches; ++i) {
    const Random random{seed, static_cast<std::uint64_t>(i)};
    const double z = nearest_m + (farthest_m - nearest_m) * i / (kPatches - 1);
    const AnalyticFrame truth = testing::plane_frame(camera, z, 0.6 * double{random.uniform(0)},
                                                     6.283 * double{random.uniform(1)});
    const Image<float> noisy =
        add_sensor_noise(Context::cpu(), truth.depth_m, truth.normals, camera, sensor_noise(model),
                         seed + static_cast<std::uint64_t>(i));
    patches.push_back(testing::patch_noise(noisy, 0, 0).value());
  }
  return testing::mean_noise(patches);
}

TEST(SensorNoiseMeasured, KinectIsCorrelatedAsOnRealPlanes) {
  // Lags 1 to 6 and 8 of 221 patches. 60 patches of some 60 independent samples leave 0.017; the
  // rest is for the model, whose step and box are not the whole truth.
  constexpr double kX[] = {.64, .51, .40, .30, .21, .13, -.01};
  constexpr double kY[] = {.61, .44, .32, .21, .12, .05, -.02};
  constexpr int kLag[] = {1, 2, 3, 4, 5, 6, 8};
  const PatchNoise noise = simulated(SensorModel::kKinect, 0.8, 2.8, testing::seed_of_test());
  for (int i = 0; i < 7; ++i) {
    SCOPED_TRACE(kLag[i]);
    EXPECT_NEAR(noise.along_x[static_cast<std::size_t>(kLag[i])], kX[i], 0.06);
    EXPECT_NEAR(noise.along_y[static_cast<std::size_t>(kLag[i])], kY[i], 0.06);
  }
}

/// Where the autocorrelation falls to 1/e, between lags by a line.
double length_px(const std::array<double, PatchNoise::kLags>& correlation) {
  for (std::size_t lag = 1; lag < correlation.size(); ++lag) {
    if (correlation[lag] > 1 / std::numbers::e) continue;
    const double drop = correlation[lag - 1] - correlation[lag];
    return static_cast<double>(lag) - 1 + (correlation[lag - 1] - 1 / std::numbers::e) / drop;
  }
  return static_cast<double>(correlation.size());
}

TEST(SensorNoiseMeasured, LengthsOfCorrelationAreThoseOfTheSensors) {
  struct Sensor {
    SensorModel model;
    double nearest_m, farthest_m, x_px, y_px;
  };
  // At 8 px the estimator stops, which stands for 9: RealSense along rows has 9.8 and 8.4.
  constexpr Sensor kSensors[] = {{SensorModel::kKinect, 0.8, 2.8, 3.3, 2.6},
                                 {SensorModel::kKinectRegistered, 0.7, 1.4, 3.9, 4.0},
                                 {SensorModel::kRealsense, 0.85, 1.1, 9, 7.2},
                                 {SensorModel::kRealsenseNear, 0.4, 0.65, 8.4, 6.4}};
  for (const Sensor& sensor : kSensors) {
    SCOPED_TRACE(name_of(sensor.model, kSensorModels));
    const PatchNoise noise =
        simulated(sensor.model, sensor.nearest_m, sensor.farthest_m, testing::seed_of_test());
    EXPECT_NEAR(length_px(noise.along_x), sensor.x_px, 0.2 * sensor.x_px);
    EXPECT_NEAR(length_px(noise.along_y), sensor.y_px, 0.3 * sensor.y_px);
  }
  const PatchNoise white = simulated(SensorModel::kIndependent, 0.8, 2.8, 1);
  for (std::size_t lag = 1; lag < PatchNoise::kLags; ++lag) {
    EXPECT_NEAR(white.along_x[lag], 0, 0.02);
    EXPECT_NEAR(white.along_y[lag], 0, 0.02);
  }
}

TEST(SensorNoiseMeasured, DeviationGrowsWithDepthAsOnRealPlanes) {
  struct Band {
    SensorModel model;
    double nearest_m, farthest_m, sigma_mm, least, most;
  };
  const auto law = [](double a, double b, double z) { return a * z * z + b; };
  // RealSense is fitted to the errors of normals, which waves of tens of pixels hardly touch: they
  // are a fifth to a third of the deviation on real frames, and left out.
  const Band bands[] = {
      {SensorModel::kKinect, 0.8, 1.1, law(1.35, 0.32, 0.95), 0.88, 1.12},
      {SensorModel::kKinect, 1.35, 1.65, law(1.35, 0.32, 1.5), 0.88, 1.12},
      {SensorModel::kKinect, 2.2, 2.8, law(1.35, 0.32, 2.5), 0.88, 1.12},
      {SensorModel::kKinectRegistered, 0.9, 1.1, law(1.53, 0.43, 1.0), 0.88, 1.12},
      {SensorModel::kKinectRegistered, 1.3, 1.5, law(1.53, 0.43, 1.4), 0.88, 1.12},
      {SensorModel::kRealsense, 0.85, 1.1, law(3.56, 0.69, 0.97), 0.7, 1.05},
      {SensorModel::kRealsense, 3.4, 5, law(3.56, 0.69, 4.2), 0.7, 1.05},
      {SensorModel::kRealsenseNear, 0.4, 0.5, 0.47, 0.6, 1.05},
      {SensorModel::kRealsenseNear, 0.5, 0.65, 0.79, 0.6, 1.05},
  };
  for (const Band& band : bands) {
    SCOPED_TRACE(name_of(band.model, kSensorModels));
    const PatchNoise noise =
        simulated(band.model, band.nearest_m, band.farthest_m, testing::seed_of_test());
    const double z = (band.nearest_m + band.farthest_m) / 2;
    const double share = 1000 * noise.sigma_per_m * z * z / band.sigma_mm;
    EXPECT_GE(share, band.least) << z;
    EXPECT_LE(share, band.most) << z;
  }
}

/// Flat patches of captured frames and the model's noise on the surfaces fitted to them.
struct RealAndSimulated {
  std::vector<PatchNoise> real, simulated;

  void add(const Image<float>& depth_m, double most_sigma_per_m, SensorModel model) {
    const Camera camera = testing::square_camera(PatchNoise::kSide_px, 585);
    for (const PatchNoise& patch : testing::flat_patches(depth_m, most_sigma_per_m)) {
      const Image<float> noisy =
          add_sensor_noise(Context::cpu(), patch.fitted_depth_m(), ImageView<const Vec3f>{}, camera,
                           sensor_noise(model), real.size());
      real.push_back(patch);
      simulated.push_back(testing::patch_noise(noisy, 0, 0).value());
    }
  }

  void expect_same_correlation(double bound) const {
    ASSERT_GE(real.size(), 50u);
    const PatchNoise measured = testing::mean_noise(real);
    const PatchNoise model = testing::mean_noise(simulated);
    for (std::size_t lag = 1; lag < PatchNoise::kLags; ++lag) {
      SCOPED_TRACE(lag);
      EXPECT_NEAR(model.along_x[lag], measured.along_x[lag], bound);
      EXPECT_NEAR(model.along_y[lag], measured.along_y[lag], bound);
    }
  }
};

TEST(SensorNoiseMeasured, KinectBesideCapturedFrames) {
  RealAndSimulated both;
  for (const char* frame : {"000080", "000320", "000500", "000740"}) {
    const std::string name = std::string("rgbd_7scenes/frame-") + frame + ".depth.png";
    const auto path = testing::shared_data(name.c_str());
    if (!path) GTEST_SKIP() << name << " is not here";
    both.add(testing::without_far(read_depth_png(*path)), 2.2e-3, SensorModel::kKinect);
  }
  both.expect_same_correlation(0.1);
  EXPECT_NEAR(
      testing::mean_noise(both.simulated).sigma_per_m / testing::mean_noise(both.real).sigma_per_m,
      1, 0.15);
}

TEST(SensorNoiseMeasured, RealsenseBesideCapturedFrames) {
  RealAndSimulated both;
  for (const char* frame : {"0000", "0015", "0030", "0045", "0060"}) {
    const std::string name = std::string("visp_rbt/depth/") + frame + ".png";
    const auto path = testing::shared_data(name.c_str());
    if (!path) GTEST_SKIP() << name << " is not here";
    both.add(testing::without_far(read_depth_png(*path)), 7e-3, SensorModel::kRealsense);
  }
  both.expect_same_correlation(0.1);
}

}  // namespace
}  // namespace sextant
