// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/neighbours_math.h"

// One warp looks for the neighbours of one point. For .cu files only. All functions are called by
// all lanes of a warp with the same arguments, and what they return is the same on all lanes.

namespace sextant::detail {

inline constexpr int kWarp = 32;
inline constexpr unsigned kAllLanes = 0xffffffffu;

template <class T>
__device__ T warp_sum(T value) {
  for (int step = kWarp / 2; step > 0; step /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, step);
  }
  return value;
}

__device__ inline int lane_index() { return static_cast<int>(threadIdx.x) % kWarp; }
__device__ inline unsigned lanes_before() { return (1u << lane_index()) - 1u; }

/// The runs of grid.points that hold all candidates of a point. A sphere whose radius is two cells
/// meets at most 6 × 6 rows in up to three bricks along x, and a surface about a third of them;
/// more runs are gone through in parts.
struct WarpRuns {
  static constexpr int kRoom = 96;
  std::uint32_t first[kRoom + 1];  ///< candidates before the run; behind the last one their number
  std::uint32_t shift[kRoom];      ///< from the number of a candidate to its place in grid.points
};

/// The points nearer to p than a radius.
class WarpNeighbours {
 public:
  __device__ WarpNeighbours(const NeighbourGridView& grid, WarpRuns& runs, const Vec3f& p,
                            float radius_m)
      : grid_(grid), runs_(runs), p_(p), radius_sq_(radius_m * radius_m) {}

  /// Calls f(place in grid.points, near) on all lanes together until all candidates had their turn,
  /// in the order of for_each_run; `near` says whether the lane's candidate is a neighbour.
  template <class Function>
  __device__ void for_each_batch(Function&& f) {
    if (complete_) return go_through_runs(f);
    const CellBox box = cells_within(*grid_.frame, p_, radius_sq_);
    const BrickRange bricks(*grid_.frame, box);
    bool first_part = true;
    count_ = 0;
    for (int begin = 0; begin < bricks.count; begin += kWarp) {
      const int i = begin + lane_index();
      Vec3i at;
      const std::int32_t brick = i < bricks.count ? bricks.find(grid_, i, at) : -1;
      for (unsigned left = __ballot_sync(kAllLanes, brick >= 0); left != 0;) {
        if (count_ + kWarp > WarpRuns::kRoom) {
          add_up();
          go_through_runs(f);
          count_ = 0;
          first_part = false;
        }
        const int one = take_first(left);
        const int other = left != 0 ? take_first(left) : -1;
        add_rows(box, brick, at, lane_index() < kRowsOfBrick ? one : other);
      }
    }
    add_up();
    complete_ = first_part;
    go_through_runs(f);
  }

  /// Calls f(place) for every neighbour, each on one lane; which one depends on the neighbourhood
  /// alone.
  template <class Function>
  __device__ void visit(Function&& f) {
    for_each_batch([&](std::uint32_t place, bool near) {
      if (near) f(place);
    });
  }

 private:
  static constexpr int kRowsOfBrick = kBrickEdge * kBrickEdge;
  static_assert(2 * kRowsOfBrick == kWarp, "a warp looks through two bricks at once");

  __device__ static int take_first(unsigned& lanes) {
    const int lane = __ffs(static_cast<int>(lanes)) - 1;
    lanes &= lanes - 1;
    return lane;
  }

  /// Each lane adds one row of the brick that lane `source` found; none if that is -1.
  __device__ void add_rows(const CellBox& box, std::int32_t brick, const Vec3i& at, int source) {
    const int from = max_of(source, 0);
    const std::int32_t its_brick = __shfl_sync(kAllLanes, brick, from);
    const Vec3i its_place{__shfl_sync(kAllLanes, at.x, from), __shfl_sync(kAllLanes, at.y, from),
                          __shfl_sync(kAllLanes, at.z, from)};
    const CellBox cells = box_in_brick(its_place, box);
    const int y = lane_index() % kBrickEdge;
    const int z = lane_index() % kRowsOfBrick / kBrickEdge;
    PointRun run;
    if (source >= 0 && cells.low.x <= cells.high.x && y >= cells.low.y && y <= cells.high.y &&
        z >= cells.low.z && z <= cells.high.z) {
      run = run_in_row(grid_, grid_.bricks[its_brick], cells.low.x, cells.high.x, y, z);
    }
    const bool some = run.begin != run.end;
    const unsigned all = __ballot_sync(kAllLanes, some);
    if (some) {
      const int to = count_ + __popc(all & lanes_before());
      runs_.first[to] = run.end - run.begin;
      runs_.shift[to] = run.begin;
    }
    count_ += __popc(all);
  }

  /// From lengths to sums.
  __device__ void add_up() {
    const int lane = lane_index();
    __syncwarp();
    total_ = 0;
    for (int begin = 0; begin < count_; begin += kWarp) {
      const int i = begin + lane;
      const std::uint32_t length = i < count_ ? runs_.first[i] : 0;
      std::uint32_t sum = length;
      for (int step = 1; step < kWarp; step *= 2) {
        const std::uint32_t lower = __shfl_up_sync(kAllLanes, sum, static_cast<unsigned>(step));
        if (lane >= step) sum += lower;
      }
      const std::uint32_t before = total_ + sum - length;
      if (i < count_) {
        runs_.first[i] = before;
        runs_.shift[i] -= before;
      }
      total_ += __shfl_sync(kAllLanes, sum, kWarp - 1);
    }
    if (lane == 0) runs_.first[count_] = total_;
    __syncwarp();
  }

  template <class Function>
  __device__ void go_through_runs(Function& f) {
    int run = 0;
    for (std::uint32_t begin = 0; begin < total_; begin += kWarp) {
      const std::uint32_t i = begin + static_cast<std::uint32_t>(lane_index());
      std::uint32_t place = 0;
      bool near = false;
      if (i < total_) {
        while (i >= runs_.first[run + 1]) ++run;
        place = i + runs_.shift[run];
        near = squared_distance(grid_.points[place].position, p_) < radius_sq_;
      }
      f(place, near);
    }
    __syncwarp();
  }

  const NeighbourGridView& grid_;
  WarpRuns& runs_;
  const Vec3f p_;
  const float radius_sq_;
  int count_ = 0;            ///< of runs
  std::uint32_t total_ = 0;  ///< of candidates
  bool complete_ = false;    ///< the runs hold all candidates
};

/// A list of neighbours in shared memory, which empties itself when it is full.
template <int kRoom>
class WarpList {
 public:
  __device__ explicit WarpList(std::uint32_t* places) : places_(places) {}

  /// Lists the places of the lanes that `take`; calls full() before there is no room.
  template <class Full>
  __device__ void add(std::uint32_t place, bool take, Full&& full) {
    const unsigned taken = __ballot_sync(kAllLanes, take);
    if (size_ + __popc(taken) > kRoom) {
      full();
      size_ = 0;
    }
    if (take) places_[size_ + __popc(taken & lanes_before())] = place;
    size_ += __popc(taken);
  }

  __device__ int size() const { return size_; }
  __device__ void clear() { size_ = 0; }

  /// Calls f(place) for each, on one lane. Lanes take places far from each other.
  template <class Function>
  __device__ void visit(Function&& f) const {
    __syncwarp();
    int share = (size_ + kWarp - 1) / kWarp;
    if (share % 4 == 0) ++share;  // lanes that read from few banks
    const int begin = lane_index() * share;
    const int end = min_of(begin + share, size_);
    for (int i = begin; i < end; ++i) f(places_[i]);
    __syncwarp();
  }

 private:
  std::uint32_t* places_;
  int size_ = 0;
};

}  // namespace sextant::detail
