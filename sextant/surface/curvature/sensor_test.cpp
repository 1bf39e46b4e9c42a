// SPDX-License-Identifier: Apache-2.0
// The default patch, from 0.4 to 4 m: what is called valid is right within stated bounds.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "sextant/depth/deproject.h"
#include "sextant/surface/curvature.h"
#include "sextant/surface/normals.h"
#include "sextant/synth/analytic_frame.h"
#include "sextant/synth/sensor_noise.h"
#include "tests/curvature_scene.h"

namespace sextant {
namespace {

constexpr std::int32_t kShape = 1, kWall = 2;
constexpr std::array kDistances_m = {0.4, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0};

/// A frame with its truth, as a sensor sees it.
struct SensorFrame {
  AnalyticFrame truth;
  Image<Vec3f> points;
};

SensorFrame see(AnalyticShape shape, double distance_m, std::optional<SensorModel> sensor) {
  const Context host = Context::cpu(2);
  const Camera camera{320, 240, 560, 560, 159.5, 119.5, {}};
  Rigid3d behind;
  behind.translation = {0, 0, distance_m + 0.4};
  AnalyticShape wall = AnalyticShape::plane(behind);
  shape.id = kShape;
  wall.id = kWall;
  const AnalyticShape shapes[] = {shape, wall};
  SensorFrame frame;
  frame.truth = render_analytic(host, camera, shapes);
  Image<float> depth_m = copy(host, frame.truth.depth_m);
  if (sensor) {
    depth_m = add_sensor_noise(host, depth_m, frame.truth.normals, camera, sensor_noise(*sensor),
                               testing::seed_of_test());
  }
  Cloud cloud = deproject(host, depth_m, camera);
  frame.points = Image<Vec3f>(std::move(cloud.points), camera.width, camera.height);
  return frame;
}

enum Kind { kSphere, kCylinder, kTorus };
AnalyticShape shape_at(Kind kind, double distance_m) {
  Rigid3d pose;
  pose.translation = {0, 0, distance_m};
  if (kind == kSphere) return AnalyticShape::sphere(0.05, pose);
  if (kind == kTorus) return AnalyticShape::torus(0.1, 0.03, pose);
  pose.rotation.row[1] = {0, 0, 1};  // its axis along the image's columns
  pose.rotation.row[2] = {0, -1, 0};
  return AnalyticShape::cylinder(0.05, 0.2, pose);
}

/// Errors over both curvatures of the valid pixels.
struct Found {
  double pixels = 0, valid = 0, square = 0, k1 = 0, deviation = 0;
  double share() const { return pixels > 0 ? valid / pixels : 0; }
  double rms() const { return std::sqrt(square / (2 * valid)); }
};

/// Of the pixels of a shape three pixels and more inside its outline and curved side.
Found found_on(const SensorFrame& frame, const Curvature& host, std::int32_t id) {
  const AnalyticFrame& truth = frame.truth;
  const int width = truth.ids.width(), height = truth.ids.height();
  Found found;
  for (int v = 3; v < height - 3; ++v) {
    for (int u = 3; u < width - 3; ++u) {
      bool inside = is_finite(frame.points(u, v));
      for (int k = 0; k < 49 && inside; ++k) {
        inside = truth.ids(u + k % 7 - 3, v + k / 7 - 3) == id;
      }
      if (!inside) continue;
      found.pixels += 1;
      if (host.valid(u, v) == 0) continue;
      const double e1 = double{host.k1_per_m(u, v)} - double{truth.k1_per_m(u, v)};
      const double e2 = double{host.k2_per_m(u, v)} - double{truth.k2_per_m(u, v)};
      found.valid += 1;
      found.square += e1 * e1 + e2 * e2;
      found.k1 += e1;
      found.deviation += double{host.deviation_per_m(u, v)};
    }
  }
  return found;
}

Curvature default_curvature(const Context& context, const SensorFrame& frame) {
  const Image<Vec3f> points = copy(context, frame.points);
  const Curvature found = estimate_curvature(context, points, estimate_normals(context, points));
  return {to_host(context, found.k1_per_m), to_host(context, found.k2_per_m),       {}, {}, {},
          to_host(context, found.valid),    to_host(context, found.deviation_per_m)};
}

TEST(CurvatureOnSensors, ExactFramesFromNearToFar) {
  // Cells of 3 × 3 pixels bend what they average: a sphere of 7 pixels, at 4 m, reads 5 % too
  // curved. Of the torus, a tube of 4 pixels at 4 m, nothing is said where the patch is wider.
  for (const Context& context : testing::each_device()) {
    SCOPED_TRACE(testing::describe(context));
    for (const Kind kind : {kSphere, kCylinder, kTorus}) {
      for (const double distance_m : kDistances_m) {
        SCOPED_TRACE(std::to_string(kind) + " at " + std::to_string(distance_m));
        const SensorFrame frame = see(shape_at(kind, distance_m), distance_m, {});
        const Curvature curvature = default_curvature(context, frame);
        const Found shape = found_on(frame, curvature, kShape);
        if (kind != kTorus || distance_m <= 1.5) {
          // A sphere at 4 m has a dozen pixels, of which the devices differ in one.
          EXPECT_GT(shape.share(), 0.8);
        }
        if (shape.valid > 0) {
          EXPECT_LT(shape.rms(), 1.0);
          EXPECT_LT(std::abs(shape.k1 / shape.valid), 1.0);
        }
        const Found wall = found_on(frame, curvature, kWall);
        EXPECT_GT(wall.share(), 0.98);
        EXPECT_LT(wall.rms(), 0.02);
      }
    }
  }
}

/// What is promised of a sensor: on the wall everywhere, on the shapes up to a distance; beyond,
/// what little is valid has the error that is stated.
struct Promise {
  SensorModel sensor;
  double
      sure_m;  ///< up to here most of sphere and cylinder are valid; beyond, rims leave too little
  double wall_m;  ///< up to here most of the wall is
  double shape_rms, wall_rms;
  double wall_share;  ///< patches of a RealSense have a radius of 54 px in 240 rows
};

TEST(CurvatureOnSensors, NoisyFramesFromNearToFar) {
  for (const Promise& promise : {Promise{SensorModel::kKinect, 0.7, 2.5, 3.5, 1.6, 0.8},
                                 Promise{SensorModel::kRealsense, 0.4, 1.5, 5.0, 3.2, 0.45}}) {
    for (const Context& context : testing::each_device()) {
      SCOPED_TRACE(testing::describe(context));
      for (const Kind kind : {kSphere, kCylinder}) {
        for (const double distance_m : kDistances_m) {
          SCOPED_TRACE(std::to_string(kind) + " at " + std::to_string(distance_m));
          const SensorFrame frame = see(shape_at(kind, distance_m), distance_m, promise.sensor);
          const Curvature curvature = default_curvature(context, frame);
          const Found shape = found_on(frame, curvature, kShape);
          if (shape.pixels > 0 && distance_m <= promise.sure_m) {
            EXPECT_GT(shape.share(), 0.7);
          }
          if (shape.valid >= 20) {
            EXPECT_LT(shape.rms(), promise.shape_rms);
          }
          const Found wall = found_on(frame, curvature, kWall);
          if (distance_m + 0.4 > promise.wall_m) continue;
          EXPECT_GT(wall.share(), promise.wall_share);
          EXPECT_LT(wall.rms(), promise.wall_rms);
          // What it says about its own error is true.
          const double said = wall.deviation / wall.valid;
          EXPECT_LT(wall.rms(), 2 * said);
          EXPECT_GT(wall.rms(), 0.5 * said);
        }
      }
    }
  }
}

TEST(CurvatureOnSensors, TooFarToKnowIsNotValid) {
  // At 3 m and with a Kinect's noise a ball of 50 mm is 19 pixels wide: k = 20 /m would err by 20.
  const Context context = Context::cpu(2);
  for (const Kind kind : {kSphere, kCylinder, kTorus}) {
    for (const double distance_m : {3.0, 4.0}) {
      const SensorFrame frame = see(shape_at(kind, distance_m), distance_m, SensorModel::kKinect);
      EXPECT_LT(found_on(frame, default_curvature(context, frame), kShape).share(), 0.1);
    }
  }
}

TEST(CurvatureOnSensors, NoiseMayBeGiven) {
  // A noise of ten times what it is makes patches larger, and most of a ball at 1 m unknown.
  const Context context = Context::cpu(2);
  const SensorFrame frame = see(shape_at(kSphere, 1.0), 1.0, {});
  const Image<Vec3f> normals = estimate_normals(context, frame.points);
  const Curvature as_if_noisy =
      estimate_curvature(context, frame.points, normals, {.depth_noise_per_m = 0.02f});
  EXPECT_LT(found_on(frame, as_if_noisy, kShape).share(), 0.01);
  const Curvature as_it_is = estimate_curvature(
      context, frame.points, normals, {.depth_noise_per_m = 1e-6f, .noise_grain_px = 1.0f});
  EXPECT_GT(found_on(frame, as_it_is, kShape).share(), 0.95);
}

}  // namespace
}  // namespace sextant
