// SPDX-License-Identifier: Apache-2.0
#include "sextant/pose/pose_graph.h"

#include "sextant/pose/dense_system/dense_system.h"

namespace sextant {

namespace {

/// The motion in the frame of a, about the edge's centre, that takes what was measured to what the
/// poses say.
Twist3<double> edge_error(const PoseEdge& edge, const Rigid3d& world_from_a,
                          const Rigid3d& world_from_b) {
  const Rigid3d off = inverse(world_from_a) * world_from_b * inverse(edge.a_from_b);
  return log(Rigid3d{off.rotation, off.translation + off.rotation * edge.centre_m - edge.centre_m});
}

double size_of(const Twist3<double>& error, double length_m) {
  return norm(error.v_m) + length_m * norm(error.omega_rad);
}

/// The 6×6 matrix that takes a small motion of the world to one in the frame of a about the centre:
/// ω' = Rᵀ ω, v' = Rᵀ (v + ω × p), where p is the centre in the world.
void adjoint(const Rigid3d& world_from_a, const Vec3d& centre, double (&to)[6][6]) {
  const Mat3d r = transpose(world_from_a.rotation);
  const Vec3d p = world_from_a * centre;
  for (int column = 0; column < 3; ++column) {
    const Vec3d unit{column == 0 ? 1.0 : 0.0, column == 1 ? 1.0 : 0.0, column == 2 ? 1.0 : 0.0};
    const Vec3d turn = r * unit;
    const Vec3d lever = r * cross(unit, p);
    const double a[3] = {turn.x, turn.y, turn.z}, b[3] = {lever.x, lever.y, lever.z};
    for (int i = 0; i < 3; ++i) {
      to[i][column] = a[i];
      to[i + 3][column] = b[i];
      to[i][column + 3] = 0;
      to[i + 3][column + 3] = a[i];
    }
  }
}

/// Views that no edge reaches have a one on the diagonal and stay.
using System = detail::DenseSystem;

void add_edge(const PoseEdge& edge, const Twist3<double>& error, double weight, const Rigid3d& pose,
              System& system) {
  double adj[6][6];
  adjoint(pose, edge.centre_m, adj);
  const double e[6] = {error.omega_rad.x, error.omega_rad.y, error.omega_rad.z,
                       error.v_m.x,       error.v_m.y,       error.v_m.z};
  double weighted[6][6];  // information × adjoint
  double slope[6];        // information × error
  for (int i = 0; i < 6; ++i) {
    slope[i] = 0;
    for (int k = 0; k < 6; ++k) slope[i] += weight * edge.information.at(i, k) * e[k];
    for (int j = 0; j < 6; ++j) {
      weighted[i][j] = 0;
      for (int k = 0; k < 6; ++k) weighted[i][j] += weight * edge.information.at(i, k) * adj[k][j];
    }
  }
  const std::size_t a = 6 * static_cast<std::size_t>(edge.a);
  const std::size_t b = 6 * static_cast<std::size_t>(edge.b);
  for (std::size_t i = 0; i < 6; ++i) {
    double g = 0;
    for (std::size_t k = 0; k < 6; ++k) g += adj[k][i] * slope[k];
    system.add_right(a + i, g);
    system.add_right(b + i, -g);
    for (std::size_t j = 0; j < 6; ++j) {
      double h = 0;
      for (std::size_t k = 0; k < 6; ++k) h += adj[k][i] * weighted[k][j];
      system.add(a + i, a + j, h);
      system.add(b + i, b + j, h);
      system.add(a + i, b + j, -h);
      system.add(b + i, a + j, -h);
    }
  }
}

}  // namespace

PoseGraphResult relax_poses(std::span<const Rigid3d> world_from_view,
                            std::span<const PoseEdge> edges, const PoseGraphOptions& options) {
  check_options(options);
  const auto views = static_cast<std::int32_t>(world_from_view.size());
  double scale = 0;
  for (const PoseEdge& edge : edges) {
    require(edge.a >= 0 && edge.b >= 0 && edge.a < views && edge.b < views && edge.a != edge.b,
            "edges: an edge joins views ", edge.a, " and ", edge.b, " of ", views);
    for (int i = 0; i < 6; ++i) scale = max_of(scale, edge.information.at(i, i));
  }
  PoseGraphResult result;
  result.world_from_view.assign(world_from_view.begin(), world_from_view.end());
  std::vector<Rigid3d>& poses = result.world_from_view;
  const auto pose_of = [&](std::int32_t view) { return poses[static_cast<std::size_t>(view)]; };
  while (!edges.empty() && result.iterations < options.iterations && !result.converged) {
    System system(6 * poses.size());
    for (std::size_t i = 0; i < 6 * poses.size(); ++i) {
      // The first view is held; a trace elsewhere keeps what nothing determines where it is.
      system.add(i, i, i < 6 ? 1e9 * max_of(scale, 1.0) : 1e-12 * max_of(scale, 1e-300));
    }
    for (const PoseEdge& edge : edges) {
      const Twist3<double> error = edge_error(edge, pose_of(edge.a), pose_of(edge.b));
      const double ratio = size_of(error, options.length_m) / options.outlier_m;
      const double rest = 1 / (1 + ratio * ratio);
      add_edge(edge, error, rest * rest, pose_of(edge.a), system);
    }
    if (!system.solve()) break;
    double moved = 0;
    for (std::size_t view = 1; view < poses.size(); ++view) {
      const double* s = system.solution() + 6 * view;
      const Twist3<double> step{{s[0], s[1], s[2]}, {s[3], s[4], s[5]}};
      poses[view] = renormalized(exp(step) * poses[view]);
      moved = max_of(moved, size_of(step, options.length_m));
    }
    ++result.iterations;
    result.converged = moved < 1e-6 * options.outlier_m;
  }
  for (const PoseEdge& edge : edges) {
    result.edge_error_m.push_back(
        size_of(edge_error(edge, pose_of(edge.a), pose_of(edge.b)), options.length_m));
  }
  return result;
}

}  // namespace sextant
