// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA gives the bits of the CPU.
#include "sextant/surface/noise/frame_noise.h"

#include "sextant/core/for_each/anywhere.h"

namespace sextant::detail {
SEXTANT_FOR_EACH_ON_CUDA(noise::ClearCounts)
SEXTANT_FOR_EACH_ON_CUDA(noise::MeasureCell)
SEXTANT_FOR_EACH_ON_CUDA(noise::MeasureNarrow)
SEXTANT_FOR_EACH_ON_CUDA(noise::MeasureWide)
SEXTANT_FOR_EACH_ON_CUDA(noise::FindQuantiles)
SEXTANT_FOR_EACH_ON_CUDA(noise::FinishLevels)
}  // namespace sextant::detail
