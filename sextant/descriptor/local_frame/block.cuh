// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/local_frame/math.h"
#include "sextant/geometry/neighbours/block.cuh"

// How axes get their signs, where a warp has listed the neighbours. For .cu files only.

namespace sextant::detail::local_frame {

/// What is known of a keypoint after a first visit to its neighbours.
struct KeypointAxes {
  PrincipalAxes axes;
  std::int32_t kept = 0;    ///< neighbours, but those at the keypoint itself
  std::int32_t within = 0;  ///< all neighbours
  bool listed = false;  ///< a warp has room for a list of them, and its block for the candidates
};

/// Fills the axes of all queries, in their order.
void compute_axes_cuda(const Context& context, const LocalFrameJob& job, KeypointAxes* axes,
                       Workspace& workspace);
/// Fills job.frames, with or without the frames of keypoints that are `listed`.
void sign_axes_cuda(const Context& context, const LocalFrameJob& job, const KeypointAxes* axes,
                    bool listed_too, Workspace& workspace);

/// Where neighbours of a point are looked for. Those that derive from it have visit(f), which calls
/// f(squared distance, place in `points`) for each neighbour, on one lane, but not for those at the
/// point itself.
struct Surroundings {
  const GridPoint* points;  ///< of the grid
  Vec3f p;
  float radius_m;
};

/// A place in the order of distances, and among equal ones of indices.
struct Edge {
  float distance_sq;
  std::int32_t index;  ///< of neighbours at just this distance, those with lower ones lie before it
  int before;          ///< neighbours
};

/// The five neighbours in the middle of that order, which decide tied axes.
template <class Around>
struct MiddleFive {
  const Around& around;
  Edge low{}, high{};

  __device__ MiddleFive(const Around& neighbours, int kept) : around(neighbours) {
    const int rank = kept / 2 - kTiePoints / 2;
    const Edge all{around.radius_m * around.radius_m, 0, kept};
    low = edge(rank, {0.0f, 0, 0}, all);
    high = edge(rank + kTiePoints, low, all);
  }

  /// Whether most of them lie on the positive side of the axis.
  __device__ bool positive(const Vec3d& axis) const {
    int positive = 0;
    around.visit([&](float distance_sq, std::uint32_t place) {
      if (is_before(low, distance_sq, place) || !is_before(high, distance_sq, place)) return;
      positive += along(around.points[place].position - around.p, axis) > 0;
    });
    return warp_sum(positive) > kTiePoints / 2;
  }

 private:
  __device__ bool is_before(const Edge& edge, float distance_sq, std::uint32_t place) const {
    if (distance_sq != edge.distance_sq) return distance_sq < edge.distance_sq;
    return around.points[place].index < edge.index;
  }
  __device__ int count_before(const Edge& edge) const {
    int count = 0;
    around.visit([&](float distance_sq, std::uint32_t place) {
      count += is_before(edge, distance_sq, place);
    });
    return warp_sum(count);
  }

  /// The edge between two others with `target` neighbours before it. Squared distances are spread
  /// evenly on a surface, so proportion finds it soon; every other step halves what is left. Where
  /// several neighbours are equally far, their indices are halved.
  __device__ Edge edge(int target, Edge from, Edge to) const {
    for (bool halve = false; from.before != target && to.before != target; halve = !halve) {
      const float share = halve ? 0.5f
                                : static_cast<float>(target - from.before) /
                                      static_cast<float>(to.before - from.before);
      const float middle = from.distance_sq + share * (to.distance_sq - from.distance_sq);
      if (!(middle > from.distance_sq && middle < to.distance_sq)) {
        if (halve) break;
        continue;
      }
      const Edge between = at(middle, 0);
      (between.before <= target ? from : to) = between;
    }
    if (to.before == target) return to;
    for (std::int32_t first = from.index, last = INT32_MAX; from.before != target;) {
      const std::int32_t middle = first + (last - first) / 2;
      from = at(from.distance_sq, middle);
      (from.before <= target ? first : last) = middle;
    }
    return from;
  }
  __device__ Edge at(float distance_sq, std::int32_t index) const {
    return {distance_sq, index, count_before({distance_sq, index, 0})};
  }
};

/// All neighbours of a point, held by its block.
struct ListedNeighbours : Surroundings {
  const neighbours::HeldPoint* held;
  const std::uint16_t* entries;
  int size;

  template <class Function>
  __device__ void visit(Function&& f) const {
    for (int i = lane_index(); i < size; i += kWarp) {
      const neighbours::HeldPoint q = held[entries[i]];
      if (!(q.position == p)) f(squared_distance(q.position, p), q.place);
    }
  }
};

/// The frame of axes whose signs are known but for those of tied ones.
template <class Around>
__device__ LocalFrame untied_frame(const Around& around, const KeypointAxes& known, int more_x,
                                   int more_z) {
  const PrincipalAxes& axes = known.axes;
  bool turn_x = more_x < 0;
  bool turn_z = more_z < 0;
  if (more_x == 0 || more_z == 0) {
    const MiddleFive<Around> middle(around, known.kept);
    if (more_x == 0) turn_x = !middle.positive(axes.x);
    if (more_z == 0) turn_z = !middle.positive(axes.z);
  }
  return frame_of(turn_x ? -axes.x : axes.x, turn_z ? -axes.z : axes.z);
}

/// How many neighbours lie on the positive sides of the axes. Each lane counts its own; the counts
/// are then added up.
struct CountedSides {
  int x = 0;
  int z = 0;

  /// Counts those in the list in float, and again in double where float cannot tell: four roundings
  /// of 6e-8 move a product by less than a millionth of |x| + |y| + |z|.
  __device__ void count(const ListedNeighbours& list, const PrincipalAxes& axes) {
    const Vec3f x_axis = cast<float>(axes.x);
    const Vec3f z_axis = cast<float>(axes.z);
    int on_x = 0;
    int on_z = 0;
    bool doubtful = false;
    for (int i = lane_index(); i < list.size; i += kWarp) {
      const Vec3f v = list.held[list.entries[i]].position - list.p;
      const float along_x = dot(v, x_axis);
      const float along_z = dot(v, z_axis);
      const float extent = std::abs(v.x) + std::abs(v.y) + std::abs(v.z);
      const float least = 1e-6f * extent;
      const bool clear = std::abs(along_x) > least && std::abs(along_z) > least;
      doubtful = doubtful || (extent > 0.0f && !clear);
      on_x += along_x > 0.0f;
      on_z += along_z > 0.0f;
    }
    if (__any_sync(kAllLanes, doubtful)) {
      on_x = on_z = 0;
      for (int i = lane_index(); i < list.size; i += kWarp) {
        const Vec3f v = list.held[list.entries[i]].position - list.p;
        if (v == Vec3f{}) continue;
        on_x += along(v, axes.x) >= 0;
        on_z += along(v, axes.z) >= 0;
      }
    }
    x += on_x;
    z += on_z;
  }
};

/// The frame of a keypoint whose neighbours are all listed.
__device__ inline LocalFrame frame_from_list(const ListedNeighbours& list,
                                             const KeypointAxes& known) {
  CountedSides sides;
  sides.count(list, known.axes);
  return untied_frame(list, known, majority(warp_sum(sides.x), known.kept),
                      majority(warp_sum(sides.z), known.kept));
}

}  // namespace sextant::detail::local_frame
