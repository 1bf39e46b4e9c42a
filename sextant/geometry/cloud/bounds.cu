// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/reduce/anywhere.h"
#include "sextant/geometry/cloud/bounds_math.h"

namespace sextant::detail {
SEXTANT_TRANSFORM_REDUCE_ON_CUDA(Bounds, cloud::PointBounds, cloud::JoinBounds)
}  // namespace sextant::detail
