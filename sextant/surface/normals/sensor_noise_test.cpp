// SPDX-License-Identifier: Apache-2.0
// How much normals of 7 × 7 pixels err under the noise of real sensors.
#include <gtest/gtest.h>

#include <numbers>
#include <string>

#include "sextant/core/random.h"
#include "sextant/depth/deproject.h"
#include "sextant/io/png.h"
#include "sextant/surface/normals.h"
#include "sextant/synth/sensor_noise.h"
#include "tests/devices.h"
#include "tests/flat_scenes.h"
#include "tests/patch_noise.h"
#include "tests/shared_data.h"

namespace sextant {
namespace {

Image<Vec3f> normals_of(const Image<float>& depth_m, const Camera& camera, NormalsMethod method) {
  const Context context = Context::cpu();
  const Cloud cloud = deproject(context, depth_m, camera);
  const ImageView<const Vec3f> points{cloud.points.data(), camera.width, camera.height,
                                      camera.width, context.device()};
  return estimate_normals(context, points, {.method = method});
}

/// Mean angle between normals by PCA and the truth, where windows are whole.
struct MeanAngle {
  double sum_deg = 0, count = 0;

  void add(const Image<float>& depth_m, const Camera& camera, const Image<Vec3f>& truth) {
    const Image<Vec3f> normals = normals_of(depth_m, camera, NormalsMethod::kPca);
    for (int v = 3; v < camera.height - 3; ++v) {
      for (int u = 3; u < camera.width - 3; ++u) {
        const Vec3d n = cast<double>(normals(u, v)), t = cast<double>(truth(u, v));
        if (!is_finite(n) || !is_finite(t)) continue;
        sum_deg += std::atan2(norm(cross(n, t)), dot(n, t)) * 180 / std::numbers::pi;
        count += 1;
      }
    }
  }
  double degrees() const { return sum_deg / count; }
};

TEST(NormalsUnderSensorNoise, ErrAsMuchAsOnRealPlanes) {
  // Measured on flat patches of real frames, in bands of depth, by PCA over 7 × 7. A plane that is
  // turned by a is known better, about by cos² a; so planes here are turned as those patches are.
  struct Band {
    SensorModel model;
    double focal_px, nearest_m, farthest_m, least_tilt_rad, most_tilt_rad, real_deg;
  };
  constexpr Band kBands[] = {{SensorModel::kKinect, 585, 0.8, 1.1, 0.6, 1.0, 6.3},
                             {SensorModel::kKinect, 585, 1.35, 1.65, 0.5, 0.9, 10.6},
                             {SensorModel::kKinect, 585, 2.2, 2.8, 0.3, 0.6, 24.2},
                             {SensorModel::kKinectRegistered, 572, 0.8, 1.2, 0.3, 0.6, 12.6},
                             {SensorModel::kRealsense, 607, 0.85, 1.1, 0.0, 0.35, 20.1},
                             {SensorModel::kRealsense, 607, 3.4, 5, 0.3, 0.7, 51.3},
                             {SensorModel::kRealsenseNear, 616, 0.4, 0.65, 0.3, 0.7, 4.3}};
  const std::uint64_t seed = testing::seed_of_test();
  for (const Band& band : kBands) {
    constexpr int kPlanes = 40;
    const Camera camera = testing::square_camera(66, band.focal_px);
    MeanAngle error;
    for (int i = 0; i < kPlanes; ++i) {
      const Random random{seed, static_cast<std::uint64_t>(i)};
      const double z = band.nearest_m + (band.farthest_m - band.nearest_m) * i / (kPlanes - 1);
      const double tilt = band.least_tilt_rad +
                          (band.most_tilt_rad - band.least_tilt_rad) * double{random.uniform(0)};
      const AnalyticFrame truth =
          testing::plane_frame(camera, z, tilt, 6.283 * double{random.uniform(1)});
      error.add(add_sensor_noise(Context::cpu(), truth.depth_m, ImageView<const Vec3f>{}, camera,
                                 sensor_noise(band.model), seed + static_cast<std::uint64_t>(i)),
                camera, truth.normals);
    }
    EXPECT_NEAR(error.degrees(), band.real_deg, 0.1 * band.real_deg)
        << name_of(band.model, kSensorModels) << " at " << band.nearest_m;
  }
}

TEST(NormalsUnderSensorNoise, ErrAsMuchAsOnThePatchesOfCapturedFrames) {
  struct Band {
    double nearest_m, farthest_m;
    MeanAngle real, kinect, independent;
  };
  Band bands[] = {{0.8, 1.35, {}, {}, {}}, {1.35, 2.2, {}, {}, {}}, {2.2, 3.4, {}, {}, {}}};
  for (const char* frame : {"000080", "000320", "000500", "000740"}) {
    const std::string name = std::string("rgbd_7scenes/frame-") + frame + ".depth.png";
    const auto path = testing::shared_data(name.c_str());
    if (!path) GTEST_SKIP() << name << " is not here";
    const Image<float> depth_m = testing::without_far(read_depth_png(*path));
    std::uint64_t seed = testing::seed_of_test();
    for (const testing::PatchNoise& patch : testing::flat_patches(depth_m, 2.2e-3)) {
      constexpr int kSide = testing::PatchNoise::kSide_px;
      const Camera camera{kSide, kSide, 585, 585, 320.0 - patch.left, 240.0 - patch.top, {}};
      Image<float> seen(Context::cpu(), kSide, kSide);
      for (int v = 0; v < kSide; ++v) {
        for (int u = 0; u < kSide; ++u) seen(u, v) = depth_m(patch.left + u, patch.top + v);
      }
      const Image<float> fitted = patch.fitted_depth_m();
      const Image<Vec3f> truth = normals_of(fitted, camera, NormalsMethod::kRay);
      const auto simulated = [&](SensorModel model) {
        return add_sensor_noise(Context::cpu(), fitted, ImageView<const Vec3f>{}, camera,
                                sensor_noise(model), ++seed);
      };
      for (Band& band : bands) {
        if (patch.depth_m < band.nearest_m || patch.depth_m >= band.farthest_m) continue;
        band.real.add(seen, camera, truth);
        band.kinect.add(simulated(SensorModel::kKinect), camera, truth);
        band.independent.add(simulated(SensorModel::kIndependent), camera, truth);
      }
    }
  }
  for (const Band& band : bands) {
    SCOPED_TRACE(band.nearest_m);
    EXPECT_NEAR(band.kinect.degrees() / band.real.degrees(), 1, 0.12);
  }
  // Independent noise is too kind near and too harsh far.
  EXPECT_LT(bands[0].independent.degrees(), 0.8 * bands[0].real.degrees());
  EXPECT_GT(bands[2].independent.degrees(), 1.3 * bands[2].real.degrees());
}

}  // namespace
}  // namespace sextant
