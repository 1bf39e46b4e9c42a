// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/reduce/anywhere.h"
#include "sextant/surface/cloud_resolution/math.h"

namespace sextant::detail {
SEXTANT_TRANSFORM_REDUCE_ON_CUDA(cloud_resolution::NearestSum, cloud_resolution::NearestOfPoint,
                                 Add)
}  // namespace sextant::detail
