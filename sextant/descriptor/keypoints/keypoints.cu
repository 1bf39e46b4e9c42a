// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/keypoints/math.h"

namespace sextant::detail::keypoints {

void uniform_keypoints_cuda(const Context& context, View<const Vec3f> points, float leaf_m,
                            View<std::int32_t> indices, View<std::int64_t> count) {
  choose_uniform(context, points, leaf_m, indices, count);
}

void iss_keypoints_cuda(const Context& context, const NeighbourGridView& grid,
                        const IssLimits& limits, View<std::int32_t> indices,
                        View<std::int64_t> count) {
  Buffer<double> saliency(context, grid.size);
  for_each(context, grid.size, IssSaliency{grid, limits, saliency.data()});
  choose_most_salient(context, grid, limits, saliency.data(), indices, count);
}

}  // namespace sextant::detail::keypoints
