// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "sextant/surface/curvature/patch.h"

// The fit to the patch of one pixel, or of a pack of pixels. Host and device.

namespace sextant::detail::curvature {

/// The outcome for a pixel; what is not `good` (1, otherwise 0) is meaningless.
template <class T>
struct PatchResult {
  QuadricResult<T> quadric;
  T good;
};

/// Which fit is compiled: kOurs as in add_sample; kMetric for a radius in metres.
template <bool kOursChosen, bool kMetricChosen>
struct FitMode {
  static constexpr bool kOurs = kOursChosen;
  static constexpr bool kMetric = kMetricChosen;
};

template <class Mode, bool kFirst, class T, class Load>
SEXTANT_HD QuadricSums<T> sum_samples(const PatchGrid& grid, const PatchMiddle<T>& middle,
                                      const QuadricFit<T>& fit, const QuadricRules& rules,
                                      const QuadricWeight<T>& weight, const Load& load) {
  const auto shift = [&](int i) { return Mode::kMetric ? grid.offset(i) : i * grid.stride_px; };
  QuadricSums<T> sums;
  const auto sample_at = [&](int du, int dv) {
    const Vec3<T> offset = load(du, dv) - middle.point;
    const T depth_sq = offset.z * offset.z;
    const T distance_sq = offset.x * offset.x + offset.y * offset.y + depth_sq;
    // There is no branch, because most samples of most patches count.
    const auto near = depth_sq <= middle.gate_sq;
    if constexpr (Mode::kMetric) {
      const auto inside = near & (distance_sq <= middle.ball_sq);
      return make_sample<Mode::kOurs, kFirst>(fit, rules, weight, offset, distance_sq, inside,
                                              sums);
    } else {
      return make_sample<Mode::kOurs, kFirst>(fit, rules, weight, offset, distance_sq, near, sums);
    }
  };
  // A processor that treats packs runs ahead of a long chain of operations only as far as its
  // window reaches. There each sample is added while the next one is made.
  constexpr bool kBehind = !std::is_arithmetic_v<T>;
  QuadricSample<T> last;
  for (int i = -grid.radius; i <= grid.radius; ++i) {
    const int width = grid.half_width(i);
    const int dv = shift(i);
    for (int j = -width; j <= width; ++j) {
      const QuadricSample<T> sample = sample_at(shift(j), dv);
      add_sample(kBehind ? last : sample, sums);
      if constexpr (kBehind) last = sample;
    }
  }
  if constexpr (kBehind) add_sample(last, sums);
  return sums;
}

/// The sum of the samples' weights is at least this times their number.
inline constexpr float kLeastAgreement = 0.5f;
/// The curvature is at most this over the patch's radius.
inline constexpr float kMostBend = 4.0f;

/// `load(du, dv)` is the sample that many pixels from the middle, zero where there is none.
/// `normal` is where to start, towards the sensor; NaN starts from the line of sight.
template <class Mode, class T, class Load>
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
  QuadricWeight<T> weight = first_weight(rules, middle.radius_m);
  // Depth steps of stereo and structured light grow with the square of the depth. A scale below
  // them would settle on one step and take its neighbours for outliers.
  const T z_sq = middle.point.z * middle.point.z;
  const T growth = Math::select(z_sq > one, z_sq, one);
  weight.least_scale_sq = weight.least_scale_sq * (growth * growth);
  const FittedQuadric<T> fitted = fit_quadric(
      rules, options.iterations, away, middle.radius_m, weight,
      [&](auto first, const QuadricFit<T>& fit, const QuadricWeight<T>& weights) {
        return sum_samples<Mode, decltype(first)::value>(grid, middle, fit, rules, weights, load);
      });

  PatchResult<T> result;
  result.quadric = fitted.result;
  const T share(options.least_share * static_cast<float>(grid.samples()));
  const T least(static_cast<float>(options.least_samples));
  const QuadricResult<T>& q = result.quadric;
  // x - x is zero for finite numbers; NaN fails every comparison.
  const T finite = (q.k1_per_m - q.k1_per_m) + (q.k2_per_m - q.k2_per_m) +
                   (q.offset_m.z - q.offset_m.z) + (q.normal.z - q.normal.z);
  T good = Math::select(finite >= zero, one, zero);
  good = Math::select(fitted.count >= least, good, zero);
  good = Math::select(fitted.count >= share, good, zero);
  if (rules.weights == CurvatureWeights::kRobust) {
    // Weights that leave out most samples have found something else than the surface, and of a
    // surface that is sharper than this there is nothing in the rest of the patch.
    good = Math::select(fitted.weight >= fitted.count * T(kLeastAgreement), good, zero);
    const T most = T(kMostBend) / middle.radius_m;
    good = Math::select(q.k1_per_m <= most, good, zero);
    good = Math::select(-most <= q.k2_per_m, good, zero);
  }
  good = Math::select(fitted.least_pivot > T(kLeastQuadricPivot), good, zero);
  good = Math::select(dot(q.normal, sight) < -middle.least_cosine, good, zero);
  good = Math::select(dot(q.normal, middle.point + q.offset_m) < zero, good, zero);
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

}  // namespace sextant::detail::curvature
