// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "sextant/core/host_device.h"

namespace sextant {

/// What is commonly derived from the principal curvatures k1 >= k2 of a point. Curvatures are in
/// 1/m, positive where the surface is convex seen from the sensor. All NaN when either is.
struct CurvatureMeasures {
  float mean_per_m = 0;         ///< (k1 + k2) / 2
  float gaussian_per_sq_m = 0;  ///< k1 k2, in 1/m²: the same from either side of the surface
  /// 2/π atan((k1 + k2) / (k1 - k2)), which does not depend on the size (Koenderink and van Doorn,
  /// 1992; sign so that convex is positive): 1 ball, 0.5 rod, 0 saddle, -0.5 gutter, -1 bowl. A
  /// plane has none and gets 0; its curvedness tells it from a saddle.
  float shape_index = 0;
  float curvedness_per_m = 0;  ///< sqrt((k1² + k2²) / 2): how far from flat
};

SEXTANT_HD inline CurvatureMeasures curvature_measures(float k1_per_m, float k2_per_m) {
  constexpr float kTwoOverPi = 0.63661977f;
  // atan2 knows the ball, where the denominator is 0; k1 < k2 is another order of the same pair.
  const float sum = k1_per_m + k2_per_m;
  const float difference = std::abs(k1_per_m - k2_per_m);
  return {0.5f * sum, k1_per_m * k2_per_m, kTwoOverPi * std::atan2(sum, difference),
          std::sqrt(0.5f * (k1_per_m * k1_per_m + k2_per_m * k2_per_m))};
}

}  // namespace sextant
