// SPDX-License-Identifier: Apache-2.0
#include "sextant/evaluate/pose_error.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sextant/evaluate/evaluated_model/point_tree.h"

namespace sextant {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

double add_error_m(const EvaluatedModel& model, const Rigid3d& estimate, const Rigid3d& truth) {
  double sum = 0;
  for (const Vec3d& p : model.points) sum += norm(estimate * p - truth * p);
  return sum / static_cast<double>(model.points.size());
}

double adds_error_m(const EvaluatedModel& model, const Rigid3d& estimate, const Rigid3d& truth) {
  // Distances stay the same when everything is brought into the estimate's object frame, where the
  // tree over the vertices serves every pose.
  const Rigid3d estimate_from_truth = inverse(estimate) * truth;
  double sum = 0;
  for (const Vec3d& p : model.points) {
    sum += std::sqrt(model.tree->nearest_sq(estimate_from_truth * p));
  }
  return sum / static_cast<double>(model.points.size());
}

double mssd_error_m(const EvaluatedModel& model, const Rigid3d& estimate, const Rigid3d& truth) {
  double best_sq = kInfinity;
  for (const Rigid3d& motion : model.motions) {
    const Rigid3d twin = truth * motion;
    double largest_sq = 0;
    // The points farthest out come first, so that a bad twin is given up after a few.
    for (const Vec3d& p : model.points) {
      largest_sq = std::max(largest_sq, norm_sq(estimate * p - twin * p));
      if (largest_sq >= best_sq) break;
    }
    best_sq = std::min(best_sq, largest_sq);
  }
  return std::sqrt(best_sq);
}

double mspd_error_px(const EvaluatedModel& model, const Camera& camera, const Rigid3d& estimate,
                     const Rigid3d& truth) {
  double best_sq = kInfinity;
  for (const Rigid3d& motion : model.motions) {
    const Rigid3d twin = truth * motion;
    double largest_sq = 0;
    for (const Vec3d& p : model.points) {
      const Vec2d offset = project(camera, estimate * p) - project(camera, twin * p);
      const double distance_sq = dot(offset, offset);
      largest_sq = std::isnan(distance_sq) ? kInfinity : std::max(largest_sq, distance_sq);
      if (largest_sq >= best_sq) break;
    }
    best_sq = std::min(best_sq, largest_sq);
  }
  return std::sqrt(best_sq);
}

PoseDifference pose_difference(const EvaluatedModel& model, const Rigid3d& estimate,
                               const Rigid3d& truth) {
  const Rigid3d twin = nearest_equivalent(model.symmetries, truth, estimate);
  return {.rotation_rad = rotation_angle(transpose(estimate.rotation) * twin.rotation),
          .translation_m = norm(estimate * model.middle_m - twin * model.middle_m)};
}

double criterion_error(const EvaluatedModel& model, const Rigid3d& estimate, const Rigid3d& truth,
                       const PoseCriterion& criterion) {
  check_options(criterion);
  const double allowed_m = criterion.share * model.diameter_m;
  switch (criterion.measure) {
    case PoseMeasure::kAdd:
      return add_error_m(model, estimate, truth) / allowed_m;
    case PoseMeasure::kAddS:
      return adds_error_m(model, estimate, truth) / allowed_m;
    case PoseMeasure::kMssd:
      return mssd_error_m(model, estimate, truth) / allowed_m;
    case PoseMeasure::kDistanceAndAngle:
      break;
  }
  const PoseDifference difference = pose_difference(model, estimate, truth);
  return std::max(difference.translation_m / criterion.distance_m,
                  difference.rotation_rad / criterion.angle_rad);
}

}  // namespace sextant
