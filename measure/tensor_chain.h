// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "measure/surface_chain.h"
#include "sextant/descriptor/tensor.h"
#include "sextant/synth/analytic_frame.h"
#include "sextant/synth/sensor_noise.h"

namespace sextant::measure {

/// What lies on a table before a wall: a ball, a can, a ring and two boxes, with independent noise
/// of a Kinect's size, with which all stored times were measured.
inline Image<float> objects_seen_by_kinect(const Camera& camera) {
  const auto at = [](double x, double y, double z, const Vec3d& turn) {
    Rigid3d pose;
    pose.rotation = exp_rotation(turn);
    pose.translation = {x, y, z};
    return pose;
  };
  const AnalyticShape shapes[] = {
      AnalyticShape::plane(at(0, 0, 1.6, {})),
      AnalyticShape::plane(at(0, 0.25, 1.2, {1.9, 0, 0})),
      AnalyticShape::sphere(0.07, at(0.28, 0.02, 1.1, {})),
      AnalyticShape::cylinder(0.05, 0.18, at(0.08, 0.05, 1.05, {1.3, 0, 0})),
      AnalyticShape::torus(0.08, 0.03, at(-0.12, 0.12, 0.95, {0.9, 0.4, 0})),
      AnalyticShape::box({0.14, 0.2, 0.1}, at(-0.32, 0.0, 1.2, {0.4, 0.6, 0.2})),
      AnalyticShape::box({0.12, 0.08, 0.2}, at(0.2, 0.2, 0.95, {0.2, -0.7, 0.1}))};
  const AnalyticFrame truth = render_analytic(Context::cpu(), camera, shapes);
  return add_sensor_noise(Context::cpu(), truth.depth_m, truth.normals, camera,
                          sensor_noise(SensorModel::kIndependent), 1);
}

/// One frame from depth to tensors: the steps of a surface, and those that follow.
struct TensorChain : SurfaceChain {
  static constexpr std::int64_t kMostTensors = 2000;
  static constexpr int kSamples = 4000;  ///< points that look for partners in sampled mode

  Buffer<PointPair> pairs, selected;
  Buffer<std::int32_t> pair_count, selected_count;
  TensorSet tensors;
  Workspace workspace;
  std::int64_t looked = 0;  ///< points that looked for partners; 0 for all

  explicit TensorChain(const Context& on, NormalsMethod normals_method = NormalsMethod::kRay)
      : SurfaceChain(on, vga_camera(), objects_seen_by_kinect(vga_camera()), normals_method),
        pairs(on, points.size() * kPartnersPerPoint),
        selected(on, kMostTensors),
        pair_count(on, 1),
        selected_count(on, 1),
        tensors(on, kMostTensors, TensorOptions{}.bins) {}

  OrganisedSurface surface() const { return {point_image(), normals, cells}; }

  void pair_up(int samples) {
    looked = samples;
    find_pairs_into(context, point_image(), normals, statistics, {.samples = samples, .seed = 1},
                    pairs, pair_count, workspace);
  }
  void select(std::int64_t amount) {
    // No more than can have been found, so that no more are sorted.
    const std::int64_t room =
        looked > 0 ? std::min(pairs.size(), looked * kPartnersPerPoint) : pairs.size();
    select_pairs_into(context, pairs.view().subview(0, room), pair_count, 1,
                      selected.view().subview(0, amount), selected_count, workspace);
  }
  void describe(const TensorOptions& options = {}) {
    compute_tensors_into(context, surface(), selected, selected_count, statistics, options, tensors,
                         workspace);
  }
  /// Depth in, tensors out.
  void run(int samples, std::int64_t amount) {
    make_surface();
    pair_up(samples);
    select(amount);
    describe();
  }
};

}  // namespace sextant::measure
