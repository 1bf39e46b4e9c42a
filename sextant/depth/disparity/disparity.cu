// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each/anywhere.h"
#include "sextant/depth/disparity/math.h"

namespace sextant::detail {
SEXTANT_FOR_EACH_PIXEL_ON_CUDA(disparity::KinectPixel)
SEXTANT_FOR_EACH_PIXEL_ON_CUDA(disparity::StereoPixel)
}  // namespace sextant::detail
