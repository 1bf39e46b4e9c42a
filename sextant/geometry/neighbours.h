// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/options.h"
#include "sextant/core/vec.h"
#include "sextant/core/workspace.h"
#include "sextant/geometry/neighbour_walk.h"

namespace sextant {

/// How large the cells of a grid are. Speed depends on it, answers do not.
struct NeighbourGridOptions {
  /// Edge of a cell; 0 takes the edge from the density of the points. A grid has up to two million
  /// cells along an axis, about the middle of the points: those farther off share the last cells.
  float cell_m = 0.0f;
  float points_per_cell = 4.0f;  ///< what cell_m = 0 aims at, on average over the occupied cells

  /// Good cells for the k nearest neighbours, and for all neighbours within a radius.
  static NeighbourGridOptions for_nearest(int k);
  static NeighbourGridOptions for_radius(float radius_m);

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("cell_m", self.cell_m, "edge of a cell in metres; 0 takes it from the density",
          Range{0, 1e18});
    visit("points_per_cell", self.points_per_cell, "what an automatic cell holds on average",
          Range{1, 1e6});
  }
};

/// Points sorted into the cells of a uniform grid, for neighbour search. Cells lie in bricks of
/// 4 × 4 × 4 with a 64-bit mask of the occupied ones; only occupied bricks and cells take memory,
/// so millimetres to kilometres fit alike. NaN and infinite points are in no cell.
///
/// Of more than kMostCopies points in exactly the same place the grid holds one, that with the
/// lowest index; the others are holes. So time grows with the number of equal points, not with its
/// square, and they count for nobody. Sensors make such points where they see nothing;
/// clear_no_returns (no_returns.h) makes holes of all of them.
///
/// It takes about 80 bytes a point, allocated once for `capacity` points.
class NeighbourGrid {
 public:
  NeighbourGrid() = default;
  NeighbourGrid(const Context& context, std::int64_t capacity);

  /// How many points were given, holes included: the number of rows of a search for every point.
  std::int64_t size() const { return frame_.empty() ? 0 : size_; }
  std::int64_t capacity() const {
    return max_of<std::int64_t>(0, points_.size() - detail::kGridPadding);
  }
  Device device() const { return points_.device(); }

  /// What kernels get; see for_each_neighbour in neighbour_walk.h.
  NeighbourGridView view() const {
    return {points_.data(), cell_first_.data(), bricks_.data(),
            table_.data(),  frame_.data(),      size()};
  }

 private:
  friend void build_neighbour_grid_into(const Context&, View<const Vec3f>,
                                        const NeighbourGridOptions&, NeighbourGrid&);
  Buffer<GridPoint> points_;
  Buffer<std::uint32_t> cell_first_;
  Buffer<detail::GridBrick> bricks_;
  Buffer<std::int32_t> table_;
  Buffer<detail::GridFrame> frame_;
  Buffer<std::uint64_t> keys_;
  Buffer<std::uint32_t> order_;
  Buffer<std::int64_t> ranks_;
  Workspace workspace_;
  std::int64_t size_ = 0;
};

/// Sorts the points by cell; with cell_m = 0 also makes a few passes that count occupied cells.
NeighbourGrid build_neighbour_grid(const Context& context, View<const Vec3f> points,
                                   const NeighbourGridOptions& options = {});
/// Reuses the memory of a grid with enough capacity, so that the second build of as many points
/// allocates nothing. Never waits for the device.
void build_neighbour_grid_into(const Context& context, View<const Vec3f> points,
                               const NeighbourGridOptions& options, NeighbourGrid& grid);

/// Row i holds the neighbours of query i in ascending distance, equal distances in ascending index.
/// Where there are fewer than k, -1 and infinity fill the row. A query that is not finite has none.
struct NearestNeighbours {
  int k = 0;
  Buffer<std::int32_t> indices;  ///< queries × k, into the points that the grid was built from
  Buffer<float> distances_sq;    ///< queries × k, in m²
};

/// Finds the k nearest points of each query among those that the grid holds. The result is exact,
/// and the same on every device to the last bit. A point farther than 1.8e19 m, whose squared
/// distance is no float, is not found. Time grows with the points in some 3 × 3 × 3 cells around a
/// query. Points whose density varies by orders of magnitude make for cells with many or with no
/// points, and slow searches. Does not wait for the device, in either form.
NearestNeighbours k_nearest(const Context& context, const NeighbourGrid& grid,
                            View<const Vec3f> queries, int k);
void k_nearest_into(const Context& context, const NeighbourGrid& grid, View<const Vec3f> queries,
                    int k, View<std::int32_t> indices, View<float> distances_sq,
                    Workspace& workspace);
/// Searches for every point of the grid, which is among its own neighbours. This is faster, as the
/// points lie in order, and the second form needs no workspace.
NearestNeighbours k_nearest(const Context& context, const NeighbourGrid& grid, int k);
void k_nearest_into(const Context& context, const NeighbourGrid& grid, int k,
                    View<std::int32_t> indices, View<float> distances_sq);

/// The neighbours of query i are elements first[i] .. first[i + 1] - 1.
struct NeighbourLists {
  Buffer<std::int64_t> first;  ///< queries + 1
  Buffer<std::int32_t> indices;
  Buffer<float> distances_sq;
};

/// Order of the neighbours in a list: cell by cell, which costs nothing and is the same on every
/// run, or as in NearestNeighbours.
enum class NeighbourOrder { kCells, kDistance };

/// Lists all points that the grid holds with squared distance <= radius_m², where the product is
/// taken in float. The result is exact. Waits for the device, to learn the total. Memory grows with
/// points × neighbours: kernels that need no lists call for_each_neighbour.
NeighbourLists neighbours_within(const Context& context, const NeighbourGrid& grid,
                                 View<const Vec3f> queries, float radius_m,
                                 NeighbourOrder order = NeighbourOrder::kCells);
/// Searches for every point of the grid, which is among its own neighbours.
NeighbourLists neighbours_within(const Context& context, const NeighbourGrid& grid, float radius_m,
                                 NeighbourOrder order = NeighbourOrder::kCells);
/// counts[i] = number of points within radius_m of query i; 0 for a query that is not finite. Does
/// not wait for the device.
void count_neighbours_into(const Context& context, const NeighbourGrid& grid,
                           View<const Vec3f> queries, float radius_m, View<std::int32_t> counts,
                           Workspace& workspace);
/// Counts for every point of the grid, which is among its own neighbours.
void count_neighbours_into(const Context& context, const NeighbourGrid& grid, float radius_m,
                           View<std::int32_t> counts);

}  // namespace sextant
