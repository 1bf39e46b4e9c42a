// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA gives the bits of the CPU.
#include "sextant/core/for_each/anywhere.h"
#include "sextant/core/reduce/anywhere.h"
#include "sextant/descriptor/point_samples/math.h"

namespace sextant::detail {
SEXTANT_TRANSFORM_REDUCE_ON_CUDA(point_samples::VoxelBox, point_samples::BoxOfPoint,
                                 point_samples::JoinBoxes)
SEXTANT_FOR_EACH_ON_CUDA(point_samples::NumberPoint)
SEXTANT_FOR_EACH_ON_CUDA(point_samples::FindGroups)
SEXTANT_FOR_EACH_ON_CUDA(point_samples::MoveSample)
SEXTANT_FOR_EACH_ON_CUDA(point_samples::FirstOfScale)
}  // namespace sextant::detail
