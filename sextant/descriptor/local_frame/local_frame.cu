// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/context/state.h"
#include "sextant/core/for_each.h"
#include "sextant/core/simd/approx_math.h"
#include "sextant/descriptor/local_frame/block.cuh"

// A frame needs two visits to all neighbours, by a warp, and between them an eigen decomposition in
// double precision: one thread computes it as fast as a warp would, so it has a kernel of its own.

namespace sextant::detail::local_frame {

namespace {

constexpr int kTieBlocks = 8;  // for each multiprocessor, which holds four at a time

/// The sums of a lane, and later those of all lanes.
struct NeighbourSums {
  FrameSums sums;
  std::int32_t within = 0;  ///< neighbours with those left out; the same on all lanes
  std::int32_t lists = 0;   ///< that they took
};

/// Adds a neighbour that lies v away. One Newton step takes its distance from 23 to 45 bits.
__device__ void add_point(FrameSums& sums, const Vec3f& v, float distance_sq, float radius_m) {
  constexpr float kLeastSquare = 1e-37f;  // about the least normal number
  const auto inverse = static_cast<double>(approx_inverse_root(max_of(distance_sq, kLeastSquare)));
  const auto square = static_cast<double>(distance_sq);
  const double rough = square * inverse;
  const double distance = rough + (square - rough * rough) * (0.5 * inverse);
  const bool apart = !(v == Vec3f{});
  const double weight = apart ? static_cast<double>(radius_m) - distance : 0.0;
  const Vec3d at = cast<double>(v);
  const Vec3d weighted = at * weight;
  sums.squares.xx += weighted.x * at.x;
  sums.squares.xy += weighted.x * at.y;
  sums.squares.xz += weighted.x * at.z;
  sums.squares.yy += weighted.y * at.y;
  sums.squares.yz += weighted.y * at.z;
  sums.squares.zz += weighted.z * at.z;
  sums.weight += weight;
  sums.kept += apart;
}

/// Sums over the neighbours of one point.
struct SumNeighbours {
  const LocalFrameJob& job;
  NeighbourSums* to;
  neighbours::WarpList list;
  std::int64_t query = 0;
  Vec3f p;
  NeighbourSums sum;

  __device__ void begin(std::int64_t number, const GridPoint& point) {
    query = number;
    p = point.position;
    sum = {};
  }
  __device__ void add(const neighbours::HeldPoint* held, int count) {
    list.find(held, count, p, job.radius_m * job.radius_m, [&](int size) {
      // Which lane adds a neighbour depends on those before it alone.
      for (int i = (lane_index() - sum.within) & (kWarp - 1); i < size; i += kWarp) {
        const Vec3f q = held[list.entries[i]].position;
        add_point(sum.sums, q - p, squared_distance(q, p), job.radius_m);
      }
      sum.within += size;
      ++sum.lists;
    });
  }
  __device__ void end() {
    FrameSums& sums = sum.sums;
    sums.squares = {warp_sum(sums.squares.xx), warp_sum(sums.squares.xy),
                    warp_sum(sums.squares.xz), warp_sum(sums.squares.yy),
                    warp_sum(sums.squares.yz), warp_sum(sums.squares.zz)};
    sums.weight = warp_sum(sums.weight);
    sums.kept = warp_sum(sums.kept);
    if (lane_index() == 0) to[query] = sum;
  }
};

__global__ void __launch_bounds__(neighbours::kGroupThreads, neighbours::kGroupBlocks)
    sum_neighbours(const LocalFrameJob job, NeighbourSums* sums) {
  __shared__ neighbours::GroupCandidates candidates;
  __shared__ std::uint16_t lists[neighbours::kGroupWarps][neighbours::WarpList::kSize];
  SumNeighbours work{job, sums, {lists[threadIdx.x / kWarp]}};
  neighbours::GroupSearch(job.grid, job.radius_m, candidates).run(job.queries, job.count, work);
}

struct FindAxes {
  const NeighbourSums* sums;
  KeypointAxes* axes;
  SEXTANT_HD void operator()(std::int64_t i) const {
    const NeighbourSums& of = sums[i];
    axes[i] = {principal_axes(of.sums), of.sums.kept, of.within, of.lists == 1};
  }
};

/// A keypoint with a tied axis that is not `listed`. Ties are listed in any order, as each has its
/// own result.
struct Tie {
  std::int32_t query;
  std::int32_t more_x, more_z;  ///< as majority() has them
};

/// Gives the axes of one keypoint their signs.
struct PointAxes {
  const LocalFrameJob& job;
  const KeypointAxes* axes;
  bool listed_too;
  std::int32_t* tie_count;
  Tie* ties;
  neighbours::WarpList list;
  std::int64_t query = 0;
  GridPoint point;
  KeypointAxes known;
  CountedSides sides;
  LocalFrame frame;

  __device__ void begin(std::int64_t number, const GridPoint& keypoint) {
    query = number;
    point = keypoint;
    known = axes[number];
    sides = {};
    frame = {};
  }
  __device__ void add(const neighbours::HeldPoint* held, int count) {
    if (!known.axes.valid || (known.listed && !listed_too)) return;
    list.find(held, count, point.position, job.radius_m * job.radius_m, [&](int size) {
      const ListedNeighbours around{
          {job.grid.points, point.position, job.radius_m}, held, list.entries, size};
      if (known.listed) {
        frame = frame_from_list(around, known);
      } else {
        sides.count(around, known.axes);
      }
    });
  }
  __device__ void end() {
    if (known.listed && !listed_too) return;
    if (!known.listed && known.axes.valid) {
      const int more_x = majority(warp_sum(sides.x), known.kept);
      const int more_z = majority(warp_sum(sides.z), known.kept);
      if (more_x == 0 || more_z == 0) return put_off(more_x, more_z);
      const PrincipalAxes& of = known.axes;
      frame = frame_of(more_x < 0 ? -of.x : of.x, more_z < 0 ? -of.z : of.z);
    }
    if (lane_index() == 0) store_frame(frame, job.frames + 3 * std::int64_t{point.index});
  }

 private:
  __device__ void put_off(int more_x, int more_z) const {
    if (lane_index() != 0) return;
    ties[atomicAdd(tie_count, 1)] = {static_cast<std::int32_t>(query), more_x, more_z};
  }
};

/// Whether the block has a keypoint that is not listed.
__device__ bool has_unlisted(const LocalFrameJob& job, const KeypointAxes* axes) {
  const std::int64_t i = std::int64_t{blockIdx.x} * neighbours::kGroupPoints + threadIdx.x;
  return __syncthreads_or(threadIdx.x < neighbours::kGroupPoints && i < job.count &&
                          !axes[i].listed) != 0;
}

__global__ void __launch_bounds__(neighbours::kGroupThreads, neighbours::kGroupBlocks)
    point_axes(const LocalFrameJob job, const KeypointAxes* axes, bool listed_too,
               std::int32_t* tie_count, Tie* ties) {
  __shared__ neighbours::GroupCandidates candidates;
  __shared__ std::uint16_t lists[neighbours::kGroupWarps][neighbours::WarpList::kSize];
  if (!listed_too && !has_unlisted(job, axes)) return;
  PointAxes work{job, axes, listed_too, tie_count, ties, {lists[threadIdx.x / kWarp]}};
  neighbours::GroupSearch(job.grid, job.radius_m, candidates).run(job.queries, job.count, work);
}

/// The neighbours of a keypoint that is not listed. When there is no room for them, they are looked
/// for anew at each visit.
struct ManyNeighbours : Surroundings {
  static constexpr int kRoom = 2048;  // 16 KiB are left of the 48 that a block has
  struct Kept {
    float distance_sq;
    std::uint32_t place;
  };
  const NeighbourGridView& grid;
  Kept* kept;
  int size = 0;

  /// Keeps the lanes' points.
  __device__ void add(const neighbours::HeldPoint& q, bool is_one) {
    const bool take = is_one && !(q.position == p);
    const unsigned taken = __ballot_sync(kAllLanes, take);
    const int to = size + __popc(taken & lanes_before());
    if (take && to < kRoom) kept[to] = {squared_distance(q.position, p), q.place};
    size += __popc(taken);
  }
  template <class Function>
  __device__ void visit(Function&& f) const {
    if (size <= kRoom) {
      for (int i = lane_index(); i < size; i += kWarp) f(kept[i].distance_sq, kept[i].place);
      return;
    }
    const float radius_sq = radius_m * radius_m;
    for_each_run(grid, cells_within(*grid.frame, p, radius_sq),
                 [&](std::uint32_t begin, std::uint32_t end) {
                   for (std::uint32_t place = begin + static_cast<std::uint32_t>(lane_index());
                        place < end; place += kWarp) {
                     const Vec3f q = points[place].position;
                     const float distance_sq = squared_distance(q, p);
                     if (distance_sq < radius_sq && !(q == p)) f(distance_sq, place);
                   }
                 });
  }
};

/// Breaks one tie.
struct BreakTie {
  const LocalFrameJob& job;
  const KeypointAxes* axes;
  const Tie* ties;
  neighbours::WarpList list;
  ManyNeighbours around;
  Tie tie{};
  std::int64_t index = 0;

  __device__ void begin(std::int64_t number, const GridPoint& point) {
    tie = ties[number];
    index = point.index;
    around.p = point.position;
    around.size = 0;
  }
  __device__ void add(const neighbours::HeldPoint* held, int count) {
    list.find(held, count, around.p, job.radius_m * job.radius_m, [&](int size) {
      for (int begin = 0; begin < size; begin += kWarp) {
        const int i = begin + lane_index();
        around.add(held[list.entries[min_of(i, size - 1)]], i < size);
      }
    });
  }
  __device__ void end() {
    __syncwarp();
    const LocalFrame frame = untied_frame(around, axes[tie.query], tie.more_x, tie.more_z);
    if (lane_index() == 0) store_frame(frame, job.frames + 3 * index);
  }
};

__global__ void __launch_bounds__(neighbours::kGroupThreads)
    break_ties(const LocalFrameJob job, const KeypointAxes* axes, const std::int32_t* count,
               const Tie* ties) {
  __shared__ neighbours::GroupCandidates candidates;
  __shared__ std::uint16_t lists[neighbours::kGroupWarps][neighbours::WarpList::kSize];
  __shared__ ManyNeighbours::Kept room[ManyNeighbours::kRoom];
  BreakTie work{job,
                axes,
                ties,
                {lists[threadIdx.x / kWarp]},
                {{job.grid.points, {}, job.radius_m}, job.grid, room}};
  for (int i = static_cast<int>(blockIdx.x); i < *count; i += static_cast<int>(gridDim.x)) {
    neighbours::GroupSearch(job.grid, job.radius_m, candidates)
        .run_one(job.queries[ties[i].query], i, work);
  }
}

}  // namespace

void compute_axes_cuda(const Context& context, const LocalFrameJob& job, KeypointAxes* axes,
                       Workspace& workspace) {
  if (job.count == 0) return;
  const Workspace::Scope scope(workspace);
  const View<NeighbourSums> sums = workspace.take<NeighbourSums>(context, job.count);
  sum_neighbours<<<neighbours::group_blocks(job.count), neighbours::kGroupThreads, 0,
                   cuda_stream(context)>>>(job, sums.data);
  check_launch("sum_neighbours");
  for_each(context, job.count, FindAxes{sums.data, axes});
}

void sign_axes_cuda(const Context& context, const LocalFrameJob& job, const KeypointAxes* axes,
                    bool listed_too, Workspace& workspace) {
  if (job.count == 0) return;
  const cudaStream_t stream = cuda_stream(context);
  const Workspace::Scope scope(workspace);
  const View<Tie> ties = workspace.take<Tie>(context, job.count);
  const View<std::int32_t> tie_count = workspace.take<std::int32_t>(context, 1);
  check_cuda(cudaMemsetAsync(tie_count.data, 0, sizeof(std::int32_t), stream), "cudaMemsetAsync");
  point_axes<<<neighbours::group_blocks(job.count), neighbours::kGroupThreads, 0, stream>>>(
      job, axes, listed_too, tie_count.data, ties.data);
  check_launch("point_axes");
  const auto tie_blocks =
      static_cast<unsigned>(min_of<std::int64_t>(job.count, kTieBlocks * multiprocessors(context)));
  break_ties<<<tie_blocks, neighbours::kGroupThreads, 0, stream>>>(job, axes, tie_count.data,
                                                                   ties.data);
  check_launch("break_ties");
}

void compute_local_frames_cuda(const Context& context, const LocalFrameJob& job,
                               Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  const View<KeypointAxes> axes = workspace.take<KeypointAxes>(context, job.count);
  compute_axes_cuda(context, job, axes.data, workspace);
  sign_axes_cuda(context, job, axes.data, true, workspace);
}

}  // namespace sextant::detail::local_frame
