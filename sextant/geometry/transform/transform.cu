// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/transform/math.h"

#include "sextant/core/for_each/anywhere.h"

namespace sextant::detail {
SEXTANT_FOR_EACH_ON_CUDA(transform::MovePoint)
}  // namespace sextant::detail
