// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "apps/sextant/experiments/experiments.h"
#include "apps/sextant/experiments/object_views.h"
#include "measure/surface_chain.h"
#include "sextant/evaluate/normalized_error.h"
#include "sextant/geometry/diameter.h"
#include "sextant/recognize/recognizer.h"
#include "sextant/surface/symmetries.h"
#include "sextant/synth/catalogue.h"

// Whether the covariance of a pose is true: the same object is put onto a table before the camera,
// the sensor's noise is drawn many times, and the errors of the poses that are found are compared
// with the covariances that come with them.

namespace sextant::app {

namespace {

constexpr int kViews = 6;  // directions from which an object is seen
constexpr int kDraws = 5;  // of the noise, for each
// Of the diameter: a direction that is known no better is open, as a turn about an axis of
// symmetry.
constexpr double kOpen = 0.05;
constexpr double kWithin = 0.2;  // of what is claimed

struct Subject {
  LearnedObject object;
  RenderScene scene;  ///< the object, then the table
};

Subject make_subject(const char* name) {
  const Context cpu = Context::cpu();
  Subject subject;
  subject.object.name = name;
  subject.object.mesh = make_object(name);
  subject.object.diameter_m = diameter_m(cpu, subject.object.mesh.vertices.points);
  subject.object.shape_symmetries = find_symmetries(cpu, subject.object.mesh).shape;
  constexpr float kHalf = 0.6f;
  TriangleMesh table;
  table.vertices.points = copy(
      cpu, std::vector<Vec3f>{
               {-kHalf, -kHalf, 0}, {kHalf, -kHalf, 0}, {kHalf, kHalf, 0}, {-kHalf, kHalf, 0}});
  table.triangles = copy(cpu, std::vector<Vec3i>{{0, 1, 2}, {0, 2, 3}});
  const TriangleMesh* meshes[] = {&subject.object.mesh, &table};
  subject.scene = RenderScene(cpu, meshes);
  return subject;
}

/// What a set of draws says.
struct Sums {
  double squared = 0, told = 0;
  int found = 0, draws = 0;
  std::vector<double> shifts_mm, turns_deg;
};

/// A camera that looks down at the object by 25° to 60°, from somewhere around it.
Rigid3d camera_from_object(const Subject& subject, int view, double distance_m) {
  const double down = (25 + 35.0 * view / (kViews - 1)) * std::numbers::pi / 180;
  const double around = 2.4 * view + 0.3;
  const Bounds box = bounds(Context::cpu(), subject.object.mesh.vertices.points);
  const SeenObject middle{"", {}, cast<double>((box.low + box.high) / 2.0f)};
  return look_at(
      middle,
      {std::cos(around) * std::cos(down), std::sin(around) * std::cos(down), std::sin(down)},
      distance_m, 0);
}

void draw(const Context& context, const Subject& subject, SensorModel sensor, double distance_m,
          Sums& sums) {
  const Recognizer recognizer(context, std::span(&subject.object, 1), {.accept = 0});
  const Camera camera = measure::vga_camera();
  const double size = subject.object.diameter_m;
  Image<std::uint8_t> nowhere(Context::cpu(), camera.width, camera.height);
  for (std::uint8_t& admitted : nowhere.pixels().host()) admitted = 0;
  for (int view = 0; view < kViews; ++view) {
    const Rigid3d truth = camera_from_object(subject, view, distance_m);
    const Instance instances[] = {{0, 0, 0, cast<float>(truth)}, {1, 0, 1, cast<float>(truth)}};
    const Rendering exact = render(context, subject.scene, camera, instances, {.normals = true});
    for (int d = 0; d < kDraws; ++d) {
      const auto seed = static_cast<std::uint64_t>(kDraws * view + d);
      const Image<float> depth_m = add_sensor_noise(
          context, exact.depth_m_of(0), exact.normals_of(0), camera, sensor_noise(sensor), seed);
      ++sums.draws;
      // From near the truth: what searching misses is measured elsewhere.
      const Rigid3d near{truth.rotation, truth.translation + Vec3d{0.003, 0.002, 0.001}};
      const Recognition found =
          recognizer.recognize(depth_m, camera, {.mask = nowhere, .poses = {{0, near}}});
      if (found.detections.empty()) continue;
      const Detection& best = found.detections.front();
      const Rigid3d pose =
          nearest_equivalent(subject.object.shape_symmetries, best.camera_from_object, truth);
      const Twist3<double> motion = pose_motion(pose, truth, best.centre_m);
      // A pose that is wrong altogether is no matter of covariance.
      if (norm(motion.v_m) > 0.1 * size || norm(motion.omega_rad) > 0.3) continue;
      ++sums.found;
      const NormalizedError error =
          normalized_error(motion, best.covariance, 0.5 * size, kOpen * size);
      sums.squared += error.squared;
      sums.told += error.told;
      sums.shifts_mm.push_back(1000 * norm(motion.v_m));
      sums.turns_deg.push_back(norm(motion.omega_rad) * 180 / std::numbers::pi);
    }
  }
}

}  // namespace

std::vector<measure::Row> pose_covariance(const Context& context) {
  struct Setting {
    SensorModel sensor;
    double distance_m;
  };
  constexpr Setting kSettings[] = {{SensorModel::kKinect, 0.6},
                                   {SensorModel::kKinect, 1.0},
                                   {SensorModel::kKinectRegistered, 0.8},
                                   {SensorModel::kRealsense, 0.8},
                                   {SensorModel::kRealsenseNear, 0.5}};
  std::vector<measure::Row> rows;
  for (const char* name :
       {"tortoise", "tasmanian_devil", "mask", "speaker", "cereal_box", "soup_can"}) {
    const Subject subject = make_subject(name);
    for (const auto& [sensor, distance_m] : kSettings) {
      Sums sums;
      draw(context, subject, sensor, distance_m, sums);
      const std::string at =
          fmt::format("{}, {} at {:.1f} m: ", name, name_of(sensor, kSensorModels), distance_m);
      const auto add = [&](const char* what, const char* unit, double value) {
        rows.push_back({at + what, unit, {}, value, {}, {}});
      };
      const double ratio = sums.squared / sums.told;
      add("squared error over claimed variance", "", ratio);
      rows.back().goal = 1.0;
      rows.back().met = std::abs(ratio - 1) <= kWithin;
      add("directions told, of 6", "", sums.told / sums.found);
      add("median error", "mm", measure::spread_of(sums.shifts_mm).median);
      add("median turn", "deg", measure::spread_of(sums.turns_deg).median);
      add("draws with a right pose", "%", 100.0 * sums.found / sums.draws);
    }
  }
  return rows;
}

}  // namespace sextant::app
