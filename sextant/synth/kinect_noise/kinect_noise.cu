// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each/anywhere.h"
#include "sextant/synth/kinect_noise/math.h"

namespace sextant::detail {
SEXTANT_FOR_EACH_ON_CUDA(kinect_noise::KinectNoisePixel)
}  // namespace sextant::detail
