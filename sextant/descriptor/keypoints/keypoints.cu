// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each/anywhere.h"
#include "sextant/descriptor/keypoints/math.h"
#include "sextant/geometry/cloud/bounds_math.h"

namespace sextant::detail {

void keypoints::reduce_bounds_cuda(const Context& context, View<const Vec3f> points,
                                   View<Bounds> result, Workspace& workspace) {
  transform_reduce(context, points.size, cloud::PointBounds{points.data}, cloud::JoinBounds{},
                   Bounds{}, result, workspace);
}

SEXTANT_FOR_EACH_ON_CUDA(keypoints::DistanceToCentre)
SEXTANT_FOR_EACH_ON_CUDA(keypoints::KeyInOrder)
SEXTANT_FOR_EACH_ON_CUDA(keypoints::MarkFirst)
SEXTANT_FOR_EACH_ON_CUDA(keypoints::ListMarked)
SEXTANT_FOR_EACH_ON_CUDA(keypoints::IssSaliency)
SEXTANT_FOR_EACH_ON_CUDA(keypoints::MarkMostSalient)

}  // namespace sextant::detail
