// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/warp.cuh"
#include "sextant/descriptor/local_frame_math.h"
#include "sextant/descriptor/shot_math.h"

// One warp looks after one keypoint. For .cu files only. All functions are called by all lanes of a
// warp with the same arguments, and what they return is the same on all lanes.

namespace sextant::detail {

/// Neighbours that fit in shared memory; more are looked for anew in every pass. 6 KiB a warp leave
/// seven blocks of four warps on a multiprocessor.
inline constexpr int kListRoom = 1536;
inline constexpr int kWarpsPerBlock = 4;

template <class T>
__device__ T warp_sum(T value) {
  for (int step = kWarp / 2; step > 0; step /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, step);
  }
  return value;
}

__device__ inline int lane_index() { return static_cast<int>(threadIdx.x) % kWarp; }

/// The points nearer to p than a radius, or some of them.
class WarpNeighbourhood {
 public:
  __device__ WarpNeighbourhood(const NeighbourGridView& grid, std::uint32_t* list)
      : grid_(grid), list_(list) {}

  /// Finds the neighbours and keeps them when they fit.
  __device__ void find(const Vec3f& p, float radius_m) {
    p_ = p;
    radius_sq_ = radius_m * radius_m;
    all_ = true;
    within_ = enumerate([](int) {});
    count_ = within_;
    kept_ = within_ <= kListRoom;
  }

  /// Leaves `count` of them, evenly spread over the order of the grid.
  __device__ void thin_out(int count) {
    if (count == count_) return;
    count_ = count;
    all_ = false;
    if (kept_) {
      thin_out_list();
    } else {
      enumerate([](int) {});
      kept_ = count_ <= kListRoom;
    }
  }

  __device__ int within() const { return within_; }
  __device__ int count() const { return count_; }

  /// Calls f(place in grid.points) for every neighbour, each on one lane; which one depends on the
  /// neighbourhood alone. Lanes take neighbours far from each other, which seldom vote for the same
  /// entry at once.
  template <class Function>
  __device__ void visit(Function&& f) {
    const int lane = lane_index();
    if (kept_) {
      const int share = (count_ + kWarp - 1) / kWarp | 1;  // odd: no two lanes on one bank
      const int end = min_of((lane + 1) * share, count_);
      for (int i = lane * share; i < end; ++i) f(list_[i]);
      __syncwarp();
      return;
    }
    enumerate([&](int pending) {
      for (int i = lane; i < pending; i += kWarp) f(list_[i]);
    });
  }

 private:
  /// Goes through all neighbours in the order of the grid, lists those that count and calls
  /// full(listed) when the list is full and at the end; the next ones overwrite it. Returns how
  /// many there are with those left out.
  template <class Full>
  __device__ int enumerate(Full&& full) {
    const int lane = lane_index();
    const unsigned before = (1u << lane) - 1u;
    int pending = 0;
    int seen = 0;
    __syncwarp();
    for_each_run(grid_, cells_within(*grid_.frame, p_, radius_sq_),
                 [&](std::uint32_t begin, std::uint32_t end) {
                   for (std::uint32_t first = begin; first < end; first += kWarp) {
                     const std::uint32_t place = first + static_cast<std::uint32_t>(lane);
                     bool near = false;
                     if (place < end) {
                       near = squared_distance(grid_.points[place].position, p_) < radius_sq_;
                     }
                     const unsigned all = __ballot_sync(kAllLanes, near);
                     if (all == 0) continue;
                     if (!all_) {
                       near = near && is_voter(seen + __popc(all & before), count_, within_);
                     }
                     seen += __popc(all);
                     const unsigned chosen = all_ ? all : __ballot_sync(kAllLanes, near);
                     if (pending + __popc(chosen) > kListRoom) {
                       __syncwarp();
                       full(pending);
                       __syncwarp();
                       pending = 0;
                     }
                     if (near) list_[pending + __popc(chosen & before)] = place;
                     pending += __popc(chosen);
                   }
                 });
    __syncwarp();
    full(pending);
    __syncwarp();
    return seen;
  }

  /// A value moves towards the front, past values that were read before.
  __device__ void thin_out_list() {
    const int lane = lane_index();
    for (int first = 0; first < count_; first += kWarp) {
      const int to = first + lane;
      std::uint32_t place = 0;
      if (to < count_) place = list_[place_of_voter(to, count_, within_)];
      __syncwarp();
      if (to < count_) list_[to] = place;
      __syncwarp();
    }
  }

  const NeighbourGridView grid_;
  std::uint32_t* list_;
  Vec3f p_;
  float radius_sq_ = 0;
  bool all_ = true;
  int within_ = 0;
  int count_ = 0;
  bool kept_ = false;
};

/// Bits of a squared distance above the caller's index: the order of ties.
__device__ inline std::int64_t tie_key(float distance_sq, std::int32_t index) {
  return static_cast<std::int64_t>(__float_as_int(distance_sq)) << 32 | index;
}

/// The tie rule: whether the majority of the five neighbours in the middle of the order of
/// distances lies on the positive side. Selected by counting; rare, so its cost does not matter.
__device__ inline bool positive_in_the_middle(WarpNeighbourhood& neighbours,
                                              const NeighbourGridView& grid, const Vec3f& p,
                                              float radius_m, int kept, const Vec3d& axis) {
  const int rank = kept / 2 - kTiePoints / 2;
  const auto count_up_to = [&](std::int64_t key) {
    int count = 0;
    neighbours.visit([&](std::uint32_t place) {
      const GridPoint q = grid.points[place];
      count += !(q.position == p) && tie_key(squared_distance(q.position, p), q.index) <= key;
    });
    return warp_sum(count);
  };
  // The distance that the first of the five has.
  int low = 0;
  int high = __float_as_int(radius_m * radius_m);
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (count_up_to(static_cast<std::int64_t>(middle) << 32 | 0x7fffffff) > rank) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  std::int64_t last = (static_cast<std::int64_t>(low) << 32) - 1;
  int at = count_up_to(last);
  int positive = 0;
  for (; at < rank + kTiePoints; ++at) {
    std::int64_t next = INT64_MAX;
    bool side = false;
    neighbours.visit([&](std::uint32_t place) {
      const GridPoint q = grid.points[place];
      if (q.position == p) return;
      const std::int64_t key = tie_key(squared_distance(q.position, p), q.index);
      if (key <= last || key >= next) return;
      next = key;
      side = along(q.position - p, axis) > 0;
    });
    std::int64_t least = next;
    for (int step = kWarp / 2; step > 0; step /= 2) {
      least = min_of<std::int64_t>(least, __shfl_xor_sync(kAllLanes, least, step));
    }
    const bool found = __any_sync(kAllLanes, next == least && side);
    if (at >= rank) positive += found;
    last = least;
  }
  return positive > kTiePoints / 2;
}

/// The local frame from the neighbours found within its radius.
__device__ inline LocalFrame warp_frame(WarpNeighbourhood& neighbours,
                                        const NeighbourGridView& grid, const Vec3f& p,
                                        float radius_m) {
  FrameSums sums;
  neighbours.visit([&](std::uint32_t place) {
    const Vec3f q = grid.points[place].position;
    add_point(sums, q - p, squared_distance(q, p), radius_m);
  });
  sums.squares = {warp_sum(sums.squares.xx), warp_sum(sums.squares.xy), warp_sum(sums.squares.xz),
                  warp_sum(sums.squares.yy), warp_sum(sums.squares.yz), warp_sum(sums.squares.zz)};
  sums.weight = warp_sum(sums.weight);
  sums.kept = warp_sum(sums.kept);
  PrincipalAxes axes = principal_axes(sums);
  if (!axes.valid) return {};
  int x_side = 0;
  int z_side = 0;
  neighbours.visit([&](std::uint32_t place) {
    const Vec3f v = grid.points[place].position - p;
    if (v == Vec3f{}) return;
    x_side += along(v, axes.x) >= 0;
    z_side += along(v, axes.z) >= 0;
  });
  const auto turned = [&](int side, const Vec3d& axis) {
    const int more = majority(warp_sum(side), sums.kept);
    if (more == 0) {
      return !positive_in_the_middle(neighbours, grid, p, radius_m, sums.kept, axis);
    }
    return more < 0;
  };
  const bool turn_x = turned(x_side, axes.x);
  const bool turn_z = turned(z_side, axes.z);
  return frame_of(turn_x ? -axes.x : axes.x, turn_z ? -axes.z : axes.z);
}

}  // namespace sextant::detail
