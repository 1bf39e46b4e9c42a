// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/neighbours.h"

#include "sextant/core/for_each/anywhere.h"
#include "sextant/core/scan.h"
#include "sextant/geometry/neighbours/build.h"
#include "sextant/geometry/neighbours/cpu.h"
#include "sextant/geometry/neighbours/nearest.h"
#include "sextant/geometry/neighbours/queries.h"

namespace sextant {

namespace detail::neighbours {

namespace {

constexpr std::int64_t kMostPoints = 1 << 30;

}  // namespace

void check_grid(const Context& context, const NeighbourGrid& grid, std::int64_t points) {
  require(grid.view().frame != nullptr, "grid: is empty; use build_neighbour_grid");
  require(grid.device() == context.device(), "grid: lies on ", to_string(grid.device()),
          " but the context runs on ", to_string(context.device()));
  require(points < 0 || grid.size() == points, "grid: was built from ", grid.size(),
          " points, not from ", points);
}

View<GridPoint> ordered_queries(const Context& context, const NeighbourGridView& grid,
                                View<const Vec3f> queries, Workspace& workspace) {
  require_on(context, queries, "queries");
  require(queries.size <= kMostPoints, "queries: ", queries.size, " points; ", kMostPoints,
          " are the most");
  const View<GridPoint> ordered = workspace.take<GridPoint>(context, queries.size);
  on_device(
      context, [&] { order_queries_cuda(context, grid.frame, queries, ordered, workspace); },
      [&] { order_queries(context, grid.frame, queries, ordered, workspace); });
  return ordered;
}

}  // namespace detail::neighbours

using namespace detail::neighbours;

namespace {

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
  const GridPoint* data = nullptr;
  std::int64_t count = 0;
};

Queries points_of(const NeighbourGrid& grid) { return {grid.view().points, grid.size()}; }

Queries queries_of(const Context& context, const NeighbourGrid& grid, View<const Vec3f> queries,
                   Workspace& workspace) {
  return {ordered_queries(context, grid.view(), queries, workspace).data, queries.size};
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
  require_room(context, indices, queries.count * k, "indices");
  require_room(context, distances_sq, queries.count * k, "distances_sq");
  detail::on_device(
      context,
      [&] {
        find_rows_cuda(context, grid.view(), queries.data, queries.count, k, indices.data,
                       distances_sq.data);
      },
      [&] {
        find_rows_cpu(context, grid.view(), queries.data, queries.count, k, indices.data,
                      distances_sq.data);
      });
}

void count_rows(const Context& context, const NeighbourGrid& grid, const Queries& queries,
                float radius_m, View<std::int32_t> counts) {
  require_room(context, counts, queries.count, "counts");
  const CountRow row{grid.view(), queries.data, radius_m, counts.data};
  detail::on_device(
      context, [&] { detail::for_each_on_cuda(context, queries.count, row); },
      [&] { count_rows_cpu(context, queries.count, row); });
}

NeighbourLists list_rows(const Context& context, const NeighbourGrid& grid, const Queries& queries,
                         float radius_m, NeighbourOrder order, Workspace& workspace) {
  NeighbourLists lists;
  const View<std::int32_t> counts = workspace.take<std::int32_t>(context, queries.count);
  count_rows(context, grid, queries, radius_m, counts);
  lists.first = Buffer<std::int64_t>(context, queries.count + 1);
  detail::for_each_anywhere(context, queries.count + 1,
                            WidenCount{counts.data, queries.count, lists.first.data()});
  exclusive_scan<std::int64_t>(context, lists.first, lists.first, workspace);
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
  detail::on_device(
      context, [&] { detail::for_each_on_cuda(context, queries.count, row); },
      [&] { list_rows_cpu(context, queries.count, row); });
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
  detail::on_device(
      context, [&] { build_grid_cuda(context, job, grid.workspace_); },
      [&] { build_grid(context, job, grid.workspace_); });
}

NeighbourGrid build_neighbour_grid(const Context& context, View<const Vec3f> points,
                                   const NeighbourGridOptions& options) {
  NeighbourGrid grid(context, points.size);
  build_neighbour_grid_into(context, points, options, grid);
  return grid;
}

void k_nearest_into(const Context& context, const NeighbourGrid& grid, View<const Vec3f> queries,
                    int k, View<std::int32_t> indices, View<float> distances_sq,
                    Workspace& workspace) {
  check_grid(context, grid);
  check_k(k, queries.size);
  const Workspace::Scope scope(workspace);
  find_rows(context, grid, queries_of(context, grid, queries, workspace), k, indices, distances_sq);
}

NearestNeighbours k_nearest(const Context& context, const NeighbourGrid& grid,
                            View<const Vec3f> queries, int k) {
  check_k(k, queries.size);
  NearestNeighbours result = rows_for(context, queries.size, k);
  Workspace workspace;
  k_nearest_into(context, grid, queries, k, result.indices, result.distances_sq, workspace);
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
  Workspace workspace;
  return list_rows(context, grid, queries_of(context, grid, queries, workspace), radius_m, order,
                   workspace);
}

NeighbourLists neighbours_within(const Context& context, const NeighbourGrid& grid, float radius_m,
                                 NeighbourOrder order) {
  check_grid(context, grid);
  check_radius(radius_m);
  Workspace workspace;
  return list_rows(context, grid, points_of(grid), radius_m, order, workspace);
}

void count_neighbours_into(const Context& context, const NeighbourGrid& grid,
                           View<const Vec3f> queries, float radius_m, View<std::int32_t> counts,
                           Workspace& workspace) {
  check_grid(context, grid);
  check_radius(radius_m);
  const Workspace::Scope scope(workspace);
  count_rows(context, grid, queries_of(context, grid, queries, workspace), radius_m, counts);
}

void count_neighbours_into(const Context& context, const NeighbourGrid& grid, float radius_m,
                           View<std::int32_t> counts) {
  check_grid(context, grid);
  check_radius(radius_m);
  count_rows(context, grid, points_of(grid), radius_m, counts);
}

}  // namespace sextant
