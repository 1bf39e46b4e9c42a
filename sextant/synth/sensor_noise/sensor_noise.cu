// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA gives the bits of the CPU.
#include "sextant/core/for_each/anywhere.h"
#include "sextant/synth/sensor_noise/filtered_noise.h"
#include "sextant/synth/sensor_noise/math.h"

namespace sextant::detail {
SEXTANT_FOR_EACH_PIXEL_ON_CUDA(sensor_noise::WhiteNoise)
SEXTANT_FOR_EACH_PIXEL_ON_CUDA(sensor_noise::FilterRun)
SEXTANT_FOR_EACH_PIXEL_ON_CUDA(sensor_noise::EdgePixel)
SEXTANT_FOR_EACH_PIXEL_ON_CUDA(sensor_noise::NoisyPixel)
}  // namespace sextant::detail
