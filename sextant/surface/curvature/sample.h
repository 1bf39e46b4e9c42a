// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/simd/lane_math.h"
#include "sextant/surface/curvature.h"

// What a sample of a patch says about the quadric that fits it. T is a number, or a pack of numbers
// that are treated alike (see LaneMath).
//
// With the offset of a point from the middle of the patch turned into the frame of the quadric,
// v = (X, Y, Zr), Z = Zr + lift, p = (X, Y) and the curvature matrix M = 2 [[a, b], [b, c]],
//   e = q / g - Z,   q = pᵀ M p / 2,   g = (1 + √(1 - |M p|²)) / 2.
// With g = 1 that is the paper's paraboloid. With g as above e = 0 is exactly a sphere or a
// cylinder where M is that of one: q / g with q = r² / 2R and |M p|² = r² / R² is R - √(R² - r²).
// All lengths inside the fit are in units of the patch's radius.

namespace sextant::detail::curvature {

template <class T>
struct QuadricFit {
  /// Rows of the rotation into the quadric's frame, divided by the patch's radius; z leads away
  /// from the sensor.
  Vec3<T> x_axis, y_axis, z_axis;
  T a{}, b{}, c{};  ///< M / 2 times the radius
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
  T least_scale_sq{};    ///< kRobust: s² is not less
};

/// Σ w J Jᵀ (lower triangle), Σ w J e and what goes with them. The columns of J belong to the
/// unknowns -lift, θx, θy, a, b, c.
template <class T>
struct QuadricSums {
  T normal[21] = {};
  T right[6] = {};
  T square{};      ///< Σ w e²
  T count{};       ///< samples, in the first iteration only
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

template <bool kOurs, class T>
SEXTANT_HD T sample_weight(const QuadricRules& rules, const QuadricWeight<T>& weight, const T& e_sq,
                           const T& distance_sq) {
  const T one(1.0f);
  if constexpr (kOurs) {
    const T u = LaneMath<T>::quick_inverse(one + weight.inverse_scale_sq * e_sq);
    return u * u;
  } else {
    const T u = LaneMath<T>::quick_inverse(one + weight.inverse_scale_sq * e_sq +
                                           weight.distance_share * distance_sq);
    const T w = rules.weights == CurvatureWeights::kRobust ? u * u : u;
    return LaneMath<T>::select(e_sq < weight.reject_sq, w, T(0.0f));
  }
}

/// A sample's line of the least-squares problem. The first column of J is 1.
template <class T>
struct QuadricSample {
  T weight{};
  T e{};
  T j[6] = {};
};

/// The line of a sample at `offset_m` from the middle of the patch; about 65 flop, two divisions
/// and a square root. `inside` says whether it counts; the offset must be finite all the same.
/// kOurs: robust weights and no bias, without the terms of the other modes. kFirst: the quadric is
/// still a plane, and the samples are counted.
template <bool kOurs, bool kFirst, class T, class Inside>
SEXTANT_HD QuadricSample<T> make_sample(const QuadricFit<T>& fit, const QuadricRules& rules,
                                        const QuadricWeight<T>& weight, const Vec3<T>& offset_m,
                                        const T& distance_sq, const Inside& inside,
                                        QuadricSums<T>& sums) {
  using Math = LaneMath<T>;
  const T zero(0.0f);
  const T one(1.0f);
  const T x = dot(fit.x_axis, offset_m);
  const T y = dot(fit.y_axis, offset_m);
  const T z_turned = dot(fit.z_axis, offset_m);
  const T z = z_turned + fit.lift;
  QuadricSample<T> sample;
  T& e = sample.e;
  T(&j)[6] = sample.j;
  if constexpr (kFirst) {
    e = -z;
    j[1] = -y;
    j[2] = x;
    j[3] = x * x;
    j[4] = (x + x) * y;
    j[5] = y * y;
  } else {
    const T mx = fit.a * x + fit.b * y;
    const T my = fit.b * x + fit.c * y;
    const T q = x * mx + y * my;
    T height = q;  // of the quadric over the tangent plane: q / g
    T inverse_g = one;
    T lean = z_turned + z_turned;  // times (mx, my): what a tilt does to the height
    T bend(0.0f);                  // how 1 / g grows with M
    if (kOurs || rules.remove_bias) {
      // Beyond the equator of a sphere there is no surface; the limit keeps the slope finite there.
      const T least(0.04f);
      const T free = one - T(4.0f) * (mx * mx + my * my);
      const T rest = Math::select(free > least, free, least);
      const T steepness = LaneMath<T>::rough_inverse_square_root(rest);
      inverse_g = LaneMath<T>::quick_inverse(T(0.5f) + T(0.5f) * (rest * steepness));
      height = q * inverse_g;
      lean = lean * steepness;
      bend = (height + height) * steepness;
    }
    e = height - z;
    const T px = inverse_g * (x + bend * mx);
    const T py = inverse_g * (y + bend * my);
    j[1] = -(my * lean) - y;
    j[2] = mx * lean + x;
    j[3] = x * px;
    j[4] = x * py + y * px;
    j[5] = y * py;
  }
  const T e_sq = e * e;
  sample.weight =
      Math::select(inside, sample_weight<kOurs>(rules, weight, e_sq, distance_sq), zero);
  if constexpr (kFirst) sums.count = sums.count + Math::select(inside, one, zero);
  if constexpr (!kOurs) sums.all_square = sums.all_square + Math::select(inside, e_sq, zero);
  return sample;
}

/// 53 flop.
template <class T>
SEXTANT_HD void add_sample(const QuadricSample<T>& sample, QuadricSums<T>& sums) {
  SEXTANT_UNROLL
  for (int row = 0; row < 6; ++row) {
    const T scaled = row == 0 ? sample.weight : sample.weight * sample.j[row];
    sums.normal[row * (row + 1) / 2] = sums.normal[row * (row + 1) / 2] + scaled;
    SEXTANT_UNROLL
    for (int column = 1; column <= row; ++column) {
      T& sum = sums.normal[row * (row + 1) / 2 + column];
      sum = sum + scaled * sample.j[column];
    }
    sums.right[row] = sums.right[row] + scaled * sample.e;
  }
  sums.square = sums.square + sample.weight * (sample.e * sample.e);
}

/// Makes a sample's line and adds it.
template <bool kOurs, bool kFirst, class T, class Inside>
SEXTANT_HD void add_sample(const QuadricFit<T>& fit, const QuadricRules& rules,
                           const QuadricWeight<T>& weight, const Vec3<T>& offset_m,
                           const T& distance_sq, const Inside& inside, QuadricSums<T>& sums) {
  add_sample(make_sample<kOurs, kFirst>(fit, rules, weight, offset_m, distance_sq, inside, sums),
             sums);
}

}  // namespace sextant::detail::curvature
