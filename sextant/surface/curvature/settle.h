// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/surface/curvature/math.h"

// The fit that goes on until it has settled, and what it knows about its own error.

namespace sextant::detail::curvature {

/// What the sensor errs by at a patch, along the normal.
template <class T>
struct PatchNoise {
  T pixel_m;   ///< deviation of a pixel
  T sample_m;  ///< deviation of samples that would err by themselves and mislead the fit as much
};

/// The sum of the samples' weights is at least this times their number.
inline constexpr float kLeastAgreement = 0.5f;
/// The fit takes so many steps at most; a fit that has not settled by then gives no curvature.
inline constexpr int kMostSteps = 8;
/// After so many steps it has left a bad start behind; from then on, samples that disagree do so
/// for good.
inline constexpr int kFirstDoubt = 4;
/// It has settled when a step changes k by less than this over the patch's radius and this share of
/// the deviation of k. Steps shrink to a half at least from one to the next.
inline constexpr float kSettledBend = 2.5e-4f;
inline constexpr float kSettledShare = 0.1f;
/// The scale of the weights is at least this many deviations of a pixel, and this share of the
/// patch's radius: a surface is no quadric to the last digit.
inline constexpr float kLeastDeviations = 3.0f;
inline constexpr float kLeastScale = 0.015f;

template <class T>
struct SettledQuadric {
  FittedQuadric<T> fitted;
  QuadricFit<T> fit;
  QuadricWeight<T> weight;  ///< of the last step
  T settled;                ///< 1, or 0
  T residual_sq;            ///< weighted mean square of what is left, in radii
  T bend_variance;          ///< of QuadricStep
  T lean_sq;                ///< squared distance of the samples' mean from the middle, in radii
};

template <class T>
SEXTANT_HD bool any_positive(const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return value > T(0);
  } else {
    return (value > T(0.0f)).any();
  }
}

template <class T, class Mask>
SEXTANT_HD void replace_where(const Mask& where, const QuadricFit<T>& next, QuadricFit<T>& fit) {
  using Math = LaneMath<T>;
  const auto vector = [&](const Vec3<T>& to, Vec3<T>& from) {
    from = {Math::select(where, to.x, from.x), Math::select(where, to.y, from.y),
            Math::select(where, to.z, from.z)};
  };
  vector(next.x_axis, fit.x_axis);
  vector(next.y_axis, fit.y_axis);
  vector(next.z_axis, fit.z_axis);
  fit.a = Math::select(where, next.a, fit.a);
  fit.b = Math::select(where, next.b, fit.b);
  fit.c = Math::select(where, next.c, fit.c);
  fit.lift = Math::select(where, next.lift, fit.lift);
}

/// As fit_quadric, with robust weights, until each of the patches has settled or is lost. `wanted`
/// is 1 for those that count, else 0. A patch that has settled keeps its fit, so that the others of
/// its pack do not matter.
template <class T, class Sum>
SEXTANT_HD SettledQuadric<T> settle_quadric(const QuadricRules& rules, const Vec3<T>& away,
                                            const T& radius_m, const PatchNoise<T>& noise,
                                            const T& wanted, const Sum& sum) {
  using Math = LaneMath<T>;
  const T zero(0.0f);
  const T one(1.0f);
  const T inverse_radius = one / radius_m;
  QuadricWeight<T> weight = first_weight(rules, radius_m);
  const T grain = noise.pixel_m * inverse_radius * T(kLeastDeviations);
  weight.least_scale_sq = grain * grain + T(kLeastScale * kLeastScale);
  const T share = noise.sample_m * inverse_radius * T(kSettledShare);

  QuadricFit<T> fit = QuadricFit<T>::begin(away, radius_m);
  QuadricSums<T> sums = sum(std::true_type{}, fit, weight);
  SettledQuadric<T> quadric{{{}, sums.count, zero, one}, {}, weight, zero, zero, zero, zero};
  const T agreement = sums.count * T(kLeastAgreement);
  T open = Math::select(sums.count >= T(6.0f), wanted, zero);
  for (int steps = 1;; ++steps) {
    const QuadricStep<T> step = solve_step(sums);
    const auto going = open > zero;
    QuadricFit<T> next = fit;
    apply_step(step, next);
    replace_where(going, next, fit);
    const T change =
        Math::larger(Math::larger(Math::magnitude(step.x[3]), Math::magnitude(step.x[4])),
                     Math::magnitude(step.x[5]));
    const QuadricWeight<T> later = next_weight(rules, radius_m, sums.count, sums, step, weight);
    const T most = T(kSettledBend) + share * Math::square_root(step.bend_variance);
    // The scale may not be on its way to smaller errors any more.
    const T narrowed = later.inverse_scale_sq - weight.inverse_scale_sq * T(2.0f);
    const T small = Math::select(change <= most, Math::select(narrowed <= zero, one, zero), zero);
    quadric.settled = Math::select(going, small, quadric.settled);
    quadric.residual_sq = Math::select(going, step.square / sums.normal[0], quadric.residual_sq);
    quadric.bend_variance = Math::select(going, step.bend_variance, quadric.bend_variance);
    // The second and third columns of J are -y and x, but for the bend.
    const T lean = (sums.normal[1] * sums.normal[1] + sums.normal[3] * sums.normal[3]) /
                   (sums.normal[0] * sums.normal[0]);
    quadric.lean_sq = Math::select(going, lean, quadric.lean_sq);
    quadric.fitted.weight = Math::select(going, sums.normal[0], quadric.fitted.weight);
    quadric.fitted.least_pivot =
        Math::select(going, Math::smaller(quadric.fitted.least_pivot, step.least_pivot),
                     quadric.fitted.least_pivot);
    open = Math::select(small > zero, zero, open);
    open = Math::select(step.least_pivot > T(kLeastQuadricPivot), open, zero);
    open = Math::select(change < T(100.0f), open, zero);  // NaN, too, is lost
    if (steps >= kFirstDoubt) open = Math::select(sums.normal[0] >= agreement, open, zero);
    if (steps >= kMostSteps || !any_positive(open)) break;
    weight = later;
    quadric.weight.inverse_scale_sq =
        Math::select(open > zero, weight.inverse_scale_sq, quadric.weight.inverse_scale_sq);
    sums = sum(std::false_type{}, fit, weight);
  }
  quadric.fit = fit;
  quadric.fitted.result = result_of(fit, radius_m);
  return quadric;
}

/// What is left, as waves across the patch: the Zernike polynomials of the third and fourth order,
/// each with the mean square 1 on the disc. Noise leaves little of them, since each is a mean over
/// the patch; a surface that is no quadric leaves most of what it deviates by.
template <class T>
struct QuadricWaves {
  T sum[7] = {};
  T weight{};

  SEXTANT_HD void add(const T& w, const T& e, const T& x, const T& y) {
    const T xx = x * x, yy = y * y;
    const T rr = xx + yy;
    const T we = w * e;
    const T coma = T(2.8284271f) * (T(3.0f) * rr - T(2.0f)) * we;
    const T fourth = T(3.1622777f) * (T(4.0f) * rr - T(3.0f)) * we;
    sum[0] = sum[0] + coma * x;
    sum[1] = sum[1] + coma * y;
    sum[2] = sum[2] + T(2.8284271f) * x * (xx - T(3.0f) * yy) * we;
    sum[3] = sum[3] + T(2.8284271f) * y * (T(3.0f) * xx - yy) * we;
    sum[4] = sum[4] + T(2.236068f) * (T(6.0f) * rr * (rr - T(1.0f)) + T(1.0f)) * we;
    sum[5] = sum[5] + fourth * (xx - yy);
    sum[6] = sum[6] + fourth * (x + x) * y;
    weight = weight + w;
  }

  /// Mean square of the waves.
  SEXTANT_HD T square() const {
    T all(0.0f);
    SEXTANT_UNROLL
    for (int i = 0; i < 7; ++i) all = all + sum[i] * sum[i];
    return all / (weight * weight);
  }
};

}  // namespace sextant::detail::curvature
