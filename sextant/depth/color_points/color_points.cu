// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each/anywhere.h"
#include "sextant/depth/color_points/math.h"

namespace sextant::detail {
SEXTANT_FOR_EACH_PIXEL_ON_CUDA(color_points::RegisteredColor)
SEXTANT_FOR_EACH_ON_CUDA(color_points::ProjectedColor)
}  // namespace sextant::detail
