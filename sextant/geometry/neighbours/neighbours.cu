// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/neighbours/build.h"
#include "sextant/geometry/neighbours/nearest.h"

namespace sextant::detail::neighbours {

void build_grid_cuda(const Context& context, const GridJob& job) { build_grid(context, job); }

void order_queries_cuda(const Context& context, const GridFrame* frame, View<const Vec3f> queries,
                        View<GridPoint> ordered) {
  order_queries(context, frame, queries, ordered);
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

void count_rows_cuda(const Context& context, std::int64_t count, const CountRow& row) {
  for_each(context, count, row);
}

void list_rows_cuda(const Context& context, std::int64_t count, const ListRow& row) {
  for_each(context, count, row);
}

}  // namespace sextant::detail::neighbours
