// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "sextant/core/simd/lane_math.h"
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

/// Adds neighbours to Σ w and Σ w (V_q - V_p); depths are scaled, T is a number or a pack of
/// numbers. Differences keep the digits that sums of depths would lose.
template <class T>
SEXTANT_HD inline void add_neighbour(const T& center, const T& neighbour, const T& log2_spatial,
                                     T& weight_sum, T& difference_sum) {
  using Math = LaneMath<T>;
  const T difference = neighbour - center;
  // A relative error of 3e-6 is far less than a filtered depth shows.
  const T weight = Math::rough_exp2(Math::multiply_add(-difference, difference, log2_spatial));
  weight_sum = weight_sum + weight;
  difference_sum = Math::multiply_add(weight, difference, difference_sum);
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
