// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each/anywhere.h"
#include "sextant/descriptor/tensor/set_math.h"

namespace sextant::detail {
SEXTANT_FOR_EACH_ON_CUDA(tensor::PackElement)
SEXTANT_FOR_EACH_ON_CUDA(tensor::UnpackBin)
SEXTANT_FOR_EACH_ON_CUDA(tensor::FlipMask)
SEXTANT_FOR_EACH_ON_CUDA(tensor::FlipBin)
}  // namespace sextant::detail
