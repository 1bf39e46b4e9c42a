// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/surface/noise/levels.h"

namespace sextant::detail::segment {

using noise::depth_bin;
using noise::kDepthBins;
using noise::kNoiseBins;

/// The deviation of inverse depth that the sensor causes, in 1/m, at every depth.
struct NoiseLevels {
  float inverse_m[kDepthBins];
  float least_inverse_m;

  SEXTANT_HD float at(float z_m) const { return inverse_m[depth_bin(z_m)]; }
};

}  // namespace sextant::detail::segment
