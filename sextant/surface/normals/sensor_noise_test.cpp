// SPDX-License-Identifier: Apache-2.0
// How much normals of 7 × 7 pixels err under the noise of real sensors.
#include <gtest/gtest.h>

#include <numbers>

#include "sextant/core/random.h"
#include "sextant/depth/deproject.h"
#include "sextant/surface/normals.h"
#include "sextant/synth/sensor_noise.h"
#include "tests/devices.h"
#include "tests/flat_scenes.h"

namespace sextant {
namespace {

/// Mean angle between normals by PCA and the truth, over planes turned by up to 35°.
double mean_error_deg(SensorModel model, double focal_px, double nearest_m, double farthest_m,
                      std::uint64_t seed) {
  constexpr int kPlanes = 40, kBorder_px = 3;
  const Context context = Context::cpu();
  const Camera camera = testing::square_camera(66, focal_px);
  double sum = 0, count = 0;
  for (int i = 0; i < kPlanes; ++i) {
    const Random random{seed, static_cast<std::uint64_t>(i)};
    const double z = nearest_m + (farthest_m - nearest_m) * i / (kPlanes - 1);
    const AnalyticFrame truth = testing::plane_frame(camera, z, 0.6 * double{random.uniform(0)},
                                                     6.283 * double{random.uniform(1)});
    const Image<float> noisy =
        add_sensor_noise(context, truth.depth_m, truth.normals, camera, sensor_noise(model),
                         seed + static_cast<std::uint64_t>(i));
    const Cloud cloud = deproject(context, noisy, camera);
    const ImageView<const Vec3f> points{cloud.points.data(), camera.width, camera.height,
                                        camera.width, context.device()};
    const Image<Vec3f> normals = estimate_normals(context, points, {.method = NormalsMethod::kPca});
    for (int v = kBorder_px; v < camera.height - kBorder_px; ++v) {
      for (int u = kBorder_px; u < camera.width - kBorder_px; ++u) {
        const Vec3d n = cast<double>(normals(u, v)), t = cast<double>(truth.normals(u, v));
        if (!is_finite(n)) continue;
        sum += std::atan2(norm(cross(n, t)), dot(n, t)) * 180 / std::numbers::pi;
        count += 1;
      }
    }
  }
  return sum / count;
}

TEST(NormalsUnderSensorNoise, ErrAsMuchAsOnRealPlanes) {
  struct Band {
    SensorModel model;
    double focal_px, nearest_m, farthest_m, real_deg;
  };
  constexpr Band kBands[] = {{SensorModel::kKinect, 585, 0.8, 1.1, 6.3},
                             {SensorModel::kKinect, 585, 1.35, 1.65, 10.6},
                             {SensorModel::kKinect, 585, 2.2, 2.8, 24.2},
                             {SensorModel::kRealsense, 607, 0.85, 1.1, 20.1},
                             {SensorModel::kRealsense, 607, 3.4, 5, 51.3},
                             {SensorModel::kRealsenseNear, 616, 0.4, 0.65, 4.3}};
  for (const Band& band : kBands) {
    EXPECT_NEAR(mean_error_deg(band.model, band.focal_px, band.nearest_m, band.farthest_m,
                               testing::seed_of_test()),
                band.real_deg, 0.1 * band.real_deg)
        << name_of(band.model, kSensorModels) << " at " << band.nearest_m;
  }
}

}  // namespace
}  // namespace sextant
