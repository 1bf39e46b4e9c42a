// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/gather/math.h"

#include "sextant/core/for_each/anywhere.h"

namespace sextant::detail {
SEXTANT_FOR_EACH_ON_CUDA(gather::GatherElement<Vec3f>)
SEXTANT_FOR_EACH_ON_CUDA(gather::GatherElement<Rgb8>)
SEXTANT_FOR_EACH_ON_CUDA(gather::GatherElement<std::int32_t>)
SEXTANT_FOR_EACH_ON_CUDA(gather::MarkFinite)
SEXTANT_FOR_EACH_ON_CUDA(gather::ListMarked)
}  // namespace sextant::detail
