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
  T deviation_per_m{};
};

/// Which fit is compiled: kOurs as in add_sample; kMetric for a radius in metres; kSettle to go on
/// until the fit has settled.
template <bool kOursChosen, bool kMetricChosen, bool kSettleChosen>
struct FitMode {
  static constexpr bool kOurs = kOursChosen;
  static constexpr bool kMetric = kMetricChosen;
  static constexpr bool kSettle = kSettleChosen;
};

/// Calls function(FitMode) with the one that the options ask for.
template <bool kMetric, class Function>
SEXTANT_HD auto with_fit_mode(const CurvatureOptions& options, const Function& function) {
  if (options.settles()) return function(FitMode<true, kMetric, true>{});
  if (QuadricRules(options).ours()) return function(FitMode<true, kMetric, false>{});
  return function(FitMode<false, kMetric, false>{});
}

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

/// The waves that a settled quadric leaves.
template <class Mode, class T, class Load>
SEXTANT_HD QuadricWaves<T> sum_waves(const PatchGrid& grid, const PatchMiddle<T>& middle,
                                     const SettledQuadric<T>& quadric, const QuadricRules& rules,
                                     const Load& load) {
  const auto shift = [&](int i) { return Mode::kMetric ? grid.offset(i) : i * grid.stride_px; };
  QuadricWaves<T> waves;
  QuadricSums<T> unused;
  for (int i = -grid.radius; i <= grid.radius; ++i) {
    const int width = grid.half_width(i);
    const int dv = shift(i);
    for (int j = -width; j <= width; ++j) {
      const Vec3<T> offset = load(shift(j), dv) - middle.point;
      const T depth_sq = offset.z * offset.z;
      const T distance_sq = offset.x * offset.x + offset.y * offset.y + depth_sq;
      const auto inside = (depth_sq <= middle.gate_sq) & (distance_sq <= middle.ball_sq);
      const QuadricSample<T> sample = make_sample<Mode::kOurs, false>(
          quadric.fit, rules, quadric.weight, offset, distance_sq, inside, unused);
      const T x = dot(quadric.fit.x_axis, offset);
      const T y = dot(quadric.fit.y_axis, offset);
      waves.add(sample.weight, sample.e, x, y);
    }
  }
  return waves;
}

/// The curvature is at most this over the patch's radius.
inline constexpr float kMostBend = 4.0f;

/// A settled quadric is believed where
/// - it leaves at most so many deviations of a pixel, and this share of the patch's radius;
inline constexpr float kMostResidual = 1.6f;
inline constexpr float kMostMisfit = 0.004f;
/// - the waves that it leaves are at most so many times as strong as noise would make them, each of
///   the seven by itself (χ² with 7 degrees of freedom stays below 14 in 95 of 100 patches);
inline constexpr float kMostWaves = 14.0f;
/// - the patch is not wider than its radius of curvature, since few surfaces go on as they began,
///   nor by much more if k were larger by three deviations, unless it may be flat: where most of a
///   surface is too curved for its patches, those that noise has flattened must not pass alone;
inline constexpr float kMostPatchBend = 1.0f;
inline constexpr float kMostPossibleBend = 1.3f;
/// - the surface fills the patch, and not a part that the patch sticks out of, unless the deviation
///   is this share of what was aimed for, so that the other tests see more;
inline constexpr float kLeastFilled = 0.55f;
inline constexpr float kSureShare = 0.3f;
/// - k1 and k2 deviate by at most most_deviation_per_m and this share of the larger.
inline constexpr float kRelativeDeviation = 0.1f;

/// Curvature changes along a surface, by k² over a length of 1 on one that bends as it likes. Where
/// the samples lie to one side of the middle, k at the middle may differ from theirs by this share
/// of it, which counts as deviation.
inline constexpr float kChangeOfBend = 0.3f;

/// The line of sight to the middle, and the direction in which the fit starts: both away from the
/// sensor, whatever the sign of the normal that was given.
template <class T>
struct PatchStart {
  Vec3<T> sight, away;

  SEXTANT_HD PatchStart(const Vec3<T>& point, const Vec3<T>& normal) {
    using Math = LaneMath<T>;
    const auto unit = [](const Vec3<T>& v) { return v * Math::inverse_square_root(dot(v, v)); };
    sight = unit(point);
    const auto given = dot(normal, normal) > T(0.5f);
    const auto flip = dot(normal, sight) < T(0.0f);
    const auto start = [&](const T& n, const T& s) {
      return Math::select(given, Math::select(flip, -n, n), s);
    };
    away = unit({start(normal.x, sight.x), start(normal.y, sight.y), start(normal.z, sight.z)});
  }
};

/// Whether a fit tells the truth, 1 or 0, as far as the fit alone says.
template <class T>
SEXTANT_HD T is_good(const CurvatureOptions& options, const PatchGrid& grid,
                     const PatchMiddle<T>& middle, const PatchStart<T>& start,
                     const FittedQuadric<T>& fitted) {
  using Math = LaneMath<T>;
  const T zero(0.0f);
  const T share(options.least_share * static_cast<float>(grid.samples()));
  const T least(static_cast<float>(options.least_samples));
  const QuadricResult<T>& q = fitted.result;
  // x - x is zero for finite numbers; NaN fails every comparison.
  const T finite = (q.k1_per_m - q.k1_per_m) + (q.k2_per_m - q.k2_per_m) +
                   (q.offset_m.z - q.offset_m.z) + (q.normal.z - q.normal.z);
  T good = Math::select(finite >= zero, T(1.0f), zero);
  good = Math::select(fitted.count >= least, good, zero);
  good = Math::select(fitted.count >= share, good, zero);
  if (options.weights == CurvatureWeights::kRobust) {
    // Weights that leave out most samples have found something else than the surface, and of a
    // surface that is sharper than this there is nothing in the rest of the patch.
    good = Math::select(fitted.weight >= fitted.count * T(kLeastAgreement), good, zero);
    const T most = T(kMostBend) / middle.radius_m;
    good = Math::select(q.k1_per_m <= most, good, zero);
    good = Math::select(-most <= q.k2_per_m, good, zero);
  }
  good = Math::select(fitted.least_pivot > T(kLeastQuadricPivot), good, zero);
  good = Math::select(dot(q.normal, start.sight) < -middle.least_cosine, good, zero);
  good = Math::select(dot(q.normal, middle.point + q.offset_m) < zero, good, zero);
  return Math::select(middle.radius_m > zero, good, zero);
}

/// What the noise of the sensor means for a patch.
template <class T>
SEXTANT_HD PatchNoise<T> patch_noise(const CurvatureOptions& options, const PatchGrid& grid,
                                     const PatchMiddle<T>& middle) {
  using Math = LaneMath<T>;
  const float step_px = static_cast<float>(grid.step_65536) / 65536.0f;
  const T density = middle.density_m * T(1.0f / step_px);
  const T pixel = middle.pixel_noise_m * T(options.average_cells ? 1.0f / 3.0f : 1.0f);
  return {middle.pixel_noise_m, Math::square_root(density * density + pixel * pixel)};
}

/// The fit that settles, and whether it can be believed.
template <class Mode, class T, class Load>
SEXTANT_HD PatchResult<T> settle_patch(const CurvatureOptions& options, const PatchGrid& grid,
                                       const PatchMiddle<T>& middle, const PatchStart<T>& start,
                                       const T& wanted, const Load& load) {
  using Math = LaneMath<T>;
  const T zero(0.0f);
  const QuadricRules rules(options);
  const PatchNoise<T> noise = patch_noise(options, grid, middle);
  const SettledQuadric<T> found = settle_quadric(
      rules, start.away, middle.radius_m, noise, wanted,
      [&](auto first, const QuadricFit<T>& fit, const QuadricWeight<T>& weights) {
        return sum_samples<Mode, decltype(first)::value>(grid, middle, fit, rules, weights, load);
      });
  PatchResult<T> result;
  result.quadric = found.fitted.result;
  result.good = is_good(options, grid, middle, start, found.fitted);
  result.good = Math::select(found.settled > zero, result.good, zero);
  // Errors of depth are errors along the line of sight.
  const T facing = Math::magnitude(dot(result.quadric.normal, start.sight));
  const T inverse_radius = T(1.0f) / middle.radius_m;
  const T pixel = noise.pixel_m * facing * inverse_radius * T(kMostResidual);
  const T most_sq = pixel * pixel + T(kMostMisfit * kMostMisfit);
  result.good = Math::select(found.residual_sq <= most_sq, result.good, zero);
  if (!any_positive(result.good)) return result;
  const T sample = noise.sample_m * facing * inverse_radius;
  // k1 and k2 are the extremes of k over all directions: noise alone sets them apart, so that their
  // mean square error is 4/3 of that in a given direction.
  const T by_noise =
      T(2.0f * 1.1547005f) * sample * inverse_radius * Math::square_root(found.bend_variance);
  const T bend = Math::larger(result.quadric.k1_per_m, -result.quadric.k2_per_m);
  const T change = T(kChangeOfBend) * bend * bend * middle.radius_m;
  result.deviation_per_m = Math::square_root(by_noise * by_noise + change * change * found.lean_sq);
  const QuadricWaves<T> waves = sum_waves<Mode>(grid, middle, found, rules, load);
  const T most_wave = T(kMostWaves) * sample * sample / waves.weight + T(kMostMisfit * kMostMisfit);
  result.good = Math::select(waves.square() <= most_wave, result.good, zero);
  result.good = Math::select(bend * middle.radius_m <= T(kMostPatchBend), result.good, zero);
  const T possible = (bend + T(3.0f) * by_noise) * middle.radius_m;
  const T flat = Math::select(bend <= T(2.0f) * by_noise, result.good, zero);
  result.good = Math::select(possible <= T(kMostPossibleBend), result.good, flat);
  const T whole = facing * T(kLeastFilled * static_cast<float>(grid.samples()));
  const T sure(kSureShare * options.aim_deviation_per_m);
  const T filled = Math::select(found.fitted.count >= whole, T(1.0f), zero);
  result.good = Math::select(result.deviation_per_m <= sure, result.good, result.good * filled);
  if (options.most_deviation_per_m > 0.0f) {
    const T most = T(options.most_deviation_per_m) + T(kRelativeDeviation) * bend;
    result.good = Math::select(result.deviation_per_m <= most, result.good, zero);
  }
  return result;
}

/// The fit of a given number of steps.
template <class Mode, class T, class Load>
SEXTANT_HD PatchResult<T> step_patch(const CurvatureOptions& options, const PatchGrid& grid,
                                     const PatchMiddle<T>& middle, const PatchStart<T>& start,
                                     const Load& load) {
  using Math = LaneMath<T>;
  const T one(1.0f);
  const QuadricRules rules(options);
  QuadricWeight<T> weight = first_weight(rules, middle.radius_m);
  // Depth steps of stereo and structured light grow with the square of the depth. A scale below
  // them would settle on one step and take its neighbours for outliers.
  const T z_sq = middle.point.z * middle.point.z;
  const T growth = Math::select(z_sq > one, z_sq, one);
  weight.least_scale_sq = weight.least_scale_sq * (growth * growth);
  constexpr int kUsualSteps = 5;
  const int steps = options.iterations > 0 ? options.iterations : kUsualSteps;
  const FittedQuadric<T> fitted = fit_quadric(
      rules, steps, start.away, middle.radius_m, weight,
      [&](auto first, const QuadricFit<T>& fit, const QuadricWeight<T>& weights) {
        return sum_samples<Mode, decltype(first)::value>(grid, middle, fit, rules, weights, load);
      });
  return {fitted.result, is_good(options, grid, middle, start, fitted), T(NAN)};
}

/// `load(du, dv)` is the sample that many pixels from the middle, zero where there is none.
/// `normal` is where to start, towards the sensor; NaN starts from the line of sight. `wanted` is 1
/// for the pixels of a pack that count, else 0.
template <class Mode, class T, class Load>
SEXTANT_HD PatchResult<T> fit_patch(const CurvatureOptions& options, const PatchGrid& grid,
                                    const PatchMiddle<T>& middle, const Vec3<T>& normal,
                                    const T& wanted, const Load& load) {
  using Math = LaneMath<T>;
  const PatchStart<T> start(middle.point, normal);
  PatchResult<T> result;
  if constexpr (Mode::kSettle) {
    result = settle_patch<Mode>(options, grid, middle, start, wanted, load);
  } else {
    result = step_patch<Mode>(options, grid, middle, start, load);
  }
  if (options.clamp_per_m > 0.0f) {
    const T most(options.clamp_per_m);
    const auto clamped = [&](const T& k) {
      const T low = Math::select(k < -most, -most, k);
      return Math::select(low > most, most, low);
    };
    result.quadric.k1_per_m = clamped(result.quadric.k1_per_m);
    result.quadric.k2_per_m = clamped(result.quadric.k2_per_m);
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
  if (!out.deviation_per_m.empty()) out.deviation_per_m(u, v) = good ? result.deviation_per_m : NAN;
}

}  // namespace sextant::detail::curvature
