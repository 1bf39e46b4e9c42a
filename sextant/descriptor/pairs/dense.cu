// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA gives the bits of the CPU.
// Searches the partners of every pixel.
#include "sextant/core/cuda/warp.cuh"
#include "sextant/core/cuda_check.h"
#include "sextant/descriptor/pairs/patches_math.h"

namespace sextant::detail::pairs {

namespace {

constexpr int kBlockThreads = 128;  // small blocks: what a patch costs differs a lot
constexpr int kBlockWarps = kBlockThreads / kWarp;

__device__ const PatchSteps kSteps{};

struct Pixel {
  Vec3f p{NAN, NAN, NAN};
  Vec3f n;
  bool pairs = false;

  /// Pixels outside the image pair with nothing.
  __device__ Pixel(const PairsJob& job, int u, int v) {
    if (!job.points.contains(u, v)) return;
    p = job.points(u, v);
    n = job.normals(u, v);
    pairs = can_pair(p, n);
  }
};

/// Four neighbouring lanes have the rows of one patch.
template <class Combine>
__device__ Vec3f over_rows(Vec3f value, const Combine& combine) {
  for (int step = 1; step < kPatchEdge_px; step *= 2) {
    const Vec3f other{__shfl_xor_sync(kAllLanes, value.x, step),
                      __shfl_xor_sync(kAllLanes, value.y, step),
                      __shfl_xor_sync(kAllLanes, value.z, step)};
    value = combine(value, other);
  }
  return value;
}

__global__ void __launch_bounds__(kBlockThreads)
    patch_bounds_kernel(const PairsJob job, const PairPatchGrid grid) {
  const int thread = static_cast<int>(blockIdx.x) * kBlockThreads + static_cast<int>(threadIdx.x);
  const int number = thread / kPatchEdge_px;
  const int row = thread % kPatchEdge_px;
  const int left = number % grid.across * kPatchEdge_px;
  const int v =
      number / grid.across * kPatchEdge_px + row;  // below the image behind the last patch
  PatchBoxes boxes;
  Vec3f normals[kPatchEdge_px];
  bool pairs[kPatchEdge_px];
#pragma unroll
  for (int k = 0; k < kPatchEdge_px; ++k) {
    const Pixel pixel(job, left + k, v);
    normals[k] = pixel.n;
    pairs[k] = pixel.pairs;
    if (pixel.pairs) boxes.add(pixel.p, pixel.n);
  }
  boxes.point_least = over_rows(boxes.point_least, least_of);
  boxes.point_most = over_rows(boxes.point_most, most_of);
  boxes.normal_least = over_rows(boxes.normal_least, least_of);
  boxes.normal_most = over_rows(boxes.normal_most, most_of);
  PatchBounds bounds(boxes);
#pragma unroll
  for (int k = 0; k < kPatchEdge_px; ++k) {
    if (pairs[k]) bounds.include(normals[k]);
  }
  for (int step = 1; step < kPatchEdge_px; step *= 2) {
    bounds.half_length_sq =
        std::fmin(bounds.half_length_sq, __shfl_xor_sync(kAllLanes, bounds.half_length_sq, step));
    bounds.spread = std::fmax(bounds.spread, __shfl_xor_sync(kAllLanes, bounds.spread, step));
  }
  if (row == 0 && number < grid.size()) job.patches[number] = bounds;
}

/// The pixels that may be partners of those of a patch, for one warp.
struct Candidates {
  float4 points[kWarp];   ///< and the pixel's index
  float4 normals[kWarp];  ///< and where it is from the first pixel of the patch, see place_of
};

/// Columns and rows are at most 20 from the patch: a byte each.
__device__ std::int32_t place_of(int across, int down) { return (down + 64) << 8 | (across + 64); }

/// A warp searches for the 16 pixels of a patch. Both its halves have them, and share the
/// candidates; at the end they put their partners together.
struct WarpSearch {
  const PairsJob& job;
  PairTest test;
  int lane, half;
  int u, v;  ///< of the patch's first pixel
  PatchBounds own;
  Pixel pixel;
  Partners partners;
  float limit_sq;  ///< three partners are known within it; 0 where there is no pixel
  float worst_sq;  ///< the largest of the warp

  __device__ WarpSearch(const PairsJob& search, const PatchBounds& bounds, int left, int top,
                        int number_of_lane)
      : job(search),
        test(search.limits, search.statistics->resolution_m),
        lane(number_of_lane),
        half(number_of_lane / kPatchPixels),
        u(left),
        v(top),
        own(bounds),
        pixel(search, left + column(), top + row()),
        partners(test),
        limit_sq(pixel.pairs ? test.most_sq : 0.0f) {
    share_limits();
  }
  __device__ int column() const { return lane % kPatchEdge_px; }
  __device__ int row() const { return lane % kPatchPixels / kPatchEdge_px; }

  /// What one half has found limits the other.
  __device__ void share_limits() {
    limit_sq = min_of(limit_sq, __shfl_xor_sync(kAllLanes, limit_sq, kPatchPixels));
    worst_sq = limit_sq;
    for (int step = 1; step < kPatchPixels; step *= 2) {
      worst_sq = max_of(worst_sq, __shfl_xor_sync(kAllLanes, worst_sq, step));
    }
  }

  __device__ void offer(float distance_sq, float turn, float index, float place_bits) {
    if (!(distance_sq >= test.least_sq && distance_sq <= limit_sq)) return;
    if (!(turn < test.cos_angle && turn >= kLeastCosine)) return;
    const int place = __float_as_int(place_bits);
    const int across = (place & 255) - 64 - column();
    const int down = (place >> 8) - 64 - row();
    const int window = job.window_px;
    if (across < -window || across > window || down < -window || down > window) return;
    partners.insert(distance_sq, __float_as_int(index));
    limit_sq = min_of(limit_sq, partners.distance_sq[2]);
  }

  /// Looks at the candidates of two patches, so many pixels across and down from this one; a lane
  /// knows the patch of its half.
  __device__ void visit(bool there, int across, int down, Candidates& staged) {
    across += column();
    down += row();
    const int window = job.window_px;
    const int beyond = kPatchEdge_px - 1 + window;
    // What is outside the image or outside the windows is NaN: nothing compares with it.
    const bool seen =
        there && across >= -window && across <= beyond && down >= -window && down <= beyond;
    const Pixel other(job, seen ? u + across : -1, v + down);
    const PatchBounds bounds(other.p, other.n);
    const bool near = own.gap_sq(bounds) <= worst_sq;
    const bool turned = !own.too_alike(bounds, test.cos_angle);
    const bool kept = other.pairs & near & turned;
    const unsigned all = __ballot_sync(kAllLanes, kept);
    if (all == 0) return;
    const int count = __popc(all);
    // Those that are not kept fill the places behind with NaN.
    const unsigned below = lanes_before();
    const int slot = kept ? __popc(all & below) : count + __popc(~all & below);
    staged.points[slot] = make_float4(kept ? other.p.x : NAN, other.p.y, other.p.z,
                                      __int_as_float((v + down) * job.points.width + u + across));
    staged.normals[slot] =
        make_float4(other.n.x, other.n.y, other.n.z, __int_as_float(place_of(across, down)));
    __syncwarp();
    // Each half takes two of four, so that their arithmetic overlaps.
    for (int i = half; i < count + half; i += 4) {
      const float4 q0 = staged.points[i], q1 = staged.points[i + 2];
      const float4 m0 = staged.normals[i], m1 = staged.normals[i + 2];
      const float distance0_sq = squared_distance(pixel.p, {q0.x, q0.y, q0.z});
      const float distance1_sq = squared_distance(pixel.p, {q1.x, q1.y, q1.z});
      const float turn0 = dot(pixel.n, {m0.x, m0.y, m0.z});
      const float turn1 = dot(pixel.n, {m1.x, m1.y, m1.z});
      offer(distance0_sq, turn0, q0.w, m0.w);
      offer(distance1_sq, turn1, q1.w, m1.w);
    }
    __syncwarp();
    share_limits();
  }

  /// The candidates of the two halves are different ones.
  __device__ void join_halves() {
    float distance_sq[kPartnersPerPoint];
    std::int32_t index[kPartnersPerPoint];
#pragma unroll
    for (int k = 0; k < kPartnersPerPoint; ++k) {
      distance_sq[k] = __shfl_xor_sync(kAllLanes, partners.distance_sq[k], kPatchPixels);
      index[k] = __shfl_xor_sync(kAllLanes, partners.index[k], kPatchPixels);
    }
#pragma unroll
    for (int k = 0; k < kPartnersPerPoint; ++k) partners.insert(distance_sq[k], index[k]);
  }
};

__global__ void __launch_bounds__(kBlockThreads)
    dense_partners_kernel(const PairsJob job, const PairPatchGrid grid) {
  __shared__ Candidates staged[kBlockWarps];
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int lane = lane_index();
  const int number = static_cast<int>(blockIdx.x) * kBlockWarps + warp;
  if (number >= grid.size()) return;
  const int column = number % grid.across;
  const int row = number / grid.across;
  WarpSearch search(job, job.patches[number], column * kPatchEdge_px, row * kPatchEdge_px, lane);
  for (int first = 0; first < PatchSteps::kCount; first += kWarp) {
    // Each lane looks at one patch. Near ones come first: what they have leaves far ones out.
    const int at = min_of(first + lane, PatchSteps::kCount - 1);
    const int across = kSteps.across[at];
    const int down = kSteps.down[at];
    float gap_sq = INFINITY;
    bool open = first + lane < PatchSteps::kCount && reaches(job.window_px, across) &&
                reaches(job.window_px, down) && grid.contains(column + across, row + down);
    if (open) {
      const PatchBounds other = job.patches[(row + down) * grid.across + column + across];
      gap_sq = search.own.gap_sq(other);
      open = !search.own.too_alike(other, search.test.cos_angle);
    }
    unsigned left = __ballot_sync(kAllLanes, open && gap_sq <= search.worst_sq);
    while (left != 0) {
      const unsigned behind = left & (left - 1);
      const unsigned mine = search.half == 0 ? left : behind;
      const int from = mine == 0 ? 0 : __ffs(static_cast<int>(mine)) - 1;
      search.visit(mine != 0, __shfl_sync(kAllLanes, across, from) * kPatchEdge_px,
                   __shfl_sync(kAllLanes, down, from) * kPatchEdge_px, staged[warp]);
      left = behind & (behind - 1) & __ballot_sync(kAllLanes, gap_sq <= search.worst_sq);
    }
  }
  search.join_halves();
  const int u = search.u + search.column();
  const int v = search.v + search.row();
  if (search.half != 0 || !job.points.contains(u, v)) return;
  search.partners.store(job.partners +
                        (std::int64_t{v} * job.points.width + u) * kPartnersPerPoint);
}

unsigned blocks_of(std::int64_t threads) {
  return static_cast<unsigned>((threads + kBlockThreads - 1) / kBlockThreads);
}

}  // namespace

void find_partners_dense_cuda(const Context& context, const PairsJob& job) {
  const PairPatchGrid grid(job.points.width, job.points.height);
  const cudaStream_t stream = cuda_stream(context);
  const std::int64_t patches = grid.size();
  patch_bounds_kernel<<<blocks_of(patches * kPatchEdge_px), kBlockThreads, 0, stream>>>(job, grid);
  check_launch("patch_bounds");
  dense_partners_kernel<<<blocks_of(patches * kWarp), kBlockThreads, 0, stream>>>(job, grid);
  check_launch("dense_partners");
}

}  // namespace sextant::detail::pairs
