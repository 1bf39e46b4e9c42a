// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/pose/point_to_plane.h"
#include "sextant/recognize/recognizer/poses_math.h"

// The steps of one pose towards the frame, for host and device.

namespace sextant::detail::recognizer {

inline constexpr double kLeastInformation = 1e-4;
inline constexpr std::int32_t kMostSamples = 400;
inline constexpr double kMostStep = 0.05;  ///< of the diameter: a step stays in the neighbourhood

inline constexpr int kRefineGates = 3;
inline constexpr int kRefineIterations = 8;  ///< at most, with each gate

/// Of the samples every so many are asked.
SEXTANT_HD inline std::int32_t refine_step_of_samples(const ModelView& model) {
  return (model.samples + kMostSamples - 1) / kMostSamples;
}

/// How far a sample's partner may be.
SEXTANT_HD inline double refine_gate_m(const FrameView& frame, const ModelView& model,
                                       const Rigid3d& pose, int gate) {
  const double share = gate == 0 ? 0.10 : gate == 1 ? 0.06 : 0.03;
  const Vec3d centre = pose * cast<double>(model.centre);
  const double sigma = static_cast<double>(frame.noise.sigma_m(static_cast<float>(centre.z)));
  return max_of(share * static_cast<double>(model.diameter_m), 4 * sigma);
}

/// Adds the equation of a sample that finds a partner within the gate. `centre` is the object's.
SEXTANT_HD inline void add_sample(const FrameView& frame, const ModelView& model,
                                  const Rigid3f& pose, const Vec3f& centre, float gate_sq,
                                  std::int32_t i, PoseEquations<double>& equations) {
  constexpr float kFacing = 0.05f;
  constexpr float kNormals = 0.6f;
  const Vec3f x = pose * model.points[i];
  const Vec3f n = pose.rotation * model.normals[i];
  if (!(x.z > 0) || -dot(n, x) < kFacing * norm(x)) return;
  const Vec2<int> p = nearest_pixel(frame.camera, x);
  if (!frame.contains(p.x, p.y)) return;
  const Vec3f q = frame.points(p.x, p.y), m = frame.normals(p.x, p.y);
  if (!(norm_sq(q - x) < gate_sq) || !(dot(m, n) > kNormals)) return;
  const float residual = point_to_plane_residual(x, q, m);
  double row[6];
  point_to_plane_jacobian(cast<double>(x - centre), cast<double>(m), row);
  equations.add(row, static_cast<double>(residual),
                tukey_weight(static_cast<double>(residual * residual / gate_sq)));
}

/// Moves a pose by a twist about the object's centre, which is shortened to the longest step. How
/// far it went comes back in metres at half a diameter from the centre.
SEXTANT_HD inline double move_pose(const ModelView& model, Twist3<double> twist, Rigid3d& pose) {
  const auto diameter = static_cast<double>(model.diameter_m);
  const double size =
      std::sqrt(norm_sq(twist.v_m) + norm_sq(twist.omega_rad) * 0.25 * diameter * diameter);
  const double most = kMostStep * diameter;
  if (size > most) {
    twist.v_m = twist.v_m * (most / size);
    twist.omega_rad = twist.omega_rad * (most / size);
  }
  pose = renormalized(motion_about(twist, pose * cast<double>(model.centre)) * pose);
  return min_of(size, most);
}

/// One iteration; false where no further one is wanted with this gate.
SEXTANT_HD inline bool refine_once(const ModelView& model, const PoseEquations<double>& equations,
                                   Rigid3d& pose) {
  if (equations.count < 10) return false;
  const auto diameter = static_cast<double>(model.diameter_m);
  const Twist3<double> twist = solve_pose_step(equations, 0.5 * diameter, kLeastInformation);
  return move_pose(model, twist, pose) >= 2e-4 * diameter;
}

/// One step towards where depths and edges want a pose (compare.h), at most a twentieth of the
/// diameter.
SEXTANT_HD inline Rigid3d outline_step(const ModelView& model, const Rigid3d& pose,
                                       const PoseEquations<double>& equations) {
  constexpr double kUnsure = 0.03;  // of the diameter, that a pose is expected to be off
  const auto diameter = static_cast<double>(model.diameter_m);
  SymN<double, 6> h = equations.hessian;
  for (int i = 0; i < 6; ++i) {
    const double deviation = kUnsure * (i < 3 ? 2.0 : diameter);  // at half a diameter
    h.at(i, i) += 1 / (deviation * deviation);
  }
  const Cholesky<double, 6> factors = cholesky(h);
  if (!factors.ok) return pose;
  double x[6];
  for (int i = 0; i < 6; ++i) x[i] = -equations.gradient[i];
  factors.solve(x);
  Rigid3d moved = pose;
  move_pose(model, {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}}, moved);
  return moved;
}

}  // namespace sextant::detail::recognizer
