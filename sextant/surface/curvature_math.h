// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/lane_math.h"
#include "sextant/surface/curvature.h"

// The quadric that fits the points of one patch best, by Gauss-Newton steps. Organised and
// unorganised curvature share it, on either device. T is a number, or a pack of numbers that are
// treated alike (see LaneMath).
//
// With the offset of a point from the middle of the patch turned into the frame of the quadric,
// v = (X, Y, Zr), Z = Zr + lift, p = (X, Y) and the curvature matrix M = [[a, b], [b, c]],
//   e = q / g - Z,   q = pᵀ M p / 2,   g = (1 + √(1 - |M p|²)) / 2.
// With g = 1 that is the paper's paraboloid. With g as above e = 0 is exactly a sphere or a
// cylinder where M is that of one: q / g with q = r² / 2R and |M p|² = r² / R² is R - √(R² - r²).
// All lengths inside the fit are in units of the patch's radius.

namespace sextant::detail {

/// Inverses for the inner loop: on CUDA wrong by a few units in the last place.
template <class T>
struct QuickMath {
  static SEXTANT_HD T inverse(const T& value) { return T(1) / value; }
  static SEXTANT_HD T inverse_square_root(const T& value) {
    return LaneMath<T>::inverse_square_root(value);
  }
};
#if defined(__CUDA_ARCH__)
template <>
struct QuickMath<float> {
  static __device__ float inverse(float value) {
    float result;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
    return result;
  }
  static __device__ float inverse_square_root(float value) {
    float result;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
    return result;
  }
};
#endif

template <class T>
struct QuadricFit {
  /// Rows of the rotation into the quadric's frame, divided by the patch's radius; z leads away
  /// from the sensor.
  Vec3<T> x_axis, y_axis, z_axis;
  T a{}, b{}, c{};  ///< M times the radius
  T lift{};         ///< of the middle of the patch over the quadric, in radii

  /// A plane through the middle of the patch. `away` is its unit normal, away from the sensor.
  static SEXTANT_HD QuadricFit begin(const Vec3<T>& away, const T& radius_m) {
    using Math = LaneMath<T>;
    const T one(1.0f);
    // The x axis of the camera as far as it lies in the plane; its y axis when that is nearly none.
    const auto steep = away.x * away.x > T(0.9f);
    const Vec3<T> guide{Math::select(steep, T(0.0f), one), Math::select(steep, one, T(0.0f)),
                        T(0.0f)};
    const Vec3<T> flat = guide - away * dot(away, guide);
    const Vec3<T> x = flat * Math::inverse_square_root(dot(flat, flat));
    const T scale = one / radius_m;
    return {x * scale, cross(away, x) * scale, away * scale};
  }
};

/// How a sample's distance from the quadric and from the middle of the patch make its weight.
template <class T>
struct QuadricWeight {
  T inverse_scale_sq{};  ///< 1/s² of kRobust, 1/k of the others, 0 for least squares
  T distance_share{};    ///< kCode: 1/k for distances in metres
  T reject_sq{};         ///< no weight from this e² on
};

/// Σ w J Jᵀ (lower triangle), Σ w J e and what goes with them. The columns of J belong to the
/// unknowns -lift, θx, θy, a/2, b, c/2.
template <class T>
struct QuadricSums {
  T normal[21] = {};
  T right[6] = {};
  T square{};      ///< Σ w e²
  T count{};       ///< samples
  T all_square{};  ///< Σ e², unless kOurs
};

/// What is the same for every sample and every patch.
struct QuadricRules {
  CurvatureWeights weights = CurvatureWeights::kRobust;
  bool remove_bias = true;
  bool first_unweighted = false;
  float weight_scale_m = 0.001f;

  explicit SEXTANT_HD QuadricRules(const CurvatureOptions& options)
      : weights(options.weights),
        remove_bias(options.remove_bias),
        first_unweighted(options.first_unweighted),
        weight_scale_m(options.weight_scale_m) {}

  /// The fast path below.
  SEXTANT_HD bool ours() const { return weights == CurvatureWeights::kRobust && remove_bias; }
};

/// Adds a sample at `offset_m` from the middle; about 125 flop, a division and a square root.
/// `inside` says whether it counts; the offset must be finite all the same. kOurs: robust weights
/// and no bias, without the terms of the other modes.
template <bool kOurs, class T, class Inside>
SEXTANT_HD void add_sample(const QuadricFit<T>& fit, const QuadricRules& rules,
                           const QuadricWeight<T>& weight, const Vec3<T>& offset_m,
                           const T& distance_sq, const Inside& inside, QuadricSums<T>& sums) {
  using Math = LaneMath<T>;
  const T zero(0.0f);
  const T one(1.0f);
  const T half(0.5f);
  const T x = dot(fit.x_axis, offset_m);
  const T y = dot(fit.y_axis, offset_m);
  const T z_turned = dot(fit.z_axis, offset_m);
  const T mx = fit.a * x + fit.b * y;
  const T my = fit.b * x + fit.c * y;
  const T z = z_turned + fit.lift;
  const T q = half * (x * mx + y * my);
  T inverse_g = one;  // the quadric's height over the tangent plane is q / g,
  T steepness = one;  // its slope (mx, my) times this,
  T bend(0.0f);       // and 1 / g grows with M by this
  if (kOurs || rules.remove_bias) {
    // Beyond the equator of a sphere there is no surface; the limit keeps the slope finite there.
    const T least(0.04f);
    const T free = one - (mx * mx + my * my);
    const T rest = Math::select(free > least, free, least);
    steepness = QuickMath<T>::inverse_square_root(rest);
    inverse_g = QuickMath<T>::inverse(half + half * (rest * steepness));
    bend = q * inverse_g * steepness;
  }
  const T e = q * inverse_g - z;
  const T e_sq = e * e;
  T w;
  if constexpr (kOurs) {
    const T u = QuickMath<T>::inverse(one + weight.inverse_scale_sq * e_sq);
    w = u * u;
  } else {
    const T u = QuickMath<T>::inverse(one + weight.inverse_scale_sq * e_sq +
                                      weight.distance_share * distance_sq);
    w = rules.weights == CurvatureWeights::kRobust ? u * u : u;
    w = Math::select(e_sq < weight.reject_sq, w, zero);
    sums.all_square = sums.all_square + Math::select(inside, e_sq, zero);
  }
  w = Math::select(inside, w, zero);
  sums.count = sums.count + Math::select(inside, one, zero);
  const T lean = steepness * z_turned;
  const T px = inverse_g * (x + bend * mx);
  const T py = inverse_g * (y + bend * my);
  const T j[6] = {one, -(my * lean) - y, mx * lean + x, x * px, half * (x * py + y * px), y * py};
  SEXTANT_UNROLL
  for (int row = 0; row < 6; ++row) {
    const T scaled = row == 0 ? w : w * j[row];
    sums.normal[row * (row + 1) / 2] = sums.normal[row * (row + 1) / 2] + scaled;
    SEXTANT_UNROLL
    for (int column = 1; column <= row; ++column) {
      T& sum = sums.normal[row * (row + 1) / 2 + column];
      sum = sum + scaled * j[column];
    }
    sums.right[row] = sums.right[row] + scaled * e;
  }
  sums.square = sums.square + w * e_sq;
}

/// The solution of the normal equations.
template <class T>
struct QuadricStep {
  T x[6];
  T least_pivot;  ///< of the matrix scaled to a unit diagonal; near zero when undetermined
  T square;       ///< Σ w e² that the linear model expects after the step
};

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
  fit.a = fit.a + (step.x[3] + step.x[3]);
  fit.b = fit.b + step.x[4];
  fit.c = fit.c + (step.x[5] + step.x[5]);
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
  QuadricWeight<T> weight{T(1.0f) / (scale * scale), T(0.0f), T(INFINITY)};
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
  if (rules.first_unweighted) return {T(0.0f), T(0.0f), T(INFINITY)};
  return weight;
}

/// The weights of the step after one with these sums.
template <class T>
SEXTANT_HD QuadricWeight<T> next_weight(const QuadricRules& rules, const T& radius_m,
                                        const QuadricSums<T>& sums, const QuadricStep<T>& step,
                                        const QuadricWeight<T>& last) {
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
    const T floor = T(rules.weight_scale_m) / radius_m;
    T scale_sq = variance * T(kRobustDeviations * kRobustDeviations);
    scale_sq = Math::select(scale_sq > floor * floor, scale_sq, floor * floor);
    T most = last.inverse_scale_sq * T(1.0f / (kScaleShrink * kScaleShrink));
    most = Math::select(most > zero, most, T(1.0f / (kFirstScale * kFirstScale)));
    weight.inverse_scale_sq = one / scale_sq;
    weight.inverse_scale_sq =
        Math::select(weight.inverse_scale_sq < most, weight.inverse_scale_sq, most);
  } else if (rules.weights == CurvatureWeights::kPaperRejecting) {
    const T count = Math::select(sums.count > one, sums.count, one);
    weight.reject_sq = (sums.all_square + sums.all_square) / count;
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
  const T half(0.5f);
  const T tiny(1e-30f);
  const T mean = half * (fit.a + fit.c);
  const T difference = half * (fit.a - fit.c);
  const T spread_sq = difference * difference + fit.b * fit.b;
  const auto some = spread_sq > tiny;
  const T spread =
      Math::select(some, Math::square_root(Math::select(some, spread_sq, T(1.0f))), zero);
  // The eigenvector of the larger eigenvalue, from the column that does not cancel.
  const auto along_x = difference >= zero;
  T dx = Math::select(along_x, spread + difference, fit.b);
  const T dy = Math::select(along_x, fit.b, spread - difference);
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

}  // namespace sextant::detail
