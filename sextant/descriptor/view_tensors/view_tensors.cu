// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each/anywhere.h"
#include "sextant/descriptor/view_tensors/math.h"

namespace sextant::detail {
SEXTANT_FOR_EACH_PIXEL_ON_CUDA(view_tensors::KeepEvery<float>)
SEXTANT_FOR_EACH_PIXEL_ON_CUDA(view_tensors::KeepEvery<Vec3f>)
}  // namespace sextant::detail
