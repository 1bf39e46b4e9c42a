// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each.h"
#include "sextant/descriptor/local_frame_math.h"
#include "sextant/geometry/neighbours_warp.cuh"

// A frame needs two visits to all neighbours, by a warp, and between them an eigen decomposition in
// double precision: one thread computes it as fast as a warp would, so it has a kernel of its own.

namespace sextant::detail {

namespace {

constexpr int kWarpsPerBlock = 4;
constexpr int kBlocks = 8;  // on a multiprocessor: half of its warps
constexpr int kListRoom = 256;

__global__ void __launch_bounds__(kWarp* kWarpsPerBlock, kBlocks)
    sum_neighbours(const LocalFrameJob job, FrameSums* sums) {
  __shared__ WarpRuns runs[kWarpsPerBlock];
  __shared__ std::uint32_t lists[kWarpsPerBlock][kListRoom];
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const std::int64_t query = std::int64_t{blockIdx.x} * kWarpsPerBlock + warp;
  if (query >= job.count) return;
  const Vec3f p = job.queries[query].position;
  FrameSums sum;
  if (is_finite(p)) {
    WarpNeighbours neighbours(job.grid, runs[warp], p, job.radius_m);
    WarpList<kListRoom> list(lists[warp]);
    const auto add_listed = [&] {
      list.visit([&](std::uint32_t place) {
        const Vec3f q = job.grid.points[place].position;
        add_point(sum, q - p, squared_distance(q, p), job.radius_m);
      });
    };
    neighbours.for_each_batch(
        [&](std::uint32_t place, bool near) { list.add(place, near, add_listed); });
    add_listed();
    sum.squares = {warp_sum(sum.squares.xx), warp_sum(sum.squares.xy), warp_sum(sum.squares.xz),
                   warp_sum(sum.squares.yy), warp_sum(sum.squares.yz), warp_sum(sum.squares.zz)};
    sum.weight = warp_sum(sum.weight);
    sum.kept = warp_sum(sum.kept);
  }
  if (lane_index() == 0) sums[query] = sum;
}

struct FindAxes {
  const FrameSums* sums;
  PrincipalAxes* axes;
  SEXTANT_HD void operator()(std::int64_t i) const { axes[i] = principal_axes(sums[i]); }
};

/// Bits of a squared distance above the caller's index: the order of ties.
__device__ std::int64_t tie_key(float distance_sq, std::int32_t index) {
  return static_cast<std::int64_t>(__float_as_int(distance_sq)) << 32 | index;
}

/// The tie rule: whether the majority of the five neighbours in the middle of the order of
/// distances lies on the positive side. Selected by counting; rare, so its cost does not matter.
__device__ __noinline__ bool positive_in_the_middle(WarpNeighbours& neighbours,
                                                    const LocalFrameJob& job, const Vec3f& p,
                                                    int kept, const Vec3d& axis) {
  const NeighbourGridView& grid = job.grid;
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
  int high = __float_as_int(job.radius_m * job.radius_m);
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

/// Whether v · axis >= 0, decided in double precision where float cannot tell: four roundings of
/// 6e-8 move the sum by less than a millionth of |x| + |y| + |z|.
__device__ bool on_positive_side(const Vec3f& v, const Vec3d& axis, const Vec3f& rounded) {
  const float side = dot(v, rounded);
  const float doubt = 1e-6f * (std::abs(v.x) + std::abs(v.y) + std::abs(v.z));
  return std::abs(side) > doubt ? side > 0.0f : along(v, axis) >= 0;
}

__global__ void __launch_bounds__(kWarp* kWarpsPerBlock, kBlocks)
    point_axes(const LocalFrameJob job, const FrameSums* sums, const PrincipalAxes* all_axes) {
  __shared__ WarpRuns runs[kWarpsPerBlock];
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const std::int64_t query = std::int64_t{blockIdx.x} * kWarpsPerBlock + warp;
  if (query >= job.count) return;
  const GridPoint keypoint = job.queries[query];
  const PrincipalAxes axes = all_axes[query];
  LocalFrame frame;
  if (axes.valid) {
    const Vec3f p = keypoint.position;
    const Vec3f rounded_x = cast<float>(axes.x);
    const Vec3f rounded_z = cast<float>(axes.z);
    WarpNeighbours neighbours(job.grid, runs[warp], p, job.radius_m);
    int x_side = 0;
    int z_side = 0;
    neighbours.visit([&](std::uint32_t place) {
      const Vec3f v = job.grid.points[place].position - p;
      if (v == Vec3f{}) return;
      x_side += on_positive_side(v, axes.x, rounded_x);
      z_side += on_positive_side(v, axes.z, rounded_z);
    });
    const int kept = sums[query].kept;
    const auto turned = [&](int side, const Vec3d& axis) {
      const int more = majority(warp_sum(side), kept);
      return more == 0 ? !positive_in_the_middle(neighbours, job, p, kept, axis) : more < 0;
    };
    const bool turn_x = turned(x_side, axes.x);
    const bool turn_z = turned(z_side, axes.z);
    frame = frame_of(turn_x ? -axes.x : axes.x, turn_z ? -axes.z : axes.z);
  }
  if (lane_index() == 0) store_frame(frame, job.frames + 3 * std::int64_t{keypoint.index});
}

}  // namespace

void compute_local_frames_cuda(const Context& context, const LocalFrameJob& job) {
  if (job.count == 0) return;
  const auto blocks = static_cast<unsigned>((job.count + kWarpsPerBlock - 1) / kWarpsPerBlock);
  const cudaStream_t stream = cuda_stream(context);
  Buffer<FrameSums> sums(context, job.count);
  Buffer<PrincipalAxes> axes(context, job.count);
  sum_neighbours<<<blocks, kWarp * kWarpsPerBlock, 0, stream>>>(job, sums.data());
  check_launch("sum_neighbours");
  for_each(context, job.count, FindAxes{sums.data(), axes.data()});
  point_axes<<<blocks, kWarp * kWarpsPerBlock, 0, stream>>>(job, sums.data(), axes.data());
  check_launch("point_axes");
}

}  // namespace sextant::detail
