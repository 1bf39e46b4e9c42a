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

/// A warp takes 32 pixels of a row; those that belong together form runs, whose pixels have the
/// first as their parent and in `counts`.
__global__ void __launch_bounds__(kForEachBlock)
    link_runs_kernel(const PixelSurface surface, const SegmentState s) {
  const int warps_of_row = (surface.width + kWarp - 1) / kWarp;
  const int warp = static_cast<int>(
      (std::int64_t{blockIdx.x} * kForEachBlock + static_cast<int>(threadIdx.x)) / kWarp);
  const int v = warp / warps_of_row;
  const int u = (warp - v * warps_of_row) * kWarp + lane_index();
  const bool inside = v < surface.height && u < surface.width;
  const std::int32_t i = v * surface.width + u;
  const bool is_point = inside && load_parent(s.parent, i) >= 0;
  const bool goes_on = is_point && u > 0 && load_parent(s.parent, i - 1) >= 0 &&
                       belong_together(surface, s, i - 1, i);
  const unsigned begins = ~__ballot_sync(kAllLanes, goes_on) | 1u;
  const int first = kWarp - 1 - __clz(static_cast<int>(begins & (lanes_before() * 2u + 1u)));
  const std::int32_t first_of_run = i - (lane_index() - first);
  if (inside) s.counts[i] = first_of_run;
  if (is_point) store_parent(s.parent, i, first_of_run);
}

/// Links runs to those of the next row, and to those that end where their warp began.
struct LinkRun {
  PixelSurface surface;
  SegmentState s;
  SEXTANT_HD void operator()(std::int64_t index) const {
    const std::int32_t i = static_cast<std::int32_t>(index);
    if (load_parent(s.parent, i) < 0) return;
    const std::int32_t u = i % surface.width;
    if (u > 0 && u % kWarp == 0 && load_parent(s.parent, i - 1) >= 0 &&
        belong_together(surface, s, i - 1, i)) {
      join(s.parent, i - 1, i);
    }
    link_below(surface, s, i);
  }
};

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

constexpr int kCellThreads = 128;
constexpr int kCellsOfBlock = kCellThreads / kCellPx;

/// Eight threads take a cell, each a column of it; the columns are added up in their order, as the
/// CPU does.
__global__ void __launch_bounds__(kCellThreads) sum_cells_kernel(const SumCell sum) {
  __shared__ float of_column[kSumsOfCell][kCellThreads];
  __shared__ double of_cell[kCellsOfBlock][kSumsOfCell];
  const PatchState& s = sum.s;
  const PixelSurface& surface = sum.surface;
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kCellPx, place = thread / kCellPx;
  const int first_lane = thread % 32 - lane;  // of the cell, in its warp
  const int cell = static_cast<int>(blockIdx.x) * kCellsOfBlock + place;
  const bool is_cell = cell < s.cells;
  const int row = is_cell ? cell / s.columns : 0;
  const int column = is_cell ? cell - row * s.columns : 0;
  const float per_x = 1.0f / surface.pixel->x, per_y = 1.0f / surface.pixel->y;
  ColumnSums<1> own;
  for (int k = 0; k < kCellPx; ++k) {
    const int v = row * kCellPx + k;
    // A column beyond the image is one without points.
    const int u = is_cell && v < surface.height ? column * kCellPx + lane : surface.width;
    const CellRow<1> at(surface, u, min_of(v, surface.height - 1), per_x, per_y);
    const unsigned seen = __ballot_sync(kAllLanes, at.seen[0] != 0) >> first_lane & 0xffu;
    const int from = first_lane + (seen != 0 ? __ffs(static_cast<int>(seen)) - 1 : 0);
    const float x = __shfl_sync(kAllLanes, at.x[0], from);
    const float y = __shfl_sync(kAllLanes, at.y[0], from);
    const float d = __shfl_sync(kAllLanes, at.d[0], from);
    if (own.origin_d == 0 && seen != 0) {
      own.origin_x = x;
      own.origin_y = y;
      own.origin_d = d;
    }
    own.add(at);
  }
  for (int t = 0; t < kSumsOfCell; ++t) of_column[t][thread] = own.sums[t][0];
  __syncwarp();
  for (int t = lane; t < kSumsOfCell; t += kCellPx) {
    double total = 0;
    for (int k = 0; k < kCellPx; ++k) total += double{of_column[t][place * kCellPx + k]};
    of_cell[place][t] = total;
  }
  __syncwarp();
  if (lane == 0 && is_cell) {
    sum.finish(cell, of_cell[place], own.origin_x, own.origin_y, own.origin_d);
  }
}

/// One warp, a thread for each depth.
__global__ void __launch_bounds__(32) find_noise_kernel(const PatchState s, const float given) {
  static_assert(kDepthBins == 32);
  const int z = static_cast<int>(threadIdx.x);
  FindLevel{s}(z);
  __syncwarp();
  SteadyLevel{s}(z);
  __syncwarp();
  NameLevel{s, given}(z);
}

constexpr int kJoinThreads = 1024;
constexpr int kJoinWarps = kJoinThreads / 32;

/// Writes the cells for which `is_listed` holds to `list`, in their order; returns how many. All
/// threads of a block call it.
template <class Condition>
__device__ int list_cells(std::int32_t cells, std::int32_t* list, const Condition& is_listed) {
  __shared__ int of_warp[kJoinWarps];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  int listed = 0;
  for (std::int32_t first = 0; first < cells; first += kJoinThreads) {
    const std::int32_t cell = first + static_cast<std::int32_t>(threadIdx.x);
    const bool wanted = cell < cells && is_listed(cell);
    const unsigned ballot = __ballot_sync(kAllLanes, wanted);
    if (lane_index() == 0) of_warp[warp] = __popc(ballot);
    __syncthreads();
    int before = listed;
    for (int w = 0; w < kJoinWarps; ++w) {
      before += w < warp ? of_warp[w] : 0;
      listed += of_warp[w];
    }
    if (wanted) list[before + __popc(ballot & lanes_before())] = cell;
    __syncthreads();
  }
  return listed;
}

/// One block adds the sums of all patches that join others: every target adds its own in the order
/// of their roots, as the CPU does.
template <int kTerms>
__global__ void __launch_bounds__(kJoinThreads)
    add_joining_kernel(const PatchState s, const PixelSize* const pixel, const int round) {
  // Rounds after one in which nothing joined change nothing.
  if (round > 0 && *s.joins_of_round == 0) return;
  const int thread = static_cast<int>(threadIdx.x);
  const int joins =
      list_cells(s.cells, s.joining, [&](std::int32_t cell) { return s.target[cell] >= 0; });
  // What joins is moved to the target's origin by all threads at once.
  for (int k = thread; k < joins; k += kJoinThreads) {
    move_to_target(s, s.joining[k]);
    s.changed[s.target[s.joining[k]]] = round + 1;
  }
  __syncthreads();
  const int targets = list_cells(s.cells, s.joined, [&](std::int32_t cell) {
    return s.root[cell] == cell && s.changed[cell] == round + 1;
  });
  // A warp takes a target and looks for what joins it. Each lane adds one of the sums.
  static_assert(sizeof(PatchSums) % sizeof(double) == 0);
  constexpr int kFirstSum = 3;  // after the origin
  constexpr int kSums = sizeof(PatchSums) / sizeof(double);
  static_assert(kSums - kFirstSum <= 32);
  const int lane = lane_index();
  const bool adds = kFirstSum + lane < kSums;
  for (int t = thread / 32; t < targets; t += kJoinWarps) {
    const std::int32_t target = s.joined[t];
    double* sums = reinterpret_cast<double*>(s.sums + target) + kFirstSum + lane;
    double own = adds ? *sums : 0.0;
    for (int first = 0; first < joins; first += 32) {
      const std::int32_t cell = first + lane < joins ? s.joining[first + lane] : -1;
      unsigned found = __ballot_sync(kAllLanes, cell >= 0 && s.target[cell] == target);
      for (; found != 0; found &= found - 1) {
        const std::int32_t from = __shfl_sync(kAllLanes, cell, __ffs(static_cast<int>(found)) - 1);
        if (adds) own += reinterpret_cast<const double*>(s.sums + from)[kFirstSum + lane];
      }
    }
    if (adds) *sums = own;
    __syncwarp();
    if (lane == 0) finish_joined<kTerms>(s, *pixel, target, round);
  }
  if (thread == 0) *s.joins_of_round = joins;
}

/// Neither does rating edges after such a round; whatever the number of edges.
template <int kTerms>
struct RateWhileJoining {
  RateEdge<kTerms> rate;
  SEXTANT_HD void operator()(std::int64_t edge) const {
    if (rate.round == 0 || *rate.s.joins_of_round > 0) rate(edge);
  }
};

constexpr int kRegionWarps = 4;

/// A warp takes a region; each lane adds up some of its sums, in the order of the slices.
template <class Step>
__global__ void __launch_bounds__(kRegionWarps * 32)
    finish_regions_kernel(const FinishRegion<Step> finish) {
  using Sums = typename Step::Sums;
  constexpr int kSums = FinishRegion<Step>::kSums;
  __shared__ double of_region[kRegionWarps][kSums];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = lane_index();
  const std::int32_t r = static_cast<std::int32_t>(blockIdx.x) * kRegionWarps + warp;
  if (!finish.wanted(r)) return;  // the same for the whole warp
  for (int v = lane; v < kSums; v += 32) {
    double sum = 0;
    finish.each_slice(r, [&](const double* from) { sum += from[v]; });
    of_region[warp][v] = sum;
  }
  __syncwarp();
  if (lane != 0) return;
  Sums total;
  double* sums = reinterpret_cast<double*>(&total);
  for (int v = 0; v < kSums; ++v) sums[v] = of_region[warp][v];
  finish.step.finish(r, total);
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

  static void sum_cells(const Context& context, const SumCell& sum) {
    const int blocks = (sum.s.cells + kCellsOfBlock - 1) / kCellsOfBlock;
    if (blocks == 0) return;
    sum_cells_kernel<<<static_cast<unsigned>(blocks), kCellThreads, 0, cuda_stream(context)>>>(sum);
    check_launch("segment: sum_cells");
  }
  static void label_pixels(const Context& context, const LabelCell& label) {
    for_each(context, label.surface.size(), LabelPixel{label});
  }
  static void find_noise(const Context& context, const PatchState& s, float given_inverse_m) {
    find_noise_kernel<<<1, 32, 0, cuda_stream(context)>>>(s, given_inverse_m);
    check_launch("segment: find_noise");
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
      for_each(context, 2 * std::int64_t{s.cells},
               RateWhileJoining<kTerms>{RateEdge<kTerms>{s, pixel, round}});
      for_each(context, s.cells, ChooseTarget{s});
      add_joining_kernel<kTerms><<<1, kJoinThreads, 0, cuda_stream(context)>>>(s, pixel, round);
      check_launch("segment: add_joining");
      for_each(context, s.cells, FollowRoot{s});
    }
  }

  static void join_pairs(const Context& context, const PatchState& s, Workspace& workspace) {
    const std::int64_t edges = 2 * std::int64_t{s.cells};
    if (edges == 0) return;
    const Device device = context.device();
    sort_pairs<std::uint64_t>(context, {s.pair, edges, device}, {s.is_smooth, edges, device}, {},
                              workspace);
    for_each(context, edges, JoinPair{s, edges});
  }

  template <class Surface>
  static void link(const Context& context, const Surface& surface, const SegmentState& s) {
    for_each(context, s.n, LinkPoint<Surface>{surface, s});
  }

  static void link(const Context& context, const PixelSurface& surface, const SegmentState& s) {
    const std::int64_t threads =
        std::int64_t{(surface.width + kWarp - 1) / kWarp} * kWarp * surface.height;
    const std::int64_t blocks = (threads + kForEachBlock - 1) / kForEachBlock;
    if (blocks == 0) return;
    link_runs_kernel<<<static_cast<unsigned>(blocks), kForEachBlock, 0, cuda_stream(context)>>>(
        surface, s);
    check_launch("segment: link_runs");
    for_each(context, s.n, LinkRun{surface, s});
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

  template <class Surface>
  static void merge(const Context& context, const MergePoint<Surface>& merge) {
    for_each(context, merge.s.n, merge);
  }

  template <class Function>
  static void each_region(const Context& context, const SegmentState& s, const Function& function) {
    for_each(context, s.most, function);
  }

  template <class Step>
  static void finish_regions(const Context& context, const FinishRegion<Step>& finish) {
    const int blocks = (finish.s.most + kRegionWarps - 1) / kRegionWarps;
    finish_regions_kernel<Step>
        <<<static_cast<unsigned>(blocks), kRegionWarps * 32, 0, cuda_stream(context)>>>(finish);
    check_launch("segment: finish_regions");
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
