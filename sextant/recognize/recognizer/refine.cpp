// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/refine.h"

#include <algorithm>

#include "sextant/core/cholesky.h"

namespace sextant::detail::recognizer {

namespace {

constexpr double kLeastInformation = 1e-4;
constexpr std::int64_t kMostSamples = 400;
constexpr double kMostStep = 0.05;  // of the diameter: one step never leaves the neighbourhood

/// The equations of the samples that find a partner within the gate.
PoseEquations<double> pose_equations(const SceneFrame& scene, const Model& model,
                                     const Rigid3d& pose, double gate_m) {
  constexpr float kFacing = 0.05f;
  constexpr float kNormals = 0.6f;
  const Rigid3f moved = cast<float>(pose);
  const Vec3f centre = moved * model.centre;
  const float gate_sq = static_cast<float>(gate_m * gate_m);
  const std::span<const Vec3f> points = model.pairs.points.host();
  const std::span<const Vec3f> normals = model.pairs.normals.host();
  const std::size_t step =
      static_cast<std::size_t>((model.pairs.points.size() + kMostSamples - 1) / kMostSamples);
  PoseEquations<double> equations;
  for (std::size_t i = 0; i < points.size(); i += step) {
    const Vec3f x = moved * points[i];
    const Vec3f n = moved.rotation * normals[i];
    if (!(x.z > 0) || -dot(n, x) < kFacing * norm(x)) continue;
    const Vec2f pixel = project(scene.camera, x);
    const int u = static_cast<int>(std::lround(pixel.x)),
              v = static_cast<int>(std::lround(pixel.y));
    if (u < 0 || v < 0 || u >= scene.camera.width || v >= scene.camera.height) continue;
    const Vec3f q = scene.points(u, v), m = scene.normals(u, v);
    if (!(norm_sq(q - x) < gate_sq) || !(dot(m, n) > kNormals)) continue;
    const float residual = point_to_plane_residual(x, q, m);
    double row[6];
    point_to_plane_jacobian(cast<double>(x - centre), cast<double>(m), row);
    equations.add(row, residual, tukey_weight(static_cast<double>(residual * residual / gate_sq)));
  }
  return equations;
}

/// Moves a pose by a twist about the object's centre, which is shortened to the longest step. How
/// far it went comes back in metres at half a diameter from the centre.
double step(const Model& model, Twist3<double> twist, Rigid3d& pose) {
  const double diameter = model.diameter_m;
  const double size =
      std::sqrt(norm_sq(twist.v_m) + norm_sq(twist.omega_rad) * 0.25 * diameter * diameter);
  const double most = kMostStep * diameter;
  if (size > most) {
    twist.v_m = twist.v_m * (most / size);
    twist.omega_rad = twist.omega_rad * (most / size);
  }
  pose = renormalized(motion_about(twist, pose * cast<double>(model.centre)) * pose);
  return std::min(size, most);
}

}  // namespace

Rigid3d refine(const SceneFrame& scene, const Model& model, const Rigid3f& start) {
  constexpr double kGates[] = {0.10, 0.06, 0.03};
  constexpr int kIterations = 8;
  const double diameter = model.diameter_m;
  Rigid3d pose = cast<double>(start);
  for (const double share : kGates) {
    const Vec3d centre = pose * cast<double>(model.centre);
    const double sigma = scene.noise.sigma_m(static_cast<float>(centre.z));
    const double gate = std::max(share * diameter, 4 * sigma);
    for (int iteration = 0; iteration < kIterations; ++iteration) {
      const PoseEquations<double> equations = pose_equations(scene, model, pose, gate);
      if (equations.count < 10) break;
      const PoseDirections along = pose_directions(equations, 0.5 * diameter);
      const Twist3<double> twist = solve_pose_step(equations, along, kLeastInformation);
      if (step(model, twist, pose) < 2e-4 * diameter) break;
    }
  }
  return pose;
}

Rigid3d outline_step(const Model& model, const Rigid3d& pose,
                     const PoseEquations<double>& equations) {
  constexpr double kUnsure = 0.03;  // of the diameter, that a pose is expected to be off
  const double diameter = model.diameter_m;
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
  step(model, {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}}, moved);
  return moved;
}

}  // namespace sextant::detail::recognizer
