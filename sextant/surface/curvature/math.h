// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "sextant/surface/curvature/sample.h"

// The quadric that fits the samples of one patch best, by Gauss-Newton steps: see fit_quadric, at
// the end. Organised and unorganised curvature share it, on either device.

namespace sextant::detail::curvature {

/// The solution of the normal equations.
template <class T>
struct QuadricStep {
  T x[6];
  T least_pivot;  ///< of the matrix scaled to a unit diagonal; near zero when undetermined
  T square;       ///< Σ w e² that the linear model expects after the step
  /// Variance of k / 2 in its worst direction, when each sample has the variance 1.
  T bend_variance;
};

/// The block of the inverse that belongs to a, b and c, the last unknowns, from the end of the
/// factors L D Lᵀ: the largest variance of k / 2 in the directions of the axes and between them.
template <class T>
SEXTANT_HD T bend_variance_of(const T (&l)[21], const T (&inverse_pivot)[6], const T (&scale)[6]) {
  using Math = LaneMath<T>;
  const T& l43 = l[13];
  const T& l53 = l[18];
  const T& l54 = l[19];
  const T& d4 = inverse_pivot[4];
  const T& d5 = inverse_pivot[5];
  const T m = l43 * l54 - l53;
  const T aa = (inverse_pivot[3] + l43 * l43 * d4 + m * m * d5) * (scale[3] * scale[3]);
  const T bb = (d4 + l54 * l54 * d5) * (scale[4] * scale[4]);
  const T cc = d5 * (scale[5] * scale[5]);
  const T ab = -(l43 * d4 + m * l54 * d5) * (scale[3] * scale[4]);
  const T bc = -(l54 * d5) * (scale[4] * scale[5]);
  const T ac = m * d5 * (scale[3] * scale[5]);
  const T between = T(0.25f) * (aa + cc) + T(0.5f) * ac + bb + Math::magnitude(ab + bc);
  return Math::larger(Math::larger(aa, cc), between);
}

template <class T>
SEXTANT_HD QuadricStep<T> solve_step(const QuadricSums<T>& sums) {
  using Math = LaneMath<T>;
  constexpr float kDamping = 1e-6f;
  const T tiny(1e-30f);
  QuadricStep<T> step;
  T scale[6];
  T l[21];
  T inverse_pivot[6];
  SEXTANT_UNROLL
  for (int i = 0; i < 6; ++i) {
    const T diagonal = sums.normal[i * (i + 1) / 2 + i];
    scale[i] = Math::inverse_square_root(Math::select(diagonal > tiny, diagonal, T(1.0f)));
  }
  step.least_pivot = T(1.0f);
  SEXTANT_UNROLL
  for (int i = 0; i < 6; ++i) {
    T rows[6];  // l times its pivot, of the columns so far
    SEXTANT_UNROLL
    for (int j = 0; j <= i; ++j) {
      T sum = sums.normal[i * (i + 1) / 2 + j] * (scale[i] * scale[j]);
      if (i == j) sum = sum * T(1.0f + kDamping);
      SEXTANT_UNROLL
      for (int k = 0; k < j; ++k) sum = sum - rows[k] * l[j * (j + 1) / 2 + k];
      rows[j] = sum;
      if (j < i) l[i * (i + 1) / 2 + j] = sum * inverse_pivot[j];
    }
    const T pivot = rows[i];
    step.least_pivot = Math::select(pivot < step.least_pivot, pivot, step.least_pivot);
    inverse_pivot[i] = T(1.0f) / Math::select(pivot > T(1e-7f), pivot, T(1e-7f));
  }
  T y[6];
  SEXTANT_UNROLL
  for (int i = 0; i < 6; ++i) {
    y[i] = -(sums.right[i] * scale[i]);
    SEXTANT_UNROLL
    for (int k = 0; k < i; ++k) y[i] = y[i] - l[i * (i + 1) / 2 + k] * y[k];
  }
  SEXTANT_UNROLL
  for (int i = 5; i >= 0; --i) {
    y[i] = y[i] * inverse_pivot[i];
    SEXTANT_UNROLL
    for (int k = i + 1; k < 6; ++k) y[i] = y[i] - l[k * (k + 1) / 2 + i] * y[k];
  }
  step.square = sums.square;
  SEXTANT_UNROLL
  for (int i = 0; i < 6; ++i) {
    step.x[i] = y[i] * scale[i];
    step.square = step.square + sums.right[i] * step.x[i];
  }
  step.bend_variance = bend_variance_of(l, inverse_pivot, scale);
  return step;
}

/// Takes the step. The tilt is the tangent of the angle that the frame turns by: then a plane is
/// met in one step, however oblique it is.
template <class T>
SEXTANT_HD void apply_step(const QuadricStep<T>& step, QuadricFit<T>& fit) {
  const T one(1.0f);
  const T tx = step.x[1];
  const T ty = step.x[2];
  // exp([θ]×) = cos I + sin [u]× + (1 - cos) u uᵀ with tan θ u = (tx, ty, 0).
  const T cosine = LaneMath<T>::inverse_square_root(one + (tx * tx + ty * ty));
  const T k = cosine * cosine / (one + cosine);
  const T sx = cosine * tx;
  const T sy = cosine * ty;
  const Vec3<T> x = fit.x_axis;
  const Vec3<T> y = fit.y_axis;
  const Vec3<T> z = fit.z_axis;
  const T xy = k * tx * ty;
  fit.x_axis = x * (cosine + k * tx * tx) + y * xy + z * sy;
  fit.y_axis = x * xy + y * (cosine + k * ty * ty) - z * sx;
  fit.z_axis = y * sx - x * sy + z * cosine;
  fit.lift = fit.lift - step.x[0];
  fit.a = fit.a + step.x[3];
  fit.b = fit.b + step.x[4];
  fit.c = fit.c + step.x[5];
}

/// A sample off by this many standard deviations has a quarter of the weight, once the scale has
/// settled on the patch's noise.
inline constexpr float kRobustDeviations = 4.0f;
/// The scale to begin with, in radii of the patch: the start is a plane, and the rim of the patch
/// lies off it by R/2 of curvature without being wrong.
inline constexpr float kFirstScale = 0.25f;
/// From one step to the next the scale shrinks to this at most: the linear model promises too much.
inline constexpr float kScaleShrink = 0.3f;

/// The weights of the first step.
template <class T>
SEXTANT_HD QuadricWeight<T> first_weight(const QuadricRules& rules, const T& radius_m) {
  const T scale = T(rules.weight_scale_m) / radius_m;
  QuadricWeight<T> weight{T(1.0f) / (scale * scale), T(0.0f), T(INFINITY), scale * scale};
  switch (rules.weights) {
    case CurvatureWeights::kRobust:
      weight.inverse_scale_sq = T(1.0f / (kFirstScale * kFirstScale));
      break;
    case CurvatureWeights::kCode:
      weight.distance_share = T(1.0f / 16e-6f);
      weight.inverse_scale_sq = weight.distance_share * (radius_m * radius_m);
      weight.reject_sq = T(200e-6f) / (radius_m * radius_m);
      break;
    case CurvatureWeights::kNone:
      weight.inverse_scale_sq = T(0.0f);
      break;
    default:
      break;
  }
  if (rules.first_unweighted) return {T(0.0f), T(0.0f), T(INFINITY), scale * scale};
  return weight;
}

/// The weights of the step after one with these sums.
template <class T>
SEXTANT_HD QuadricWeight<T> next_weight(const QuadricRules& rules, const T& radius_m,
                                        const T& count, const QuadricSums<T>& sums,
                                        const QuadricStep<T>& step, const QuadricWeight<T>& last) {
  using Math = LaneMath<T>;
  const T one(1.0f);
  const T zero(0.0f);
  QuadricRules later = rules;
  later.first_unweighted = false;
  QuadricWeight<T> weight = first_weight(later, radius_m);
  if (rules.weights == CurvatureWeights::kRobust) {
    const T expected = Math::select(step.square > zero, step.square, zero);
    const T spare = sums.normal[0] - T(6.0f);
    const T variance = expected / Math::select(spare > one, spare, one);
    weight.least_scale_sq = last.least_scale_sq;
    T scale_sq = variance * T(kRobustDeviations * kRobustDeviations);
    scale_sq = Math::select(scale_sq > last.least_scale_sq, scale_sq, last.least_scale_sq);
    T most = last.inverse_scale_sq * T(1.0f / (kScaleShrink * kScaleShrink));
    most = Math::select(most > zero, most, T(1.0f / (kFirstScale * kFirstScale)));
    weight.inverse_scale_sq = one / scale_sq;
    weight.inverse_scale_sq =
        Math::select(weight.inverse_scale_sq < most, weight.inverse_scale_sq, most);
  } else if (rules.weights == CurvatureWeights::kPaperRejecting) {
    weight.reject_sq = (sums.all_square + sums.all_square) / Math::select(count > one, count, one);
  }
  return weight;
}

/// A pivot below this leaves an unknown undetermined: all samples on a line, say.
inline constexpr float kLeastQuadricPivot = 2e-5f;

/// The principal curvatures and what goes with them.
template <class T>
struct QuadricResult {
  T k1_per_m, k2_per_m;
  Vec3<T> direction1;
  Vec3<T> normal;    ///< towards the sensor
  Vec3<T> offset_m;  ///< from the middle of the patch to the quadric
};

template <class T>
SEXTANT_HD QuadricResult<T> result_of(const QuadricFit<T>& fit, const T& radius_m) {
  using Math = LaneMath<T>;
  const T zero(0.0f);
  const T tiny(1e-30f);
  const T mean = fit.a + fit.c;
  const T difference = fit.a - fit.c;
  const T twist = fit.b + fit.b;
  const T spread_sq = difference * difference + twist * twist;
  const auto some = spread_sq > tiny;
  const T spread =
      Math::select(some, Math::square_root(Math::select(some, spread_sq, T(1.0f))), zero);
  // The eigenvector of the larger eigenvalue, from the column that does not cancel.
  const auto along_x = difference >= zero;
  T dx = Math::select(along_x, spread + difference, twist);
  const T dy = Math::select(along_x, twist, spread - difference);
  dx = Math::select(some, dx, T(1.0f));
  const auto unit = [](const Vec3<T>& v) { return v * Math::inverse_square_root(dot(v, v)); };
  QuadricResult<T> result;
  const T inverse_radius = T(1.0f) / radius_m;
  result.k1_per_m = (mean + spread) * inverse_radius;
  result.k2_per_m = (mean - spread) * inverse_radius;
  const Vec3<T> along{fit.x_axis.x * dx + fit.y_axis.x * dy, fit.x_axis.y * dx + fit.y_axis.y * dy,
                      fit.x_axis.z * dx + fit.y_axis.z * dy};
  const Vec3<T> away = unit(fit.z_axis);
  result.direction1 = unit(along * radius_m);
  result.normal = -away;
  result.offset_m = -(away * (fit.lift * radius_m));
  return result;
}

/// The outcome of a fit.
template <class T>
struct FittedQuadric {
  QuadricResult<T> result;
  T count;        ///< samples
  T weight;       ///< sum of their last weights
  T least_pivot;  ///< of all steps
};

/// The fit from the plane with the unit normal `away`, beginning with these weights.
/// `sum(first, fit, weight)` makes and adds every sample. `first` is std::true_type in the first
/// step, when the quadric is a plane and the samples are counted, and std::false_type after it.
template <class T, class Sum>
SEXTANT_HD FittedQuadric<T> fit_quadric(const QuadricRules& rules, int iterations,
                                        const Vec3<T>& away, const T& radius_m,
                                        QuadricWeight<T> weight, const Sum& sum) {
  QuadricFit<T> fit = QuadricFit<T>::begin(away, radius_m);
  QuadricSums<T> sums = sum(std::true_type{}, fit, weight);
  FittedQuadric<T> quadric;
  quadric.count = sums.count;
  quadric.least_pivot = T(1.0f);
  for (int iteration = 1;; ++iteration) {
    const QuadricStep<T> step = solve_step(sums);
    apply_step(step, fit);
    quadric.least_pivot = LaneMath<T>::select(step.least_pivot < quadric.least_pivot,
                                              step.least_pivot, quadric.least_pivot);
    if (iteration >= iterations) break;
    weight = next_weight(rules, radius_m, quadric.count, sums, step, weight);
    sums = sum(std::false_type{}, fit, weight);
  }
  quadric.weight = sums.normal[0];
  quadric.result = result_of(fit, radius_m);
  return quadric;
}

}  // namespace sextant::detail::curvature
