// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "sextant/core/simd/approx_math.h"
#include "sextant/depth/bilateral.h"
#include "sextant/depth/valid_depth.h"

namespace sextant::detail::bilateral {

inline constexpr int kLargestBilateralRadius = 15;

/// The filter's constants, so that the weight of a neighbour is one power of two: with depths
/// multiplied by `scale`, w = 2^(log2_spatial[|du|] + log2_spatial[|dv|] - difference²).
struct BilateralWeights {
  int radius;
  float scale;    ///< √(log2 e / 2) / sigma_depth
  float unscale;  ///< 1 / scale
  float log2_spatial[kLargestBilateralRadius + 1];
};

inline BilateralWeights bilateral_weights(const BilateralOptions& options) {
  const double half_log2_e = 0.5 / std::log(2.0);
  const double scale = std::sqrt(half_log2_e) / options.sigma_depth_m;
  BilateralWeights weights{
      options.radius_px, static_cast<float>(scale), static_cast<float>(1 / scale), {}};
  for (int i = 0; i <= kLargestBilateralRadius; ++i) {
    const double sigmas = i / options.sigma_space_px;
    weights.log2_spatial[i] = static_cast<float>(-half_log2_e * sigmas * sigmas);
  }
  return weights;
}

/// What stands for a hole among scaled depths: so far from every valid one that its weight vanishes
/// without a test, and small enough for its square to be finite.
inline constexpr float kScaledHole = -1e18f;

SEXTANT_HD inline float scaled_or_hole(float depth_m, float scale) {
  const float scaled = depth_m * scale;  // outside the choice, so that compilers vectorise it
  return is_valid_depth(depth_m) ? scaled : kScaledHole;
}

/// a b + c, rounded once where the machine does that in one instruction.
template <bool kFused>
SEXTANT_HD inline float multiply_add(float a, float b, float c) {
  if constexpr (kFused) {
    return std::fma(a, b, c);
  } else {
    return a * b + c;
  }
}

/// 2^x for x <= 0, at least 2^-126: relative error below 3e-6, far less than a filtered depth
/// shows. On the host the fourth-degree minimax polynomial of the fraction, which compilers
/// vectorise; on the device its own instruction, with an error below 3e-7.
template <bool kFused>
SEXTANT_HD inline float exp2_of_non_positive(float x) {
#if defined(__CUDA_ARCH__)
  return approx_exp2(x);
#else
  constexpr float kRounder = 12582912.0f;  // 1.5 · 2^23: adding it rounds to a whole number
  const float clamped = x > -126.0f ? x : -126.0f;
  const float rounded = clamped + kRounder;
  const float f = clamped - (rounded - kRounder);
  float p = 0.00957010221f;
  p = multiply_add<kFused>(p, f, 0.0559178591f);
  p = multiply_add<kFused>(p, f, 0.240247443f);
  p = multiply_add<kFused>(p, f, 0.693121791f);
  p = multiply_add<kFused>(p, f, 0.999999285f);
  // The low bits of `rounded` are the whole part; they go to the exponent.
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(p) +
                              (std::bit_cast<std::uint32_t>(rounded) << 23));
#endif
}

/// Adds one neighbour to Σ w and Σ w (V_q - V_p); depths are scaled. Differences keep the digits
/// that sums of depths would lose.
template <bool kFused>
SEXTANT_HD inline void add_neighbour(float center, float neighbour, float log2_spatial,
                                     float& weight_sum, float& difference_sum) {
  const float difference = neighbour - center;
  const float weight =
      exp2_of_non_positive<kFused>(multiply_add<kFused>(-difference, difference, log2_spatial));
  weight_sum += weight;
  difference_sum = multiply_add<kFused>(weight, difference, difference_sum);
}

/// The filtered depth of a pixel from its sums.
SEXTANT_HD inline float filtered_depth(float depth_m, float unscale, float weight_sum,
                                       float difference_sum) {
  const float filtered_m = depth_m + unscale * (difference_sum / weight_sum);
  return is_valid_depth(depth_m) ? filtered_m : NAN;
}

void bilateral_filter_cuda(const Context& context, ImageView<const float> depth_m,
                           const BilateralWeights& weights, ImageView<float> filtered_m);

}  // namespace sextant::detail::bilateral
