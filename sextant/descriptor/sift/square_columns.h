// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "sextant/descriptor/sift/math.h"

namespace sextant::detail::sift {

/// Which columns of a row of pixels may lie in the turned square.
class SquareColumns {
 public:
  SEXTANT_HD SquareColumns(float cosine, float sine) : column_(cosine, sine), row_(-sine, cosine) {}

  struct Range {
    float first, last;  ///< from the keypoint's column
  };
  SEXTANT_HD Range at(float down) const {
    const Range a = column_.at(down), b = row_.at(down);
    return {a.first > b.first ? a.first : b.first, a.last < b.last ? a.last : b.last};
  }

 private:
  /// Where |right · slope + down · other| < kReach, and a little more for rounding.
  struct Stripe {
    static constexpr float kMost = kReach + 0.01f;
    static constexpr float kFar = 1e6f;
    float other, shift = 0, half = kFar;
    bool level;  ///< the slope is none: all columns of a row lie in it, or none

    SEXTANT_HD Stripe(float slope, float other_slope)
        : other(other_slope), level(std::abs(slope) < 1e-5f) {
      if (level) return;
      shift = -other / slope;
      half = kMost / std::abs(slope);
    }
    SEXTANT_HD Range at(float down) const {
      if (level && std::abs(down * other) > kMost) return {kFar, -kFar};
      return {down * shift - half, down * shift + half};
    }
  };
  Stripe column_, row_;
};

}  // namespace sextant::detail::sift
