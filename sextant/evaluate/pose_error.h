// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/options.h"
#include "sextant/evaluate/evaluated_model.h"
#include "sextant/geometry/camera.h"

namespace sextant {

// How far an estimated pose is from the true one, on the host and in double precision. V are the
// model's vertices, E the estimate, T the truth, S the motions of its symmetries.

/// ADD (Hinterstoisser 2012): the mean of |E v - T v| over V.
double add_error_m(const EvaluatedModel& model, const Rigid3d& estimate, const Rigid3d& truth);

/// ADD-S, also called ADI: the mean over v of the distance from T v to the nearest of E V.
double adds_error_m(const EvaluatedModel& model, const Rigid3d& estimate, const Rigid3d& truth);

/// BOP's maximum symmetry-aware surface distance: the least over S of the largest |E v - T S v|.
double mssd_error_m(const EvaluatedModel& model, const Rigid3d& estimate, const Rigid3d& truth);

/// BOP's maximum symmetry-aware projection distance: the same with the pixels of both points.
/// Infinite where a vertex lies behind the camera.
double mspd_error_px(const EvaluatedModel& model, const Camera& camera, const Rigid3d& estimate,
                     const Rigid3d& truth);

/// How far the object's middle has moved and by how much it is turned, for the symmetric twin of
/// the truth that is turned least; about axes of symmetry that is exact, not in steps. The middle
/// and not the origin, because models in the frame of a scanner have that far away.
PoseDifference pose_difference(const EvaluatedModel& model, const Rigid3d& estimate,
                               const Rigid3d& truth);

/// What makes a pose right.
enum class PoseMeasure : std::int32_t { kAdd, kAddS, kMssd, kDistanceAndAngle };
inline constexpr Choice<PoseMeasure> kPoseMeasures[] = {
    {"add", PoseMeasure::kAdd},
    {"add-s", PoseMeasure::kAddS},
    {"mssd", PoseMeasure::kMssd},
    {"distance-and-angle", PoseMeasure::kDistanceAndAngle}};

struct PoseCriterion {
  PoseMeasure measure = PoseMeasure::kAdd;
  double share = 0.1;          ///< of the diameter that ADD, ADD-S and MSSD must stay below
  double distance_m = 0.01;    ///< that the middle must stay below
  double angle_rad = 0.17453;  ///< that the rotation must stay below

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("measure", self.measure, "what decides whether a pose is right", kPoseMeasures);
    visit("share", self.share, "share of the diameter that add, add-s and mssd stay below",
          Range{1e-6, 10});
    visit("distance_m", self.distance_m, "how far the object's middle may be off", Range{1e-6, 10});
    visit("angle_rad", self.angle_rad, "how far the object may be turned", Range{1e-6, 4});
  }
};

/// The error as a share of what is allowed: right poses are below 1. Of distance and angle the
/// larger share counts.
double criterion_error(const EvaluatedModel& model, const Rigid3d& estimate, const Rigid3d& truth,
                       const PoseCriterion& criterion);

}  // namespace sextant
