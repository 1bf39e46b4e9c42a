// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "apps/sextant/experiments/curvature_trial.h"
#include "apps/sextant/experiments/experiments.h"

namespace sextant::app {

/// Two of the paper's objects, a rod and a ball, and a ring, whose curvature changes along it,
/// before a wall and farther and farther from a Kinect, by two models of its noise. The paper has
/// the curves of its Fig. 7 without numbers.
std::vector<measure::Row> curvature_distance(const Context& context) {
  constexpr std::int32_t kObject = 1;
  struct Object {
    const char* name;
    AnalyticShape shape;
    Vec3d turn_rad;
  };
  const Object objects[] = {
      {"ChocB, rod 52.6 mm", AnalyticShape::cylinder(1 / 19.0, 0.2), {1.45, 0, 0}},
      {"BallA, ball 66.7 mm", AnalyticShape::sphere(1 / 15.0), {1.45, 0, 0}},
      {"ring 100 mm, 50 mm", AnalyticShape::torus(0.1, 0.05), {0, 0, 0}}};
  const Camera camera{280, 200, 536.84, 535.48, 139.5, 99.5, {}};
  std::vector<measure::Row> rows;
  for (const SensorModel model : {SensorModel::kKinect, SensorModel::kIndependent}) {
    const char* suffix = model == SensorModel::kKinect ? "" : ", independent noise";
    std::uint64_t seed = 1;
    for (const Object& object : objects) {
      for (const double distance_m : {0.5, 0.75, 1.0, 1.25, 1.5}) {
        AnalyticShape shapes[] = {object.shape, AnalyticShape::plane(at(0, 0, distance_m + 0.3))};
        shapes[0].camera_from_shape = at(0, 0, distance_m);
        shapes[0].camera_from_shape.rotation = exp_rotation(object.turn_rad);
        shapes[0].id = kObject;
        const CurvatureFrame frame = make_frame(camera, shapes, {.model = model, .seed = seed++});
        const MethodErrors errors =
            compare_methods(context, frame, inside_of(frame, kObject, 4), {.pcl_radius_m = 0.02f});
        add_method_rows(rows, fmt::format("{} at {} m{}", object.name, distance_m, suffix), errors,
                        {});
      }
    }
  }
  return rows;
}

}  // namespace sextant::app
