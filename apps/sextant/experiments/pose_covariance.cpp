// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "apps/sextant/experiments/experiments.h"
#include "apps/sextant/experiments/object_views.h"
#include "measure/surface_chain.h"
#include "sextant/core/random.h"
#include "sextant/evaluate/normalized_error.h"
#include "sextant/geometry/diameter.h"
#include "sextant/pose/point_to_plane.h"
#include "sextant/recognize/recognizer.h"
#include "sextant/surface/symmetries.h"
#include "sextant/synth/catalogue.h"

// Whether the covariance of a pose is true: an object is put onto a table before the camera, the
// sensor's noise is drawn many times over the same picture, and the errors of the poses that are
// found are compared with the covariances that come with them. What the poses of one view scatter
// by is the noise; what their mean is off by is the bias, such as that of the sensor's steps of
// depth, of rims that it loses and of the render mesh. A covariance speaks of both together.

namespace sextant::app {

namespace {

constexpr int kViews = 4;        // directions from which an object is seen
constexpr int kDraws = 10;       // of the noise, for each
constexpr double kWithin = 0.2;  // of what is claimed

struct Subject {
  LearnedObject object;
  RenderScene scene;  ///< the object, then the table
};

Subject make_subject(std::string_view name) {
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

/// A camera that looks down at the object by 25° to 60°, from somewhere around it.
Rigid3d camera_from_object(const Subject& subject, int view, double distance_m) {
  const double down = (25 + 35.0 * view / (kViews - 1)) * std::numbers::pi / 180;
  const double around = 2.4 * view + 0.9;
  const Bounds box = bounds(Context::cpu(), subject.object.mesh.vertices.points);
  const SeenObject middle{"", {}, cast<double>((box.low + box.high) / 2.0f)};
  return look_at(
      middle,
      {std::cos(around) * std::cos(down), std::sin(around) * std::cos(down), std::sin(down)},
      distance_m, 0.4 * view);
}

/// Some millimetres and degrees beside the truth: what searching misses is measured elsewhere.
Rigid3d beside(const Rigid3d& truth, const Vec3d& centre_m, std::uint64_t seed) {
  constexpr double kShift_m = 0.003, kTurn_rad = 0.03;
  const Random random{seed, 1};
  const auto normal = [&](std::uint64_t k) { return static_cast<double>(random.normal(k)); };
  const Vec3d turn = Vec3d{normal(0), normal(1), normal(2)} * kTurn_rad;
  const Vec3d shift = Vec3d{normal(3), normal(4), normal(5)} * kShift_m;
  return motion_about({turn, shift}, truth * centre_m) * truth;
}

/// The poses that were found in one view of an object.
struct Found {
  Twist3<double> motion;  ///< from the truth
  std::array<double, 36> covariance;
};

/// What a setting says over all views.
struct Sums {
  double squared = 0, scatter = 0;  ///< over the claimed variance: of errors, and about their mean
  double told = 0, scatter_told = 0;       ///< directions that both are over
  double noise_sq = 0, error_sq = 0;       ///< m², turns at half a diameter from the centre
  int found = 0, compared = 0, draws = 0;  ///< compared with the mean of their view
};

void add(std::vector<Found> draws, double diameter, Sums& sums) {
  const auto over = [&](const Twist3<double>& m, const Found& f) {
    return normalized_error(m, f.covariance, 0.5 * diameter, kOpenShare * diameter);
  };
  int most_told = 0;
  for (const Found& f : draws) {
    const NormalizedError error = over(f.motion, f);
    sums.squared += error.squared;
    sums.told += error.told;
    most_told = std::max(most_told, error.told);
    ++sums.found;
  }
  // A draw that leaves more open than the others may lie far off there, and is no part of a mean.
  std::erase_if(draws, [&](const Found& f) { return over(f.motion, f).told < most_told; });
  if (draws.size() < 2) return;
  const auto count = static_cast<double>(draws.size());
  Twist3<double> mean{};
  for (const Found& f : draws) {
    mean.omega_rad = mean.omega_rad + f.motion.omega_rad / count;
    mean.v_m = mean.v_m + f.motion.v_m / count;
  }
  const auto size_sq = [&](const Twist3<double>& m) {
    return norm_sq(m.v_m) + norm_sq(m.omega_rad) * 0.25 * diameter * diameter;
  };
  for (const Found& f : draws) {
    const Twist3<double> off{f.motion.omega_rad - mean.omega_rad, f.motion.v_m - mean.v_m};
    sums.scatter += over(off, f).squared * count / (count - 1);
    sums.scatter_told += most_told;
    sums.error_sq += size_sq(f.motion);
    sums.noise_sq += size_sq(off) * count / (count - 1);
    ++sums.compared;
  }
}

Sums draw(const Context& context, const Subject& subject, SensorModel sensor, double distance_m) {
  const Recognizer recognizer(context, std::span(&subject.object, 1), {.accept = 0});
  const Camera camera = measure::vga_camera();
  const double diameter = subject.object.diameter_m;
  Image<std::uint8_t> nowhere(Context::cpu(), camera.width, camera.height);
  for (std::uint8_t& admitted : nowhere.pixels().host()) admitted = 0;
  Sums sums;
  for (int view = 0; view < kViews; ++view) {
    const Rigid3d truth = camera_from_object(subject, view, distance_m);
    const Instance instances[] = {{0, 0, 0, cast<float>(truth)}, {1, 0, 1, cast<float>(truth)}};
    const Rendering exact = render(context, subject.scene, camera, instances, {.normals = true});
    std::vector<Found> draws;
    for (int d = 0; d < kDraws; ++d) {
      const auto seed = static_cast<std::uint64_t>(kDraws) * static_cast<std::uint64_t>(view) +
                        static_cast<std::uint64_t>(d);
      const Image<float> depth_m = add_sensor_noise(
          context, exact.depth_m_of(0), exact.normals_of(0), camera, sensor_noise(sensor), seed);
      ++sums.draws;
      const Vec3d middle = inverse(truth) * Vec3d{0, 0, distance_m};
      const Recognition found = recognizer.recognize(
          depth_m, camera, {.mask = nowhere, .poses = {{0, beside(truth, middle, seed)}}});
      if (found.detections.empty()) continue;
      const Detection& best = found.detections.front();
      const Rigid3d pose =
          nearest_equivalent(subject.object.shape_symmetries, best.camera_from_object, truth);
      const Twist3<double> motion = pose_motion(pose, truth, best.centre_m);
      // A pose that is wrong altogether is no matter of covariance.
      if (norm(motion.v_m) > 0.1 * diameter || norm(motion.omega_rad) > 0.3) continue;
      draws.push_back({motion, best.covariance});
    }
    add(std::move(draws), diameter, sums);
  }
  return sums;
}

}  // namespace

std::vector<measure::Row> pose_covariance(const Context& context) {
  struct Setting {
    SensorModel sensor;
    double distance_m;
  };
  constexpr Setting kSettings[] = {
      {SensorModel::kKinect, 0.6},           {SensorModel::kKinect, 1.2},
      {SensorModel::kKinectRegistered, 0.9}, {SensorModel::kRealsense, 0.6},
      {SensorModel::kRealsense, 1.0},        {SensorModel::kRealsenseNear, 0.6},
      {SensorModel::kRealsenseNear, 0.9}};
  std::vector<std::string> names;
  for (const SeenObject& toy : seven_toys(Context::cpu())) names.push_back(toy.name);
  names.insert(names.end(), {"cereal_box", "soup_can"});
  std::vector<measure::Row> rows;
  std::vector<double> all;
  int within = 0;
  for (const std::string& name : names) {
    const Subject subject = make_subject(name);
    for (const auto& [sensor, distance_m] : kSettings) {
      const Sums sums = draw(context, subject, sensor, distance_m);
      const std::string at =
          fmt::format("{}, {} at {:.1f} m: ", name, name_of(sensor, kSensorModels), distance_m);
      const auto add_row = [&](const char* what, const char* unit, double value) {
        rows.push_back({at + what, unit, {}, value, {}, {}});
      };
      const double ratio = std::sqrt(sums.squared / sums.told);
      all.push_back(ratio);
      add_row("error over what is claimed", "", ratio);
      rows.back().goal = 1.0;
      rows.back().met = std::abs(ratio - 1) <= kWithin;
      within += *rows.back().met ? 1 : 0;
      add_row("scatter over what is claimed", "", std::sqrt(sums.scatter / sums.scatter_told));
      add_row("directions told, of 6", "", sums.told / sums.found);
      add_row("error", "mm", 1000 * std::sqrt(sums.error_sq / sums.compared));
      add_row("scatter", "mm", 1000 * std::sqrt(sums.noise_sq / sums.compared));
      add_row("draws with a right pose", "%", 100.0 * sums.found / sums.draws);
    }
  }
  const auto count = static_cast<double>(all.size());
  rows.push_back(
      {"settings within 20 % of what is claimed", "%", {}, 100 * within / count, {}, {}});
  rows.back().goal = 100;
  rows.back().met = within == static_cast<int>(all.size());
  rows.push_back(
      {"error over what is claimed, median", "", {}, measure::spread_of(all).median, {}, {}});
  return rows;
}

}  // namespace sextant::app
