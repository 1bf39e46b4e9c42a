// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/cloud/bounds_math.h"

namespace sextant::detail::cloud {

void bounds_cuda(const Context& context, View<const Vec3f> points, View<Bounds> result) {
  transform_reduce(context, points.size, PointBounds{points.data}, JoinBounds{}, Bounds{}, result);
}

}  // namespace sextant::detail::cloud
