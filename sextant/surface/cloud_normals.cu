// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each.h"
#include "sextant/surface/cloud_normals_math.h"

namespace sextant::detail {

void estimate_cloud_normals_cuda(const Context& context, const NeighbourGridView& grid,
                                 const CloudNormalsOptions& options, View<Vec3f> normals) {
  const auto run = [&](auto normal) { for_each(context, grid.size, normal); };
  const int k = options.k;
  const float radius_m = options.radius_m;
  // Short lists leave more threads in flight.
  if (radius_m > 0.0f) {
    run(CloudNormal<0>{grid, k, radius_m, options.viewpoint_m, normals.data});
  } else if (k <= 16) {
    run(CloudNormal<16>{grid, k, radius_m, options.viewpoint_m, normals.data});
  } else {
    run(CloudNormal<kMostLocalNeighbours>{grid, k, radius_m, options.viewpoint_m, normals.data});
  }
}

}  // namespace sextant::detail
