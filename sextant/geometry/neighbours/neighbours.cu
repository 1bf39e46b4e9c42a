// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each/anywhere.h"
#include "sextant/geometry/neighbours/build.h"
#include "sextant/geometry/neighbours/nearest.h"

namespace sextant::detail::neighbours {

void build_grid_cuda(const Context& context, const GridJob& job, Workspace& workspace) {
  build_grid(context, job, workspace);
}

void order_queries_cuda(const Context& context, const GridFrame* frame, View<const Vec3f> queries,
                        View<GridPoint> ordered, Workspace& workspace) {
  order_queries(context, frame, queries, ordered, workspace);
}

void find_rows_cuda(const Context& context, const NeighbourGridView& grid, const GridPoint* queries,
                    std::int64_t count, int k, std::int32_t* indices, float* distances_sq) {
  const auto run = [&](auto row) { for_each(context, count, row); };
  if (k <= 16) {
    run(NearestRow<16>{grid, queries, k, indices, distances_sq});
  } else if (k <= kMostLocalNeighbours) {
    run(NearestRow<kMostLocalNeighbours>{grid, queries, k, indices, distances_sq});
  } else {
    run(NearestRow<0>{grid, queries, k, indices, distances_sq});
  }
}

}  // namespace sextant::detail::neighbours

namespace sextant::detail {
SEXTANT_FOR_EACH_ON_CUDA(neighbours::CountRow)
SEXTANT_FOR_EACH_ON_CUDA(neighbours::WidenCount)
SEXTANT_FOR_EACH_ON_CUDA(neighbours::ListRow)
}  // namespace sextant::detail
