// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each/anywhere.h"
#include "sextant/descriptor/keypoints/math.h"

namespace sextant::detail {
SEXTANT_FOR_EACH_ON_CUDA(keypoints::DistanceToCentre)
SEXTANT_FOR_EACH_ON_CUDA(keypoints::KeyInOrder)
SEXTANT_FOR_EACH_ON_CUDA(keypoints::MarkFirst)
SEXTANT_FOR_EACH_ON_CUDA(keypoints::IssSaliency)
SEXTANT_FOR_EACH_ON_CUDA(keypoints::MarkMostSalient)
}  // namespace sextant::detail
