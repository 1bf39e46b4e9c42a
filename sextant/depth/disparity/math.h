// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "sextant/depth/disparity.h"
#include "sextant/depth/valid_depth.h"

namespace sextant::detail::disparity {

inline constexpr int kNoReturn = 2047;  // the largest value of 11 bits

/// numerator / denominator, or NaN where that is no depth.
SEXTANT_HD inline float depth_or_hole(float numerator, float denominator) {
  const float depth_m = numerator / denominator;
  return is_valid_depth(depth_m) ? depth_m : NAN;
}

struct KinectPixel {
  ImageView<const std::uint16_t> disparity;
  ImageView<float> depth_m;
  float eight_b_f;
  float offset;

  SEXTANT_HD void operator()(int u, int v) const {
    const int k = disparity(u, v);
    const float z = depth_or_hole(eight_b_f, offset - static_cast<float>(k));
    depth_m(u, v) = k < kNoReturn ? z : NAN;
  }
};

struct StereoPixel {
  ImageView<const float> disparity_px;
  ImageView<float> depth_m;
  float b_f;
  float offset_px;

  SEXTANT_HD void operator()(int u, int v) const {
    depth_m(u, v) = depth_or_hole(b_f, disparity_px(u, v) + offset_px);
  }
};

}  // namespace sextant::detail::disparity
