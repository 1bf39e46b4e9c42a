// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/pose/point_to_plane.h"
#include "sextant/recognize/recognizer/acceptance.h"
#include "sextant/recognize/recognizer/frame.h"
#include "sextant/recognize/recognizer/model_view.h"

namespace sextant::detail::recognizer {

/// A pose with all that is told of it but the pixels.
struct VerifiedPose {
  std::int32_t object_index = -1;  ///< -1 for none
  Rigid3d camera_from_object;
  double score = 0;
  double score_among_several = 0;  ///< where several of the object are found; not smaller
  SymN<double, 6> covariance;
  VerificationTerms terms;
};

/// What a pose errs by, as a small motion about the object's centre in the camera's axes.
///
/// The equations (compare_math.h) divide each depth and edge by its variance and by how many err
/// together, with margins that their other uses need: were that all, the covariance would be their
/// inverse. Here the margins go and what is missing comes, in sizes that `sextant reproduce
/// pose-covariance` found:
/// - *Noise.* The equations count at least the noise of gates, which has a floor of half a
///   millimetre (`RecognizeOptions::noise_floor_m`). The sensor's own has a tenth.
/// - *Reach.* They count as many that err together as a Kinect has. Errors that reach over r pixels
///   instead of its 7 leave (r / 7)² times fewer that are independent.
/// - *What errs together.* Calibration bends depth maps over some 50 pixels, about an object's
///   width, and the pose that is told is the best of a few steps, not where the equations vanish.
///   Both move it in every direction, by a share of the noise.
/// - *The render mesh* lies off the surface by `shape_m` on average, and the pose follows.
/// - *Open directions.* Normals of a render mesh that is coarser than the object err by some 4°,
///   whose square is the information that they pretend where there is none. What is told less than
///   that, and turns that change nothing, have the object's size.
///
/// `depth_m` is where the object lies.
SEXTANT_HD inline SymN<double, 6> covariance_of(const ModelView& model, const Rigid3d& pose,
                                                const PoseEquations<double>& equations,
                                                const DepthNoise& noise, float depth_m) {
  constexpr double kKinectReach_px = 7, kSharedByKinect = 1.5;
  constexpr double kLeastNoise_m = 1e-4;
  constexpr double kTogether = 0.1;  // of the noise
  constexpr double kShape = 0.35;    // of the render mesh's mean distance
  constexpr double kLeastInformation = 0.005;
  const auto diameter = static_cast<double>(model.diameter_m);
  const auto counted_m = static_cast<double>(noise.sigma_m(depth_m));
  const double sigma_m = counted_m - static_cast<double>(noise.floor_m) + kLeastNoise_m;
  const double reach = static_cast<double>(noise.reach(depth_m)) / kKinectReach_px;
  const double shared = kSharedByKinect * max_of(1.0, reach * reach);
  const double least_information = model.shape_m > 0 ? kLeastInformation : 0.0;
  const double margin = counted_m > 0 ? sigma_m / counted_m : 1.0;
  SymN<double, 6> c = pose_covariance(equations, pose_directions(equations, 0.5 * diameter),
                                      margin * margin, shared, least_information, diameter);
  const double together = kTogether * sigma_m;
  const double shape = kShape * static_cast<double>(model.shape_m);
  for (int i = 0; i < 6; ++i) {
    const double length = i < 3 ? 0.5 * diameter : 1.0;
    c.at(i, i) += (together * together + shape * shape) / (length * length);
  }
  for (int k = 0; k < model.free_turns; ++k) {
    const Vec3d axis = pose.rotation * cast<double>(model.turns[k].axis);
    const Vec3d shift = pose.rotation * cast<double>(model.turns[k].shift);
    const double row[6] = {axis.x, axis.y, axis.z, shift.x, shift.y, shift.z};
    c.add_outer(row, 4);  // two radians move the surface by the diameter
  }
  return c;
}

/// The covariance of what moves with a body, about a place that lies `off` its centre.
inline SymN<double, 6> covariance_at(const SymN<double, 6>& c, const Vec3d& off) {
  // Turning the body moves the place by the turn crossed with its offset.
  const double turn[3][3] = {{0, off.z, -off.y}, {-off.z, 0, off.x}, {off.y, -off.x, 0}};
  const auto row = [&](int i, double out[6]) {
    for (int k = 0; k < 6; ++k) out[k] = k == i ? 1 : 0;
    for (int k = 0; i >= 3 && k < 3; ++k) out[k] = turn[i - 3][k];
  };
  SymN<double, 6> result;
  for (int i = 0; i < 6; ++i) {
    double a[6];
    row(i, a);
    for (int j = 0; j <= i; ++j) {
      double b[6];
      row(j, b);
      double sum = 0;
      for (int k = 0; k < 6; ++k) {
        for (int l = 0; l < 6; ++l) sum += a[k] * c.at(k, l) * b[l];
      }
      result.at(i, j) = sum;
    }
  }
  return result;
}

SEXTANT_HD inline VerifiedPose verified_pose(const DepthNoise& noise, const ModelView& model,
                                             std::int32_t object_index, const Rigid3d& pose,
                                             const VerificationTerms& terms,
                                             const PoseEquations<double>& equations) {
  const Vec3d centre = pose * cast<double>(model.centre);
  return {object_index,
          pose,
          probability(acceptance_logit(terms, model.level)),
          probability(acceptance_logit_among_several(terms, model.level)),
          covariance_of(model, pose, equations, noise, static_cast<float>(centre.z)),
          terms};
}

}  // namespace sextant::detail::recognizer
