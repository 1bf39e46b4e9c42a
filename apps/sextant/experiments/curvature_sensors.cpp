// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/sextant/experiments/curvature_trial.h"
#include "apps/sextant/experiments/experiments.h"

namespace sextant::app {

namespace {

constexpr std::int32_t kObject = 1;
/// A bias of a tenth of the curvature is what may remain.
constexpr double kMostBias = 0.1;
/// Fewer valid pixels have no mean worth a row.
constexpr std::int64_t kLeastValid = 20;

struct Object {
  const char* name;
  AnalyticShape shape;
  double k1_per_m;
  Vec3d turn_rad;
};

void add_rows(const Context& context, const CurvatureFrame& frame, const Object& object,
              const std::string& what, std::vector<measure::Row>& rows) {
  const PrincipalCurvatures found = quadric_curvature(context, frame.points, {});
  std::vector<char> valid(frame.pixels(), 0);
  std::int64_t visible = 0, count = 0;
  for (std::size_t i = 0; i < frame.pixels(); ++i) {
    if (frame.truth.ids.pixels().host()[i] != kObject) continue;
    ++visible;
    valid[i] = found.has(i) ? 1 : 0;
    count += valid[i];
  }
  rows.push_back(
      {what + ", valid",
       "%",
       {},
       100.0 * static_cast<double>(count) / static_cast<double>(std::max<std::int64_t>(visible, 1)),
       {},
       {}});
  if (count < kLeastValid) return;
  const double bias_per_m = std::abs(error_of(found, frame, valid).mean_k1 - object.k1_per_m);
  const double goal_per_m = kMostBias * object.k1_per_m;
  rows.push_back({what + ", bias of k1 where valid",
                  "1/m",
                  {},
                  bias_per_m,
                  goal_per_m,
                  bias_per_m <= goal_per_m});
}

}  // namespace

/// What the default patch makes of small bodies from near to far: how much of them is valid, and
/// how far its mean lies from the truth there.
std::vector<measure::Row> curvature_sensors(const Context& context) {
  const Object objects[] = {
      {"ball 50 mm", AnalyticShape::sphere(0.05), 1 / 0.05, {}},
      {"torus 100 mm, 30 mm", AnalyticShape::torus(0.1, 0.03), 1 / 0.03, {}},
      {"tilted torus 100 mm, 40 mm", AnalyticShape::torus(0.1, 0.04), 1 / 0.04, {0.5, 0.2, 0}}};
  const std::pair<SensorModel, const char*> sensors[] = {{SensorModel::kKinect, "Kinect"},
                                                         {SensorModel::kRealsense, "RealSense"}};
  const Camera camera{640, 480, 560, 560, 319.5, 239.5, {}};
  std::vector<measure::Row> rows;
  std::uint64_t seed = 1;
  for (const auto& [model, sensor] : sensors) {
    for (const Object& object : objects) {
      for (const double distance_m : {0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0}) {
        AnalyticShape shapes[] = {object.shape, AnalyticShape::plane(at(0, 0, distance_m + 0.4))};
        shapes[0].camera_from_shape = at(0, 0, distance_m);
        shapes[0].camera_from_shape.rotation = exp_rotation(object.turn_rad);
        shapes[0].id = kObject;
        const CurvatureFrame frame = make_frame(camera, shapes, {.model = model, .seed = seed++});
        add_rows(context, frame, object,
                 fmt::format("{} at {} m, {}", object.name, distance_m, sensor), rows);
      }
    }
  }
  return rows;
}

}  // namespace sextant::app
