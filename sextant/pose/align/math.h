// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/image.h"
#include "sextant/core/workspace.h"
#include "sextant/geometry/camera.h"
#include "sextant/geometry/neighbour_walk.h"
#include "sextant/pose/point_to_plane.h"

namespace sextant::detail::alignment {

/// One pass over the source: the partner of each point, and its equation.
struct Pass {
  std::int64_t count = 0;  ///< of the source's points that are taken, one of each `stride`
  std::int64_t stride = 1;
  std::int64_t points = 0;  ///< of the source, all of them
  const Vec3f* source = nullptr;
  const Vec3f* source_normals = nullptr;  ///< null without
  NeighbourGridView grid;                 ///< of the target, for nearest partners
  const Vec3f* target = nullptr;
  const Vec3f* target_normals = nullptr;
  bool projected = false;
  Cameraf camera;  ///< of the target's rows, for projected partners
  Rigid3f target_from_source;
  Vec3f centre;
  float gate_sq = 0;
  float limit_sq = 0;  ///< of the robust weight
  float least_cosine = -1;
  std::int32_t* partners = nullptr;  ///< of the last pass, or -1
  /// How far each point can still move before it can have a partner: those that have none looked
  /// farther than the gate, so that most need not look again.
  float* alone_m = nullptr;
  float moved_m = 0;  ///< the most that a point has moved since the last pass

  /// The i-th point that is taken: anywhere in its stride, so that rows of an image make no
  /// pattern.
  SEXTANT_HD std::int64_t chosen(std::int64_t i) const {
    if (stride == 1) return i;
    const std::int64_t at =
        i * stride + static_cast<std::int64_t>(hash_of(static_cast<std::uint64_t>(i)) %
                                               static_cast<std::uint32_t>(stride));
    return at < points ? at : points - 1;
  }

  /// The nearest point of the target within the square of a distance, of equally near ones the
  /// first; -1 for none. The last partner is most often still near: it bounds the search, and
  /// changes no result.
  SEXTANT_HD std::int32_t nearest_partner(const Vec3f& x, std::int32_t last, float& bound) const {
    const GridFrame& frame = *grid.frame;
    std::int32_t best = -1;
    if (last >= 0) {
      const float distance_sq = squared_distance(target[last], x);
      if (distance_sq <= bound) {
        bound = distance_sq;
        best = last;
      }
    }
    const auto look = [&](std::uint32_t begin, std::uint32_t end) {
      for (std::uint32_t i = begin; i < end; ++i) {
        const GridPoint candidate = grid.points[i];
        const float distance_sq = squared_distance(candidate.position, x);
        if (distance_sq > bound) continue;
        if (distance_sq < bound || best < 0 || candidate.index < best) {
          bound = distance_sq;
          best = candidate.index;
        }
      }
    };
    const Vec3i cell = cell_of(frame, x);
    for (int reach = 1;; reach *= 2) {
      const CellBox needed = cells_within(frame, x, bound);
      const CellBox around = cells_around(frame, cell, reach);
      if (contains(around, needed)) {
        for_each_run(grid, needed, look);
        return best;
      }
      for_each_run(grid, around, look);
      if (best >= 0) {
        const CellBox rest = cells_within(frame, x, bound);
        if (!contains(around, rest)) for_each_run(grid, rest, look);
        return best;
      }
    }
  }

  /// The nearest of the pixels around the one that sees x.
  SEXTANT_HD std::int32_t projected_partner(const Vec3f& x) const {
    const Vec2f pixel = project(camera, x);
    if (!(pixel.x > -1.0f && pixel.y > -1.0f && pixel.x < static_cast<float>(camera.width) &&
          pixel.y < static_cast<float>(camera.height))) {
      return -1;
    }
    const int u = static_cast<int>(std::floor(pixel.x + 0.5f));
    const int v = static_cast<int>(std::floor(pixel.y + 0.5f));
    float bound = gate_sq;
    std::int32_t best = -1;
    for (int dv = -1; dv <= 1; ++dv) {
      for (int du = -1; du <= 1; ++du) {
        const int at_u = u + du, at_v = v + dv;
        if (at_u < 0 || at_v < 0 || at_u >= camera.width || at_v >= camera.height) continue;
        const std::int32_t index = at_v * camera.width + at_u;
        const float distance_sq = squared_distance(target[index], x);
        if (distance_sq < bound || (best < 0 && distance_sq <= bound)) {
          bound = distance_sq;
          best = index;
        }
      }
    }
    return best;
  }

  SEXTANT_HD void associate(std::int64_t i) const {
    const Vec3f x = target_from_source * source[chosen(i)];
    if (!is_finite(x)) {
      partners[i] = -1;
      return;
    }
    if (projected) {
      partners[i] = projected_partner(x);
      return;
    }
    alone_m[i] -= moved_m;
    if (alone_m[i] > 0.0f) return;
    constexpr float kFarther = 1.25f;
    float bound = gate_sq * (kFarther * kFarther);
    const std::int32_t nearest = nearest_partner(x, partners[i], bound);
    partners[i] = nearest >= 0 && bound <= gate_sq ? nearest : -1;
    // A thousandth less than what is certain, for rounding.
    alone_m[i] = nearest >= 0 ? 0.999f * std::sqrt(bound) - std::sqrt(gate_sq)
                              : (0.999f * kFarther - 1.0f) * std::sqrt(gate_sq);
  }

  /// Adds the equation of a point that has a partner which counts.
  template <class T>
  SEXTANT_HD void add_equation(std::int64_t i, PoseEquations<T>& equations) const {
    const std::int32_t partner = partners[i];
    if (partner < 0) return;
    const Vec3f n = target_normals[partner];
    if (!is_finite(n)) return;
    if (source_normals != nullptr) {
      // A source point without a normal has no say either.
      const Vec3f turned = target_from_source.rotation * source_normals[chosen(i)];
      if (!(dot(turned, n) >= least_cosine)) return;
    }
    const Vec3f x = target_from_source * source[chosen(i)];
    const float residual = point_to_plane_residual(x, target[partner], n);
    const float weight = tukey_weight(residual * residual / limit_sq);
    if (!(weight > 0.0f)) return;
    T row[6];
    point_to_plane_jacobian(cast<T>(x - centre), cast<T>(n), row);
    equations.add(row, static_cast<T>(residual), static_cast<T>(weight));
  }
};

struct AssociateOne {
  Pass pass;
  SEXTANT_HD void operator()(std::int64_t i) const { pass.associate(i); }
};

/// The equations as plain numbers, which shared memory can hold.
struct EquationSums {
  float number[30];

  friend SEXTANT_HD EquationSums operator+(const EquationSums& a, const EquationSums& b) {
    EquationSums sum;
    for (int i = 0; i < 30; ++i) sum.number[i] = a.number[i] + b.number[i];
    return sum;
  }
};

struct EquationOf {
  Pass pass;
  SEXTANT_HD EquationSums operator()(std::int64_t i) const {
    PoseEquations<float> equations;
    pass.add_equation(i, equations);
    EquationSums sums;
    for (int k = 0; k < 21; ++k) sums.number[k] = equations.hessian.packed[k];
    for (int k = 0; k < 6; ++k) sums.number[21 + k] = equations.gradient[k];
    sums.number[27] = equations.squares;
    sums.number[28] = equations.weight;
    sums.number[29] = equations.count;
    return sums;
  }
};

/// Runs a pass and downloads the sums.
PoseEquations<double> run_pass_cpu(const Context& context, const Pass& pass);
PoseEquations<double> run_pass_cuda(const Context& context, const Pass& pass, Workspace& workspace);

}  // namespace sextant::detail::alignment
