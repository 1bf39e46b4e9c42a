// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/for_each.h"
#include "sextant/core/reduce.h"
#include "sextant/core/scan.h"
#include "sextant/core/sort.h"
#include "sextant/geometry/cloud/bounds_math.h"
#include "sextant/geometry/neighbours/copies.h"
#include "sextant/geometry/neighbours/range.h"

// How a grid is built, written once: neighbours.cpp compiles it for the host and neighbours.cu for
// CUDA. Every step is a function of one element; no step waits for the device.

namespace sextant::detail::neighbours {

/// The number of a point that is in no cell, which sorts behind all others.
inline constexpr std::uint64_t kNoCell = ~std::uint64_t{0};
inline constexpr int kBitsInBrick = 6;

SEXTANT_HD inline std::uint64_t fetch_or(std::uint64_t* word, std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return atomicOr(reinterpret_cast<unsigned long long*>(word), bits);
#else
  return __atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
#endif
}

SEXTANT_HD inline std::uint64_t fetch(const std::uint64_t* word) {
#if defined(__CUDA_ARCH__)
  return *static_cast<const volatile std::uint64_t*>(word);
#else
  return __atomic_load_n(word, __ATOMIC_RELAXED);
#endif
}

/// Stores the value where there is -1, and says whether it did.
SEXTANT_HD inline bool claim(std::int32_t* slot, std::int32_t value) {
#if defined(__CUDA_ARCH__)
  return atomicCAS(slot, -1, value) == -1;
#else
  std::int32_t expected = -1;
  return __atomic_compare_exchange_n(slot, &expected, value, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED);
#endif
}

/// The key has the brick's number above the place in the brick, so that the points of a brick and
/// of a cell follow each other.
SEXTANT_HD inline std::uint64_t cell_key(const GridFrame& frame, const Vec3f& p) {
  if (!is_finite(p)) return kNoCell;
  const Vec3i cell = cell_of(frame, p);
  const Vec3i brick{cell.x / kBrickEdge, cell.y / kBrickEdge, cell.z / kBrickEdge};
  const int inside = cell.x % kBrickEdge + kBrickEdge * (cell.y % kBrickEdge) +
                     kBrickEdge * kBrickEdge * (cell.z % kBrickEdge);
  return brick_number(frame, brick) << kBitsInBrick | static_cast<std::uint64_t>(inside);
}

/// The first guess at an automatic cell size, or the given one.
struct SetFrame {
  GridJob job;
  const GridRange* range;
  const CopyCount* copies;
  SEXTANT_HD void operator()(std::int64_t) const {
    // The guess takes the points for a square sheet across the range.
    const float sheet = range->longest_m() * std::sqrt(job.points_per_cell / copies->places());
    const bool automatic = job.cell_m == 0.0f;
    *job.frame = frame_of(*range, automatic ? (sheet > 0.0f ? sheet : 1.0f) : job.cell_m);
    job.frame->settled = !automatic || !(sheet > 0.0f);
  }
};

/// Clears one word of the marks.
struct ClearMarks {
  GridJob job;
  SEXTANT_HD void operator()(std::int64_t i) const { job.ranks[i] = 0; }
};

/// Marks the cell of a point in a hashed bitmap of job.count × 64 bits: so roomy that hardly two
/// cells share a bit.
struct MarkCell {
  GridJob job;
  std::int64_t words;
  SEXTANT_HD void operator()(std::int64_t i) const {
    if (job.frame->settled) return;
    const std::uint64_t key = cell_key(*job.frame, job.from[i]);
    if (key == kNoCell) return;
    const std::uint64_t hash = (key * 0x9E3779B97F4A7C15u) >> 20;
    std::uint64_t* word =
        reinterpret_cast<std::uint64_t*>(job.ranks) + hash / 64 % static_cast<std::uint64_t>(words);
    const std::uint64_t bit = std::uint64_t{1} << (hash % 64);
    if ((fetch(word) & bit) == 0) fetch_or(word, bit);
  }
};

struct CountMarks {
  const std::int64_t* marks;
  SEXTANT_HD std::int64_t operator()(std::int64_t i) const {
    return count_bits(static_cast<std::uint64_t>(marks[i]));
  }
};

/// Improves the cell size. The points in a cell grow with the first to third power of its edge,
/// for lines, surfaces and solids; taking the square root converges for all three.
struct AdjustFrame {
  GridJob job;
  const GridRange* range;
  const CopyCount* copies;
  const std::int64_t* used_cells;
  SEXTANT_HD void operator()(std::int64_t) const {
    if (job.frame->settled) return;
    const float found = copies->places() / static_cast<float>(max_of<std::int64_t>(*used_cells, 1));
    const float ratio = job.points_per_cell / found;
    const bool settled = ratio > 0.8f && ratio < 1.25f;
    if (!settled) *job.frame = frame_of(*range, job.frame->cell_m * std::sqrt(ratio));
    job.frame->settled = settled;
  }
};

struct KeyOfPoint {
  GridJob job;
  const CopyCount* copies;
  SEXTANT_HD void operator()(std::int64_t i) const {
    job.keys[i] = is_left_out(job, *copies, i) ? kNoCell : cell_key(*job.frame, job.from[i]);
    job.order[i] = static_cast<std::uint32_t>(i);
  }
};

SEXTANT_HD inline bool begins_cell(const std::uint64_t* keys, std::int64_t i) {
  return keys[i] != kNoCell && (i == 0 || keys[i - 1] != keys[i]);
}
SEXTANT_HD inline bool begins_brick(const std::uint64_t* keys, std::int64_t i) {
  return keys[i] != kNoCell && (i == 0 || keys[i - 1] >> kBitsInBrick != keys[i] >> kBitsInBrick);
}

/// Says whether a new cell (low half) and a new brick (high half) begin at point i. Summed up,
/// these are the numbers of the cell and of the brick.
struct FlagPoint {
  GridJob job;
  SEXTANT_HD void operator()(std::int64_t i) const {
    job.ranks[i] = i == job.count ? 0
                                  : std::int64_t{begins_brick(job.keys, i)} << 32 |
                                        std::int64_t{begins_cell(job.keys, i)};
    if (i < job.count) job.bricks[i].mask = 0;
  }
};

struct PlacePoint {
  GridJob job;
  SEXTANT_HD void operator()(std::int64_t i) const {
    const std::uint32_t index = job.order[i];
    const std::uint64_t key = job.keys[i];
    const Vec3f hole{NAN, NAN, NAN};
    job.points[i] = {key == kNoCell ? hole : job.from[index], static_cast<std::int32_t>(index)};
    if (key == kNoCell) return;
    if (begins_cell(job.keys, i)) {
      const bool new_brick = begins_brick(job.keys, i);
      const auto cell = static_cast<std::uint32_t>(job.ranks[i]);
      GridBrick& brick = job.bricks[(job.ranks[i] >> 32) - (new_brick ? 0 : 1)];
      job.cell_first[cell] = static_cast<std::uint32_t>(i);
      fetch_or(&brick.mask, std::uint64_t{1} << (key & 63));
      if (new_brick) {
        brick.number = key >> kBitsInBrick;
        brick.first_cell = cell;
      }
    }
    if (i + 1 == job.count || job.keys[i + 1] == kNoCell) finish(i + 1);
  }

 private:
  SEXTANT_HD void finish(std::int64_t finite) const {
    GridFrame& frame = *job.frame;
    const std::int64_t total = job.ranks[job.count];
    frame.points = static_cast<std::int32_t>(finite);
    frame.used_cells = static_cast<std::int32_t>(total & 0xffffffff);
    frame.bricks = static_cast<std::int32_t>(total >> 32);
    job.cell_first[frame.used_cells] = static_cast<std::uint32_t>(finite);
    std::uint32_t slots = 2;
    while (slots < 2 * static_cast<std::uint32_t>(frame.bricks)) slots *= 2;
    frame.table_mask = slots - 1;
  }
};

struct ClearSlot {
  GridJob job;
  SEXTANT_HD void operator()(std::int64_t i) const {
    if (i <= std::int64_t{job.frame->table_mask}) job.table[i] = -1;
  }
};

struct EnterBrick {
  GridJob job;
  SEXTANT_HD void operator()(std::int64_t i) const {
    if (i >= job.frame->bricks) return;
    const std::uint32_t mask = job.frame->table_mask;
    std::uint32_t slot = hash_of(job.bricks[i].number) & mask;
    while (!claim(job.table + slot, static_cast<std::int32_t>(i))) slot = (slot + 1) & mask;
  }
};

/// The key bits that matter. On the host the frame is at hand; a device sorts by all of them.
inline SortBits key_bits(const Context& context, const GridFrame* frame) {
  if (!context.is_cpu()) return {};
  const Vec3i last{bricks_along(frame->cells.x) - 1, bricks_along(frame->cells.y) - 1,
                   bricks_along(frame->cells.z) - 1};
  int bits = kBitsInBrick + 1;  // the top bit is set only in kNoCell
  for (std::uint64_t most = brick_number(*frame, last); most != 0; most >>= 1) ++bits;
  return {0, bits};
}

template <bool kCuda = SEXTANT_CUDA_COMPILER>
void choose_cells(const Context& context, const GridJob& job, const GridRange* range,
                  const CopyCount* copies, Workspace& workspace) {
  for_each(context, 1, SetFrame{job, range, copies});
  if (job.cell_m != 0.0f) return;
  constexpr int kRounds = 4;
  const std::int64_t words = (job.count + 7) / 8;
  const View<std::int64_t> used_cells = workspace.take<std::int64_t>(context, 1);
  for (int round = 0; round < kRounds; ++round) {
    if (context.is_cpu() && job.frame->settled) return;
    for_each(context, words, ClearMarks{job});
    for_each(context, job.count, MarkCell{job, words});
    transform_reduce(context, words, CountMarks{job.ranks}, Add{}, std::int64_t{0}, used_cells,
                     workspace);
    for_each(context, 1, AdjustFrame{job, range, copies, used_cells.data});
  }
}

template <bool kCuda = SEXTANT_CUDA_COMPILER>
const GridRange* find_range(const Context& context, const GridJob& job, Workspace& workspace) {
  const View<GridRange> range = workspace.take<GridRange>(context, 1);
  const View<Bounds> bounds = workspace.take<Bounds>(context, 1);
  const View<Vec3f> sample = workspace.take<Vec3f>(context, kRangeSample);
  transform_reduce(context, job.count, cloud::PointBounds{job.from}, cloud::JoinBounds{}, Bounds{},
                   bounds, workspace);
  for_each(context, kRangeSample, SampleRange{job.from, job.count, sample.data});
  for_each(context, 1, ClearRange{bounds.data, range.data});
  for_each(context, 3 * kRangeSample, RankSample{sample.data, range.data});
  return range.data;
}

/// Finds the places with too many copies; leaves in the table who stands for each of them.
template <bool kCuda = SEXTANT_CUDA_COMPILER>
const CopyCount* find_copies(const Context& context, const GridJob& job, Workspace& workspace) {
  const View<CopyCount> copies = workspace.take<CopyCount>(context, 1);
  for_each(context, job.table_room, ClearSlotCount{job});
  for_each(context, job.count, CountInSlot{job});
  transform_reduce(context, job.table_room, CopiesOfSlot{job}, Add{}, CopyCount{}, copies,
                   workspace);
  if (context.is_cpu() && copies.data->crowded == 0) return copies.data;
  for_each(context, job.table_room, MarkCrowdedSlot{job});
  for_each(context, job.count, FirstInSlot{job, copies.data});
  return copies.data;
}

template <bool kCuda = SEXTANT_CUDA_COMPILER>
void build_grid(const Context& context, const GridJob& job, Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  const GridRange* range = find_range<kCuda>(context, job, workspace);
  const CopyCount* copies = find_copies<kCuda>(context, job, workspace);
  choose_cells<kCuda>(context, job, range, copies, workspace);
  for_each(context, job.count, KeyOfPoint{job, copies});
  sort_pairs<std::uint64_t>(context, {job.keys, job.count, job.device},
                            {job.order, job.count, job.device}, key_bits(context, job.frame),
                            workspace);
  for_each(context, job.count + 1, FlagPoint{job});
  const View<std::int64_t> ranks{job.ranks, job.count + 1, job.device};
  exclusive_scan<std::int64_t>(context, ranks, ranks, workspace);
  for_each(context, job.count, PlacePoint{job});
  const bool known = context.is_cpu();
  for_each(context, known ? job.frame->table_mask + std::int64_t{1} : job.table_room,
           ClearSlot{job});
  for_each(context, known ? job.frame->bricks : job.count, EnterBrick{job});
}

void build_grid_cuda(const Context& context, const GridJob& job, Workspace& workspace);

/// Puts queries in the order of the grid's cells, those that are not finite last.
struct KeyOfQuery {
  const GridFrame* frame;
  const Vec3f* from;
  std::uint64_t* keys;
  std::uint32_t* order;
  SEXTANT_HD void operator()(std::int64_t i) const {
    keys[i] = cell_key(*frame, from[i]);
    order[i] = static_cast<std::uint32_t>(i);
  }
};

struct PlaceQuery {
  const Vec3f* from;
  const std::uint32_t* order;
  GridPoint* to;
  SEXTANT_HD void operator()(std::int64_t i) const {
    to[i] = {from[order[i]], static_cast<std::int32_t>(order[i])};
  }
};

template <bool kCuda = SEXTANT_CUDA_COMPILER>
void order_queries(const Context& context, const GridFrame* frame, View<const Vec3f> queries,
                   View<GridPoint> ordered, Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  const View<std::uint64_t> keys = workspace.take<std::uint64_t>(context, queries.size);
  const View<std::uint32_t> order = workspace.take<std::uint32_t>(context, queries.size);
  for_each(context, queries.size, KeyOfQuery{frame, queries.data, keys.data, order.data});
  sort_pairs<std::uint64_t>(context, keys, order, key_bits(context, frame), workspace);
  for_each(context, queries.size, PlaceQuery{queries.data, order.data, ordered.data});
}

void order_queries_cuda(const Context& context, const GridFrame* frame, View<const Vec3f> queries,
                        View<GridPoint> ordered, Workspace& workspace);

}  // namespace sextant::detail::neighbours
