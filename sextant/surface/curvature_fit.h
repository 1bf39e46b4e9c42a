// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "sextant/surface/curvature_patch.h"

// The fit to the patch of one pixel, or of a pack of pixels. Host and device.

namespace sextant::detail {

/// The outcome for a pixel; what is not `good` (1, otherwise 0) is meaningless.
template <class T>
struct PatchResult {
  QuadricResult<T> quadric;
  T good;
};

template <bool kOurs, class T, class Load>
SEXTANT_HD void sum_samples(const PatchGrid& grid, const PatchMiddle<T>& middle,
                            const QuadricFit<T>& fit, const QuadricRules& rules,
                            const QuadricWeight<T>& weight, const Load& load,
                            QuadricSums<T>& sums) {
  for (int i = -grid.radius; i <= grid.radius; ++i) {
    const int width = grid.half_width(i);
    const int dv = grid.offset(i);
    for (int j = -width; j <= width; ++j) {
      const Vec3<T> offset = load(grid.offset(j), dv) - middle.point;
      const T distance_sq = norm_sq(offset);
      if constexpr (std::is_arithmetic_v<T>) {
        if (offset.z >= middle.nearest_m && offset.z <= middle.farthest_m &&
            distance_sq <= middle.ball_sq) {
          add_sample<kOurs>(fit, rules, weight, offset, distance_sq, true, sums);
        }
      } else {
        const auto inside = (offset.z >= middle.nearest_m) & (offset.z <= middle.farthest_m) &
                            (distance_sq <= middle.ball_sq);
        add_sample<kOurs>(fit, rules, weight, offset, distance_sq, inside, sums);
      }
    }
  }
}

/// `load(du, dv)` is the sample that many pixels from the middle, zero where there is none.
/// `normal` is where to start, towards the sensor; NaN starts from the line of sight.
template <bool kOurs, class T, class Load>
SEXTANT_HD PatchResult<T> fit_patch(const CurvatureOptions& options, const PatchGrid& grid,
                                    const PatchMiddle<T>& middle, const Vec3<T>& normal,
                                    const Load& load) {
  using Math = LaneMath<T>;
  const T zero(0.0f);
  const T one(1.0f);
  const auto unit = [](const Vec3<T>& v) { return v * Math::inverse_square_root(dot(v, v)); };
  // Away from the sensor, whatever the sign of the normal that was given.
  const Vec3<T> sight = unit(middle.point);
  const T towards = dot(normal, sight);
  const auto given = dot(normal, normal) > T(0.5f);
  const auto flip = towards < zero;
  const auto start = [&](const T& n, const T& s) {
    return Math::select(given, Math::select(flip, -n, n), s);
  };
  const Vec3<T> away =
      unit({start(normal.x, sight.x), start(normal.y, sight.y), start(normal.z, sight.z)});

  const QuadricRules rules(options);
  QuadricFit<T> fit = QuadricFit<T>::begin(away, middle.radius_m);
  QuadricWeight<T> weight = first_weight(rules, middle.radius_m);
  T least_pivot = one;
  T count = zero;
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    QuadricSums<T> sums;
    sum_samples<kOurs>(grid, middle, fit, rules, weight, load, sums);
    const QuadricStep<T> step = solve_step(sums);
    apply_step(step, fit);
    weight = next_weight(rules, middle.radius_m, sums, step, weight);
    least_pivot = Math::select(step.least_pivot < least_pivot, step.least_pivot, least_pivot);
    count = sums.count;
  }

  PatchResult<T> result;
  result.quadric = result_of(fit, middle.radius_m);
  const T share(options.least_share * static_cast<float>(grid.samples()));
  const T least(static_cast<float>(options.least_samples));
  const QuadricResult<T>& q = result.quadric;
  // x - x is zero for finite numbers; NaN fails every comparison.
  const T finite = (q.k1_per_m - q.k1_per_m) + (q.k2_per_m - q.k2_per_m) +
                   (q.offset_m.z - q.offset_m.z) + (q.normal.z - q.normal.z);
  T good = Math::select(finite >= zero, one, zero);
  good = Math::select(count >= least, good, zero);
  good = Math::select(count >= share, good, zero);
  good = Math::select(least_pivot > T(kLeastQuadricPivot), good, zero);
  good = Math::select(dot(q.normal, sight) < zero, good, zero);
  result.good = Math::select(middle.radius_m > zero, good, zero);
  if (options.clamp_per_m > 0.0f) {
    const T most(options.clamp_per_m);
    const auto clamped = [&](const T& k) {
      const T low = Math::select(k < -most, -most, k);
      return Math::select(low > most, most, low);
    };
    result.quadric.k1_per_m = clamped(q.k1_per_m);
    result.quadric.k2_per_m = clamped(q.k2_per_m);
  }
  return result;
}

/// Writes the outcome of a pixel whose patch has its middle at `middle`.
SEXTANT_HD inline void write_pixel(const CurvatureViews& out, int u, int v, const Vec3f& middle,
                                   const PatchResult<float>& result) {
  const bool good = result.good > 0.0f;
  const Vec3f nothing{NAN, NAN, NAN};
  const QuadricResult<float>& q = result.quadric;
  if (!out.k1_per_m.empty()) out.k1_per_m(u, v) = good ? q.k1_per_m : NAN;
  if (!out.k2_per_m.empty()) out.k2_per_m(u, v) = good ? q.k2_per_m : NAN;
  if (!out.direction1.empty()) out.direction1(u, v) = good ? q.direction1 : nothing;
  if (!out.normals.empty()) out.normals(u, v) = good ? q.normal : nothing;
  if (!out.points.empty()) out.points(u, v) = good ? middle + q.offset_m : nothing;
  if (!out.valid.empty()) out.valid(u, v) = good ? 1 : 0;
}

}  // namespace sextant::detail
