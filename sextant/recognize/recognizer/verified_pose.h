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

/// The inverse of the information, where directions that nothing tells have the object's size, and
/// what errs together. `sigma_m` is the noise at the object, `grain_px` its reach there.
SEXTANT_HD inline SymN<double, 6> covariance_of(const ModelView& model,
                                                const PoseEquations<double>& equations,
                                                double sigma_m, double grain_px) {
  // The equations count pixels as a Kinect's err together. Where noise reaches farther, as a stereo
  // camera's does, they claim to know more than they do.
  constexpr double kUsualGrain_px = 7;
  // Of the noise, what a whole object errs by together: calibration bends depth maps smoothly.
  constexpr double kCommon = 0.15;
  const auto diameter = static_cast<double>(model.diameter_m);
  const PoseDirections along = pose_directions(equations, 0.5 * diameter);
  const double reach = grain_px / kUsualGrain_px;
  const double shared = max_of(1.0, reach * reach);
  SymN<double, 6> c = pose_covariance(equations, along, 1, shared, 0, diameter);
  for (int i = 0; i < 6; ++i) {
    const double common = kCommon * sigma_m / (i < 3 ? 0.5 * diameter : 1.0);
    c.at(i, i) += common * common;
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
  const auto sigma_m = static_cast<double>(noise.sigma_m(static_cast<float>(centre.z)));
  const auto grain_px = static_cast<double>(noise.grain(static_cast<float>(centre.z)));
  return {object_index,
          pose,
          probability(acceptance_logit(terms, model.level)),
          probability(acceptance_logit_among_several(terms, model.level)),
          covariance_of(model, equations, sigma_m, grain_px),
          terms};
}

}  // namespace sextant::detail::recognizer
