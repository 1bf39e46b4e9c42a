// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/context.h"
#include "sextant/core/image.h"

namespace sextant {

/// What the noise of a depth map says of the unit that its numbers were read with.
struct DepthUnitDoubt {
  /// By how much the depths seem to be too large: 10, 0.1, or 1 where nothing speaks against them.
  double factor = 1;
  float median_m = 0;     ///< of the depths; NaN without any
  float sigma_per_m = 0;  ///< deviation of a pixel's 1/z there; 0 where it was not looked at
};

/// Whether a depth map on the host, whose numbers count `step_m`, seems to be ten times too far or
/// too near.
///
/// A camera that triangulates errs by nearly the same amount of 1/z at every distance: 0.0016 to
/// 0.0086 /m in 102 frames of Kinects, PrimeSense and RealSense cameras. Depths in tenths of a
/// millimetre that are taken for millimetres have a tenth of that, though a median of 3.8 m or
/// more; the other way round ten times that at 0.24 m or less. Maps with a median between 0.3 and
/// 3 m are not doubted, nor are rendered ones, whose noise is that of their steps. Depth of another
/// kind of sensor (time of flight, laser) may be doubted where it is right: ask, do not refuse.
DepthUnitDoubt doubt_depth_unit(const Context& context, ImageView<const float> depth_m,
                                double step_m);

}  // namespace sextant
