// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA gives the bits of the CPU.
#include "sextant/core/for_each/anywhere.h"
#include "sextant/descriptor/cloud_pairs/math.h"

namespace sextant::detail {
SEXTANT_FOR_EACH_ON_CUDA(cloud_pairs::CloudPartners)
}  // namespace sextant::detail
