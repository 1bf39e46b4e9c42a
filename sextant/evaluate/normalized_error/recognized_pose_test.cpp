// SPDX-License-Identifier: Apache-2.0
// Covariances of recognised poses against their errors, over draws of a sensor's noise. `sextant
// reproduce pose-covariance` measures more objects, sensors and distances.
#include <gtest/gtest.h>

#include "sextant/evaluate/normalized_error.h"
#include "sextant/geometry/diameter.h"
#include "sextant/recognize/recognizer.h"
#include "sextant/render/rasterize.h"
#include "sextant/synth/catalogue.h"
#include "sextant/synth/sensor_noise.h"
#include "tests/devices.h"

namespace sextant {
namespace {

/// The mean squared error over the claimed variance, for a toy before a wall.
double mean_normalized_error(SensorModel sensor) {
  constexpr int kDraws = 16;
  const Context context = Context::cpu();
  const Camera camera{480, 360, 525, 525, 239.5, 179.5, {}};
  LearnedObject object;
  object.name = "tasmanian_devil";
  object.mesh = make_object(object.name);
  object.diameter_m = diameter_m(context, object.mesh.vertices.points);
  const Rigid3d truth{exp_rotation(Vec3d{1.9, 0.3, -0.4}), {0.03, 0.04, 0.8}};
  const Instance instance{0, 0, 0, cast<float>(truth)};
  Rendering exact = render(context, RenderScene(context, object.mesh), camera, {&instance, 1});
  for (float& z : exact.depth_m.host()) z = z > 0 ? z : 1.1f;
  const Recognizer recognizer(context, std::span(&object, 1), {.accept = 0});
  Image<std::uint8_t> nowhere(context, camera.width, camera.height);
  for (std::uint8_t& admitted : nowhere.pixels().host()) admitted = 0;
  double squared = 0, told = 0;
  for (int d = 0; d < kDraws; ++d) {
    const Image<float> depth_m =
        add_sensor_noise(context, exact.depth_m_of(0), {}, camera, sensor_noise(sensor),
                         testing::seed_of_test() + static_cast<std::uint64_t>(d));
    const Rigid3d near{truth.rotation, truth.translation + Vec3d{0.003, 0.002, 0.001}};
    const Recognition found =
        recognizer.recognize(depth_m, camera, {.mask = nowhere, .poses = {{0, near}}});
    EXPECT_EQ(found.detections.size(), 1u);
    if (found.detections.empty()) continue;
    const Detection& pose = found.detections[0];
    const NormalizedError error =
        normalized_error(pose_motion(pose.camera_from_object, truth, pose.centre_m),
                         pose.covariance, 0.5 * object.diameter_m, 0.05 * object.diameter_m);
    squared += error.squared;
    told += error.told;
  }
  EXPECT_EQ(told, 6 * kDraws);  // nothing is open
  return squared / told;
}

// One view alone errs to the same side in every draw, so that the mean over few draws is known
// within a factor: covariances that count pixels as independent are off by ten and more.
TEST(RecognizedPose, ErrsByWhatItsCovarianceClaims) {
  for (const SensorModel sensor : {SensorModel::kKinect, SensorModel::kRealsense}) {
    SCOPED_TRACE(name_of(sensor, kSensorModels));
    const double ratio = mean_normalized_error(sensor);
    EXPECT_GT(ratio, 0.3);
    EXPECT_LT(ratio, 3);
  }
}

}  // namespace
}  // namespace sextant
