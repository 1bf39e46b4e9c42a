// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA gives the bits of the CPU.
#include <bit>
#include <utility>

#include "sextant/core/context/state.h"
#include "sextant/core/cuda/warp.cuh"
#include "sextant/core/scan.h"
#include "sextant/core/sort.h"
#include "sextant/surface/segment/run.h"

namespace sextant::detail::segment {

namespace {

struct FlattenPoint {
  SegmentState s;
  SEXTANT_HD void operator()(std::int64_t i) const {
    const std::int32_t at = static_cast<std::int32_t>(i);
    if (load_parent(s.parent, at) < 0) return;
    store_parent(s.parent, at, root_of(s.parent, at));
  }
};

struct ClearCount {
  SegmentState s;
  SEXTANT_HD void operator()(std::int64_t i) const { s.counts[i] = 0; }
};

/// Counts the points of every root. Sums of integers do not depend on the order.
__global__ void __launch_bounds__(kForEachBlock) count_points_kernel(const SegmentState s) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kForEachBlock + threadIdx.x;
  if (i >= s.n || s.parent[i] < 0) return;
  // Neighbours mostly count at the same place: one of them adds for all.
  const std::int32_t at = s.parent[i];
  const unsigned same = __match_any_sync(__activemask(), at);
  const int lane = static_cast<int>(threadIdx.x % 32);
  if (__ffs(static_cast<int>(same)) - 1 == lane) atomicAdd(s.counts + at, __popc(same));
}

/// The points of small regions are free to join another.
struct StartSource {
  SegmentState s;
  int min_points;
  SEXTANT_HD void operator()(std::int64_t i) const {
    const bool keeps = s.parent[i] >= 0 && s.counts[s.parent[i]] >= min_points;
    s.source[i] = keeps ? static_cast<std::int32_t>(i) : -1;
  }
};

template <class Surface>
struct AttachPoint {
  Surface surface;
  SegmentState s;
  SEXTANT_HD void operator()(std::int64_t i) const {
    const std::int32_t before = s.source_before[i];
    const bool free = before < 0 && s.flags[i] != kNoPoint;
    s.source[i] = free ? nearest_source(surface, s.source_before, i) : before;
  }
};

/// Keys that bring the points of a region together, those of none at the end.
struct KeyPoint {
  SegmentState s;
  SEXTANT_HD void operator()(std::int64_t i) const {
    const std::int32_t root = s.current_root(i);
    s.region[i] = root;
    s.keys[i] = static_cast<std::uint32_t>(root >= 0 ? root : s.n);
    s.order[i] = static_cast<std::uint32_t>(i);
  }
};

/// 1 where a region begins in the order.
struct FindHead {
  SegmentState s;
  SEXTANT_HD void operator()(std::int64_t j) const {
    const bool in_region = s.keys[j] < static_cast<std::uint32_t>(s.n);
    s.counts[j] = in_region && (j == 0 || s.keys[j] != s.keys[j - 1]) ? 1 : 0;
  }
};

struct PlaceRegion {
  SegmentState s;
  SEXTANT_HD void operator()(std::int64_t j) const {
    const std::uint32_t none = static_cast<std::uint32_t>(s.n);
    const bool in_region = s.keys[j] < none;
    const std::int32_t at = static_cast<std::int32_t>(j);
    if (s.counts[j] == 1) {
      const std::int32_t r = s.ranks[j];
      s.region_first[r] = at;
      s.region_root[r] = static_cast<std::int32_t>(s.keys[j]);
      s.region_of_root[s.keys[j]] = r;
    }
    if (!in_region && (j == 0 || s.keys[j - 1] < none)) s.region_first[s.regions()] = at;
    if (in_region && at == s.n - 1) s.region_first[s.regions()] = s.n;
  }
};

/// Until here `region` holds roots.
struct NameRegion {
  SegmentState s;
  SEXTANT_HD void operator()(std::int64_t i) const {
    const std::int32_t root = s.region[i];
    if (root >= 0) s.region[i] = s.region_of_root[root];
  }
};

struct ClearRegionSlot {
  SegmentState s;
  SEXTANT_HD void operator()(std::int64_t slot) const { s.slot_region[slot] = -1; }
};
struct PlaceSlots {
  SegmentState s;
  SEXTANT_HD void operator()(std::int64_t region) const {
    const std::int32_t r = static_cast<std::int32_t>(region);
    if (r >= s.regions()) return;
    for (std::int32_t k = 0; k < slices_of(s, r); ++k) s.slot_region[first_slot(s, r) + k] = r;
  }
};

struct RankRegion {
  SegmentState s;
  SEXTANT_HD void operator()(std::int64_t region) const {
    const std::int32_t r = static_cast<std::int32_t>(region);
    s.ranked[r] = static_cast<std::uint32_t>(r);
    s.ranking[r] = ranking_of(s, r);
  }
};

constexpr int kJoinThreads = 1024;

/// One block adds the sums of all patches that join others: their list is made in the order of
/// their roots, and every target adds its own in that order, as the CPU does.
template <int kTerms>
__global__ void __launch_bounds__(kJoinThreads)
    add_joining_kernel(const PatchState s, const int round) {
  __shared__ int of_warp[kJoinThreads / 32];
  __shared__ int listed;
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32, warp = thread / 32;
  if (thread == 0) listed = 0;
  for (int first = 0; first < s.cells; first += kJoinThreads) {
    const int cell = first + thread;
    const bool joins = cell < s.cells && s.target[cell] >= 0;
    const unsigned ballot = __ballot_sync(kAllLanes, joins);
    if (lane == 0) of_warp[warp] = __popc(ballot);
    __syncthreads();
    int before = listed;
    for (int w = 0; w < warp; ++w) before += of_warp[w];
    if (joins) {
      const int place = before + __popc(ballot & ((1u << lane) - 1u));
      s.joining[place] = cell;
      s.joined[place] = s.target[cell];
    }
    __syncthreads();
    if (thread == kJoinThreads - 1) listed = before + of_warp[warp];
    __syncthreads();
  }
  const int count = listed;
  // What joins is moved to the target's origin by all threads at once.
  for (int k = thread; k < count; k += kJoinThreads) {
    const std::int32_t cell = s.joining[k];
    const PatchSums& to = s.sums[s.joined[k]];
    s.sums[cell] = shifted(s.sums[cell], to.x, to.y, to.d);
    s.root[cell] = s.joined[k];
  }
  __syncthreads();
  // The first of a target's list adds for it.
  for (int k = thread; k < count; k += kJoinThreads) {
    const std::int32_t target = s.joined[k];
    bool is_first = true;
    for (int j = 0; j < k && is_first; ++j) is_first = s.joined[j] != target;
    if (!is_first) continue;
    PatchSums sums = s.sums[target];
    for (int j = k; j < count; ++j) {
      if (s.joined[j] == target) add_sums(sums, s.sums[s.joining[j]]);
    }
    s.sums[target] = sums;
    finish_joined<kTerms>(s, target, round);
  }
}

constexpr int kSliceThreads = 128;  // 16 points each in a full slice

/// Each block takes a slice: its threads add up their points, then its warps and the block add up
/// along a fixed tree.
template <class Step>
__global__ void __launch_bounds__(kSliceThreads)
    sum_slices_kernel(const Step step, const SegmentState s) {
  using Sums = typename Step::Sums;
  constexpr int kSums = sizeof(Sums) / sizeof(double);
  constexpr int kWarps = kSliceThreads / 32;
  static_assert(kSums <= kSliceThreads);
  __shared__ double of_warp[kWarps][kSums];
  for (int slot = static_cast<int>(blockIdx.x); slot < s.slots; slot += gridDim.x) {
    const std::int32_t r = s.slot_region[slot];
    if (r < 0 || !step.wanted(r)) continue;  // the same for the whole block
    Sums own;
    const auto region = step.region(r);
    const SliceRange range = slice_range(s, slot, r);
    for (std::int32_t j = range.begin + static_cast<std::int32_t>(threadIdx.x); j < range.end;
         j += kSliceThreads) {
      step.add(region, static_cast<std::int32_t>(s.order[j]), own);
    }
    const double* sums = reinterpret_cast<const double*>(&own);
#pragma unroll
    for (int k = 0; k < kSums; ++k) {
      double value = sums[k];
      for (int stride = 16; stride > 0; stride /= 2) {
        value += __shfl_down_sync(kAllLanes, value, stride);
      }
      if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32][k] = value;
    }
    __syncthreads();
    if (threadIdx.x < kSums) {
      double value = 0;
      for (int warp = 0; warp < kWarps; ++warp) value += of_warp[warp][threadIdx.x];
      s.partial[std::int64_t{slot} * kMostRegionSums + threadIdx.x] = value;
    }
    __syncthreads();
  }
}

/// How CUDA takes the steps. The host knows nothing of the outcome, so that steps over regions run
/// over all there could be, and points are brought together by a sort.
struct CudaSteps {
  template <class Function>
  static void each_cell(const Context& context, std::int64_t count, const Function& function) {
    for_each(context, count, function);
  }

  template <class Function>
  static void each_cell_of_pixels(const Context& context, std::int64_t count,
                                  const Function& function) {
    for_each(context, count, function);
  }
  template <class Function>
  static void each_short(const Context& context, std::int64_t count, const Function& function) {
    for_each(context, count, function);
  }

  /// Whether any joined another is known on the device alone.
  template <int kTerms>
  static void join_patches(const Context& context, const PatchState& s, const PixelSize* pixel,
                           int most_rounds) {
    for (int round = 0; round < most_rounds; ++round) {
      for_each(context, 2 * std::int64_t{s.cells}, RateEdge<kTerms>{s, pixel, round});
      for_each(context, s.cells, ChooseTarget{s});
      add_joining_kernel<kTerms><<<1, kJoinThreads, 0, cuda_stream(context)>>>(s, round);
      check_launch("segment: add_joining");
      for_each(context, s.cells, FollowRoot{s});
    }
  }

  template <class Surface>
  static void link(const Context& context, const Surface& surface, const SegmentState& s) {
    for_each(context, s.n, LinkPoint<Surface>{surface, s});
  }

  static void keep_large(const Context& context, const SegmentState& s, int min_points) {
    for_each(context, s.n, FlattenPoint{s});
    for_each(context, s.n, ClearCount{s});
    const int blocks = (s.n + kForEachBlock - 1) / kForEachBlock;
    if (blocks > 0) {
      count_points_kernel<<<static_cast<unsigned>(blocks), kForEachBlock, 0,
                            cuda_stream(context)>>>(s);
      check_launch("segment: count_points");
    }
    for_each(context, s.n, StartSource{s, min_points});
  }

  template <class Surface>
  static void attach(const Context& context, const Surface& surface, int rounds, SegmentState& s) {
    for (int round = 0; round < rounds; ++round) {
      std::swap(s.source, s.source_before);
      for_each(context, s.n, AttachPoint<Surface>{surface, s});
    }
  }

  static void gather(const Context& context, const SegmentState& s, Workspace& workspace) {
    const Device device = context.device();
    for_each(context, s.n, KeyPoint{s});
    const int bits = std::bit_width(static_cast<std::uint32_t>(s.n));
    if (s.n > 0) {
      sort_pairs<std::uint32_t>(context, {s.keys, s.n, device}, {s.order, s.n, device}, {0, bits},
                                workspace);
    }
    for_each(context, s.n, FindHead{s});
    exclusive_scan<std::int32_t>(context, {s.counts, s.n, device}, {s.ranks, s.n + 1, device},
                                 workspace);
    for_each(context, s.n, PlaceRegion{s});
    for_each(context, s.n, NameRegion{s});
    for_each(context, s.slots, ClearRegionSlot{s});
    for_each(context, s.most, PlaceSlots{s});
  }

  template <class Step>
  static void sum_slices(const Context& context, const Step& step, const SegmentState& s) {
    constexpr int kBlocksPerMultiprocessor = 16;  // as many as are resident at once
    const int blocks = min_of(s.slots, kBlocksPerMultiprocessor * multiprocessors(context));
    sum_slices_kernel<<<static_cast<unsigned>(blocks), kSliceThreads, 0, cuda_stream(context)>>>(
        step, s);
    check_launch("segment: sum_slices");
  }

  static bool may_part(const SegmentState&) { return true; }

  template <class Function>
  static void each_region(const Context& context, const SegmentState& s, const Function& function) {
    for_each(context, s.most, function);
  }

  static void rank(const Context& context, const SegmentState& s, Workspace& workspace) {
    for_each(context, s.most, RankRegion{s});
    sort_pairs<std::uint64_t>(context, {s.ranking, s.most, context.device()},
                              {s.ranked, s.most, context.device()}, {}, workspace);
  }
};

}  // namespace

void segment_cuda(const Context& context, const PixelSurface& surface, const SegmentOutput& out,
                  Workspace& workspace) {
  segment_surface<CudaSteps>(context, surface, out, workspace);
}

void segment_cuda(const Context& context, const CloudSurface& surface, const SegmentOutput& out,
                  Workspace& workspace) {
  segment_surface<CudaSteps>(context, surface, out, workspace);
}

}  // namespace sextant::detail::segment
