// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/cuda_check.h"
#include "sextant/core/for_each.h"
#include "sextant/geometry/neighbours/gather.cuh"
#include "sextant/surface/cloud_normals/math.h"

namespace sextant::detail::cloud_normals {

namespace {

/// Takes points in cell order, with kGatherThreads threads for each.
__global__ void __launch_bounds__(neighbours::kGatherBlock)
    weighted_normals(const NeighbourGridView grid, float sigma_m, Vec3f viewpoint_m,
                     Vec3f* normals) {
  const std::int64_t at = (std::int64_t{blockIdx.x} * neighbours::kGatherBlock + threadIdx.x) /
                          neighbours::kGatherThreads;
  const bool exists = at < grid.size;
  const GridPoint point = exists ? grid.points[at] : GridPoint{{NAN, NAN, NAN}, 0};
  const Vec3f p = point.position;
  WeightedMoments sums;
  if (is_finite(p)) {
    sums = neighbours::gather_share<WeightedMoments>(
        grid, p, kWeightReach * sigma_m, [&](const GridPoint& neighbour, WeightedMoments& to) {
          accumulate_weighted(to, neighbour.position - p, squared_distance(neighbour.position, p),
                              sigma_m);
        });
  }
  neighbours::sum_over_threads(sums);
  if (exists && threadIdx.x % neighbours::kGatherThreads == 0) {
    normals[point.index] = normal_of(sums.moments, sums.neighbours, p, viewpoint_m);
  }
}

}  // namespace

void estimate_cloud_normals_cuda(const Context& context, const NeighbourGridView& grid,
                                 const CloudNormalsOptions& options, View<Vec3f> normals) {
  if (options.method == CloudNormalsMethod::kWeighted) {
    if (grid.size == 0) return;
    weighted_normals<<<neighbours::gather_blocks(grid.size), neighbours::kGatherBlock, 0,
                       cuda_stream(context)>>>(grid, options.sigma_m, options.viewpoint_m,
                                               normals.data);
    check_launch("weighted_normals");
    return;
  }
  const auto run = [&](auto normal) { for_each(context, grid.size, normal); };
  const int k = options.k;
  const float radius_m = options.radius_m;
  // Short lists leave more threads in flight.
  if (radius_m > 0.0f) {
    run(CloudNormal<0>{grid, k, radius_m, options.viewpoint_m, normals.data});
  } else if (k <= 16) {
    run(CloudNormal<16>{grid, k, radius_m, options.viewpoint_m, normals.data});
  } else {
    run(CloudNormal<neighbours::kMostLocalNeighbours>{grid, k, radius_m, options.viewpoint_m,
                                                      normals.data});
  }
}

}  // namespace sextant::detail::cloud_normals
