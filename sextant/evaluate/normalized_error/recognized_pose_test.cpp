// SPDX-License-Identifier: Apache-2.0
// Covariances of recognised poses against their errors, over views of toys with a sensor's noise.
// `sextant reproduce pose-covariance` measures more objects, sensors and distances.
#include <gtest/gtest.h>

#include "sextant/core/random.h"
#include "sextant/evaluate/normalized_error.h"
#include "sextant/geometry/diameter.h"
#include "sextant/pose/point_to_plane.h"
#include "sextant/recognize/recognizer.h"
#include "sextant/render/rasterize.h"
#include "sextant/synth/catalogue.h"
#include "sextant/synth/sensor_noise.h"
#include "tests/devices.h"

namespace sextant {
namespace {

struct Setting {
  const char* object;
  SensorModel sensor;
  double distance_m;
};

/// A motion by random turns and shifts of these sizes.
Twist3<double> random_twist(std::uint64_t draw, double turn_rad, double shift_m) {
  const Random random{testing::seed_of_test(), draw};
  const auto normal = [&](std::uint64_t k) { return static_cast<double>(random.normal(k)); };
  return {Vec3d{normal(0), normal(1), normal(2)} * turn_rad,
          Vec3d{normal(3), normal(4), normal(5)} * shift_m};
}

/// The mean squared error over the claimed variance, over views of a toy before a wall, each from
/// another side: one view alone errs to the same side in every draw.
double squared_over_claim(const Setting& setting) {
  constexpr std::uint64_t kViews = 40;
  const Context context = Context::cpu();
  const Camera camera{400, 400, 525, 525, 199.5, 199.5, {}};
  LearnedObject object;
  object.name = setting.object;
  object.mesh = make_object(object.name);
  object.diameter_m = diameter_m(context, object.mesh.vertices.points);
  const Recognizer recognizer(context, std::span(&object, 1), {.accept = 0});
  const RenderScene scene(context, object.mesh);
  Image<std::uint8_t> nowhere(context, camera.width, camera.height);
  for (std::uint8_t& admitted : nowhere.pixels().host()) admitted = 0;
  double squared = 0, told = 0;
  for (std::uint64_t view = 0; view < kViews; ++view) {
    const Vec3d from = random_twist(2 * view, 1, 0).omega_rad;
    const Rigid3d truth{exp_rotation(from), {0.01, 0.02, setting.distance_m}};
    const Instance instance{0, 0, 0, cast<float>(truth)};
    Rendering exact = render(context, scene, camera, {&instance, 1});
    const auto wall_m = static_cast<float>(setting.distance_m + 0.3);
    for (float& z : exact.depth_m.host()) z = z > 0 ? z : wall_m;
    const Image<float> depth_m =
        add_sensor_noise(context, exact.depth_m_of(0), {}, camera, sensor_noise(setting.sensor),
                         testing::seed_of_test() + view);
    const Rigid3d near =
        motion_about(random_twist(2 * view + 1, 0.03, 0.003), truth.translation) * truth;
    const Recognition found =
        recognizer.recognize(depth_m, camera, {.mask = nowhere, .poses = {{0, near}}});
    EXPECT_EQ(found.detections.size(), 1u);
    if (found.detections.empty()) continue;
    const Detection& pose = found.detections[0];
    const NormalizedError error =
        normalized_error(pose_motion(pose.camera_from_object, truth, pose.centre_m),
                         pose.covariance, 0.5 * object.diameter_m, kOpenShare * object.diameter_m);
    squared += error.squared;
    told += error.told;
    EXPECT_EQ(error.told + static_cast<int>(pose.open.size()), 6);
  }
  EXPECT_GT(told, 5.5 * kViews);  // hardly anything is open
  return squared / told;
}

// The sum of squares of a setting has 240 degrees of freedom, so that its root is known within 5 %
// where the claim is right. Together they are held within 20 % of what is claimed; one alone may
// miss that (docs/recognition.md), though not by half: claims that count pixels as independent do.
TEST(RecognizedPose, ErrsByWhatItsCovarianceClaims) {
  constexpr Setting kSettings[] = {{"tortoise", SensorModel::kKinect, 0.8},
                                   {"tasmanian_devil", SensorModel::kKinectRegistered, 0.9},
                                   {"speaker", SensorModel::kKinect, 1.1},
                                   {"tasmanian_devil", SensorModel::kRealsense, 0.7},
                                   {"tortoise", SensorModel::kRealsenseNear, 0.8}};
  double sum = 0;
  for (const Setting& setting : kSettings) {
    SCOPED_TRACE(::testing::Message()
                 << setting.object << ", " << name_of(setting.sensor, kSensorModels));
    const double squared = squared_over_claim(setting);
    EXPECT_GT(std::sqrt(squared), 1 / 1.5);
    EXPECT_LT(std::sqrt(squared), 1.5);
    sum += squared / static_cast<double>(std::size(kSettings));
  }
  EXPECT_GT(std::sqrt(sum), 0.8);
  EXPECT_LT(std::sqrt(sum), 1.2);
}

}  // namespace
}  // namespace sextant
