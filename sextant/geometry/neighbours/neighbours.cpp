// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/neighbours.h"

#include "sextant/core/build_config.h"
#include "sextant/core/scan.h"
#include "sextant/geometry/neighbours/build.h"
#include "sextant/geometry/neighbours/cpu.h"
#include "sextant/geometry/neighbours/nearest.h"

namespace sextant {

using namespace detail::neighbours;

namespace {

constexpr std::int64_t kMostPoints = 1 << 30;

std::int64_t checked_capacity(std::int64_t capacity) {
  require(capacity >= 0 && capacity <= kMostPoints, "capacity: ", capacity,
          " points; a grid takes 0 to ", kMostPoints);
  return capacity;
}

std::int64_t table_room(std::int64_t capacity) {
  std::int64_t slots = 2;
  while (slots < 2 * capacity) slots *= 2;
  return slots;
}

/// Who asks: the points of the grid, which lie in cell order, or queries that are put in order.
struct Queries {
  Buffer<GridPoint> ordered;
  const GridPoint* data = nullptr;
  std::int64_t count = 0;
};

Queries points_of(const NeighbourGrid& grid) { return {{}, grid.view().points, grid.size()}; }

Queries order_queries(const Context& context, const NeighbourGrid& grid,
                      View<const Vec3f> queries) {
  require_on(context, queries, "queries");
  require(queries.size <= kMostPoints, "queries: ", queries.size, " points; ", kMostPoints,
          " are the most");
  Queries result{Buffer<GridPoint>(context, queries.size), nullptr, queries.size};
  result.data = result.ordered.data();
  const detail::GridFrame* frame = grid.view().frame;
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) {
      order_queries_cuda(context, frame, queries, result.ordered);
      return result;
    }
  }
  detail::neighbours::order_queries(context, frame, queries, result.ordered);
  return result;
}

/// An empty grid was never built, and has no frame to read.
void check_grid(const Context& context, const NeighbourGrid& grid) {
  require(grid.view().frame != nullptr, "grid: is empty; use build_neighbour_grid");
  require(grid.device() == context.device(), "grid: lies on ", to_string(grid.device()),
          " but the context runs on ", to_string(context.device()));
}

void check_radius(float radius_m) {
  require(radius_m >= 0.0f && std::isfinite(radius_m), "radius_m: ", radius_m,
          " is not a distance");
}

void check_k(int k, std::int64_t queries) {
  require(k >= 1, "k: ", k, " is less than 1");
  require(queries <= INT64_MAX / 16 / k, "k: ", k, " neighbours of ", queries, " points");
}

void find_rows(const Context& context, const NeighbourGrid& grid, const Queries& queries, int k,
               View<std::int32_t> indices, View<float> distances_sq) {
  require_on(context, indices, "indices");
  require_on(context, distances_sq, "distances_sq");
  const std::int64_t size = queries.count * k;
  require(indices.size == size, "indices: room for ", indices.size, " instead of ", queries.count,
          " x ", k);
  require(distances_sq.size == size, "distances_sq: room for ", distances_sq.size, " instead of ",
          queries.count, " x ", k);
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) {
      return find_rows_cuda(context, grid.view(), queries.data, queries.count, k, indices.data,
                            distances_sq.data);
    }
  }
  find_rows_cpu(context, grid.view(), queries.data, queries.count, k, indices.data,
                distances_sq.data);
}

void count_rows(const Context& context, const NeighbourGrid& grid, const Queries& queries,
                float radius_m, View<std::int64_t> counts) {
  require_on(context, counts, "counts");
  require(counts.size == queries.count, "counts: room for ", counts.size, " instead of ",
          queries.count);
  const CountRow row{grid.view(), queries.data, radius_m, counts.data};
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) return count_rows_cuda(context, queries.count, row);
  }
  count_rows_cpu(context, queries.count, row);
}

NeighbourLists list_rows(const Context& context, const NeighbourGrid& grid, const Queries& queries,
                         float radius_m, NeighbourOrder order) {
  NeighbourLists lists;
  Buffer<std::int64_t> counts(context, queries.count);
  count_rows(context, grid, queries, radius_m, counts);
  lists.first = Buffer<std::int64_t>(context, queries.count + 1);
  exclusive_scan<std::int64_t>(context, counts, lists.first);
  const std::int64_t total = to_host(context, lists.first.view().subview(queries.count, 1))[0];
  lists.indices = Buffer<std::int32_t>(context, total);
  lists.distances_sq = Buffer<float>(context, total);
  const ListRow row{grid.view(),
                    queries.data,
                    radius_m,
                    order == NeighbourOrder::kDistance,
                    lists.first.data(),
                    lists.indices.data(),
                    lists.distances_sq.data()};
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) {
      list_rows_cuda(context, queries.count, row);
      return lists;
    }
  }
  list_rows_cpu(context, queries.count, row);
  return lists;
}

NearestNeighbours rows_for(const Context& context, std::int64_t queries, int k) {
  return {k, Buffer<std::int32_t>(context, queries * k), Buffer<float>(context, queries * k)};
}

}  // namespace

NeighbourGridOptions NeighbourGridOptions::for_nearest(int k) {
  require(k >= 1, "k: ", k, " is less than 1");
  // The k nearest of a surface fill a disc of k / π squares whose edge is its radius. With cells of
  // that edge, the 3 × 3 × 3 cells around a point hold the disc nearly always.
  constexpr float kShare = 0.35f;
  return {.cell_m = 0.0f, .points_per_cell = clamp(kShare * static_cast<float>(k), 1.5f, 1e6f)};
}

NeighbourGridOptions NeighbourGridOptions::for_radius(float radius_m) {
  check_radius(radius_m);
  return {.cell_m = clamp(radius_m, 1e-18f, 1e18f)};
}

NeighbourGrid::NeighbourGrid(const Context& context, std::int64_t capacity)
    : points_(context, checked_capacity(capacity) + detail::kGridPadding),
      cell_first_(context, capacity + 1),
      bricks_(context, capacity),
      table_(context, table_room(capacity)),
      frame_(context, 1),
      keys_(context, capacity),
      order_(context, capacity),
      ranks_(context, capacity + 1) {}

void build_neighbour_grid_into(const Context& context, View<const Vec3f> points,
                               const NeighbourGridOptions& options, NeighbourGrid& grid) {
  require_on(context, points, "points");
  check_options(options);
  check_grid(context, grid);
  require(points.size <= grid.capacity(), "points: ", points.size, " do not fit into a grid for ",
          grid.capacity());
  grid.size_ = points.size;
  const GridJob job{points.data,
                    points.size,
                    options.cell_m,
                    options.points_per_cell,
                    context.device(),
                    grid.points_.data(),
                    grid.cell_first_.data(),
                    grid.bricks_.data(),
                    grid.table_.data(),
                    table_room(points.size),
                    grid.frame_.data(),
                    grid.keys_.data(),
                    grid.order_.data(),
                    grid.ranks_.data()};
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) return build_grid_cuda(context, job);
  }
  build_grid(context, job);
}

NeighbourGrid build_neighbour_grid(const Context& context, View<const Vec3f> points,
                                   const NeighbourGridOptions& options) {
  NeighbourGrid grid(context, points.size);
  build_neighbour_grid_into(context, points, options, grid);
  return grid;
}

void k_nearest_into(const Context& context, const NeighbourGrid& grid, View<const Vec3f> queries,
                    int k, View<std::int32_t> indices, View<float> distances_sq) {
  check_grid(context, grid);
  check_k(k, queries.size);
  find_rows(context, grid, order_queries(context, grid, queries), k, indices, distances_sq);
}

NearestNeighbours k_nearest(const Context& context, const NeighbourGrid& grid,
                            View<const Vec3f> queries, int k) {
  check_k(k, queries.size);
  NearestNeighbours result = rows_for(context, queries.size, k);
  k_nearest_into(context, grid, queries, k, result.indices, result.distances_sq);
  return result;
}

void k_nearest_into(const Context& context, const NeighbourGrid& grid, int k,
                    View<std::int32_t> indices, View<float> distances_sq) {
  check_grid(context, grid);
  check_k(k, grid.size());
  find_rows(context, grid, points_of(grid), k, indices, distances_sq);
}

NearestNeighbours k_nearest(const Context& context, const NeighbourGrid& grid, int k) {
  check_k(k, grid.size());
  NearestNeighbours result = rows_for(context, grid.size(), k);
  k_nearest_into(context, grid, k, result.indices, result.distances_sq);
  return result;
}

NeighbourLists neighbours_within(const Context& context, const NeighbourGrid& grid,
                                 View<const Vec3f> queries, float radius_m, NeighbourOrder order) {
  check_grid(context, grid);
  check_radius(radius_m);
  return list_rows(context, grid, order_queries(context, grid, queries), radius_m, order);
}

NeighbourLists neighbours_within(const Context& context, const NeighbourGrid& grid, float radius_m,
                                 NeighbourOrder order) {
  check_grid(context, grid);
  check_radius(radius_m);
  return list_rows(context, grid, points_of(grid), radius_m, order);
}

void count_neighbours_into(const Context& context, const NeighbourGrid& grid,
                           View<const Vec3f> queries, float radius_m, View<std::int64_t> counts) {
  check_grid(context, grid);
  check_radius(radius_m);
  count_rows(context, grid, order_queries(context, grid, queries), radius_m, counts);
}

void count_neighbours_into(const Context& context, const NeighbourGrid& grid, float radius_m,
                           View<std::int64_t> counts) {
  check_grid(context, grid);
  check_radius(radius_m);
  count_rows(context, grid, points_of(grid), radius_m, counts);
}

}  // namespace sextant
