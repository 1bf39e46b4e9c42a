// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/host_device.h"

namespace sextant {

/// Beyond this nothing is measured; it also keeps squares of depths finite.
inline constexpr float kFarthestDepth_m = 1e9f;

/// True for a measured depth. NaN, infinite, zero, negative and absurdly far depths are holes.
SEXTANT_HD constexpr bool is_valid_depth(float depth_m) {
  return depth_m > 0.0f && depth_m < kFarthestDepth_m;
}

}  // namespace sextant
