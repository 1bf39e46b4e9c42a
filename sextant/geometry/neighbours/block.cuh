// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/cuda/warp.cuh"
#include "sextant/geometry/neighbour_walk.h"

// A block looks for the neighbours of points that follow each other in the order of the grid's
// cells: it brings the candidates of those that lie together to shared memory once, and then each
// of its warps takes one point after the other. For .cu files only.

namespace sextant::detail::neighbours {

// These were chosen by `sextant reproduce shot-speed` on an H200: with 16 to 32 points, 4 to 8
// warps and 1024 to 1280 candidates nothing is faster by more than 1 %, and some are slower by a
// fifth.
inline constexpr int kGroupPoints = 16;  ///< that a block looks after
inline constexpr int kGroupWarps = 4;
inline constexpr int kGroupThreads = kGroupWarps * kWarp;
/// So many blocks fit on a multiprocessor with 228 KiB of shared memory; everywhere it leaves a
/// thread 80 registers.
inline constexpr int kGroupBlocks = 6;

inline unsigned group_blocks(std::int64_t queries) {
  return static_cast<unsigned>((queries + kGroupPoints - 1) / kGroupPoints);
}

/// A candidate and its place in grid.points.
struct alignas(16) HeldPoint {
  Vec3f position;
  std::uint32_t place;
};

/// What a block has in shared memory.
struct GroupCandidates {
  static constexpr int kRoom = 1280;
  static constexpr int kStep = 2 * kWarp;  ///< a multiple of it is held, filled up with far points
  static constexpr int kRowsOfBrick = kBrickEdge * kBrickEdge;
  static constexpr int kMostRows = kWarp * kRowsOfBrick;

  HeldPoint held[kRoom];
  GridPoint queries[kGroupPoints];
  CellBox box;  ///< cells with candidates of the queries first .. end - 1
  int next;     ///< query for the next warp that has time
  int end;
  int range;                  ///< bricks that the box may meet
  int bricks;                 ///< found of them, 32 at a time
  std::int32_t brick[kWarp];  ///< in grid.bricks
  Vec3i brick_at[kWarp];
  int rows;                            ///< of cells, those without a point left out
  std::uint32_t begin[kMostRows];      ///< of a row's points in grid.points
  std::uint32_t first[kMostRows + 1];  ///< candidates before a row
};

/// The bricks that a clipped box may meet, numbered in the order in which for_each_run goes. (That
/// has loops of its own: with numbers, voting took a tenth longer on an H200.)
struct BrickRange {
  Vec3i low, size;
  int count = 0;
  bool all = false;  ///< of the whole grid: faster for a box that is mostly empty

  __device__ BrickRange(const GridFrame& frame, const CellBox& box) {
    if (box.low.x > box.high.x || box.low.y > box.high.y || box.low.z > box.high.z) return;
    low = {box.low.x / kBrickEdge, box.low.y / kBrickEdge, box.low.z / kBrickEdge};
    const Vec3i last{box.high.x / kBrickEdge, box.high.y / kBrickEdge, box.high.z / kBrickEdge};
    size = last - low + Vec3i{1, 1, 1};
    const float volume =
        static_cast<float>(size.x) * static_cast<float>(size.y) * static_cast<float>(size.z);
    all = volume > static_cast<float>(frame.bricks) + 8.0f;
    count = all ? frame.bricks : size.x * size.y * size.z;
  }

  /// The place of number i in grid.bricks, or -1; `at` receives where it lies.
  __device__ std::int32_t find(const NeighbourGridView& grid, int i, Vec3i& at) const {
    const GridFrame& frame = *grid.frame;
    if (!all) {
      at = low + Vec3i{i % size.x, i / size.x % size.y, i / size.x / size.y};
      const GridBrick* brick = find_brick(grid, brick_number(frame, at));
      return brick ? static_cast<std::int32_t>(brick - grid.bricks) : -1;
    }
    const std::uint64_t nx = static_cast<std::uint64_t>(bricks_along(frame.cells.x));
    const std::uint64_t ny = static_cast<std::uint64_t>(bricks_along(frame.cells.y));
    const std::uint64_t number = grid.bricks[i].number;
    at = {static_cast<int>(number % nx), static_cast<int>(number / nx % ny),
          static_cast<int>(number / nx / ny)};
    return i;
  }
};

/// The points of a brick's row (y, z) that lie in the box.
__device__ inline void run_in_row(const NeighbourGridView& grid, const GridBrick& brick,
                                  const Vec3i& at, const CellBox& box, int y, int z,
                                  std::uint32_t& begin, std::uint32_t& end) {
  begin = end = 0;
  const auto inside = [](int cell, int low, int high) { return cell >= low && cell <= high; };
  if (!inside(at.y * kBrickEdge + y, box.low.y, box.high.y)) return;
  if (!inside(at.z * kBrickEdge + z, box.low.z, box.high.z)) return;
  const int x0 = max_of(box.low.x - at.x * kBrickEdge, 0);
  const int x1 = min_of(box.high.x - at.x * kBrickEdge, kBrickEdge - 1);
  if (x0 > x1) return;
  const int shift = kBrickEdge * (y + kBrickEdge * z);
  const std::uint64_t row = ((std::uint64_t{2} << (x1 - x0)) - 1) << (shift + x0);
  const std::uint64_t chosen = brick.mask & row;
  if (chosen == 0) return;
  const std::uint64_t below = (std::uint64_t{1} << (shift + x0)) - 1;
  const std::uint32_t* first = grid.cell_first + brick.first_cell +
                               static_cast<std::uint32_t>(count_bits(brick.mask & below));
  begin = first[0];
  end = first[count_bits(chosen)];
}

/// The search of a block. All its threads call all functions, but for those of the first warp.
class GroupSearch {
 public:
  __device__ GroupSearch(const NeighbourGridView& grid, float radius_m, GroupCandidates& shared)
      : grid_(grid), radius_m_(radius_m), shared_(shared) {}

  /// Calls, for each query of the block and on one warp, work.begin(number, query), then
  /// work.add(held, count) for its candidates, in one or several parts in the order of
  /// for_each_run, and work.end().
  /// Queries that are not finite have no neighbour among them.
  template <class Work>
  __device__ void run(const GridPoint* queries, std::int64_t count, Work& work) {
    const std::int64_t begin = std::int64_t{blockIdx.x} * kGroupPoints;
    const int size = static_cast<int>(min_of<std::int64_t>(kGroupPoints, count - begin));
    run(queries + begin, begin, size, work);
  }
  /// Does the same for one query.
  template <class Work>
  __device__ void run_one(const GridPoint& query, std::int64_t number, Work& work) {
    run(&query, number, 1, work);
  }

 private:
  template <class Work>
  __device__ void run(const GridPoint* queries, std::int64_t begin, int size, Work& work) {
    if (static_cast<int>(threadIdx.x) < size) shared_.queries[threadIdx.x] = queries[threadIdx.x];
    __syncthreads();
    // Takes queries in a box of about a radius, or those of one cell when there is no room for
    // more.
    const float across = min_of(radius_m_ * grid_.frame->inverse_cell, 64.0f);
    const int cells = max_of(static_cast<int>(across + 0.01f), 1);
    for (int first = 0; first < size;) {
      std::uint32_t total = group(first, size, cells);
      if (cells > 1 && !fits(total)) {
        __syncthreads();
        total = group(first, size, 1);
      }
      search(begin, first, total, work);
      first = shared_.end;
      __syncthreads();
    }
  }

  __device__ static int warp() { return static_cast<int>(threadIdx.x) / kWarp; }

  /// Queries from the first on that together lie in so many cells along each axis; returns how many
  /// candidates they have in the first 32 bricks.
  __device__ std::uint32_t group(int first, int size, int cells) {
    if (warp() == 0) list_bricks(plan(first, size, cells), 0);
    __syncthreads();
    return list_rows();
  }

  /// Whether the candidates of a group can be held at once.
  __device__ bool fits(std::uint32_t total) const {
    return total <= GroupCandidates::kRoom && shared_.range <= kWarp;
  }

  /// The first warp finds how many queries from the first on lie together, and the cells that their
  /// candidates lie in; it returns the bricks of these.
  __device__ BrickRange plan(int first, int size, int cells) {
    const int lane = lane_index();
    const GridFrame& frame = *grid_.frame;
    const Vec3f p = shared_.queries[min_of(lane, size - 1)].position;
    const bool asked = lane >= first && lane < size && is_finite(p);
    CellBox span{{INT32_MAX, INT32_MAX, INT32_MAX}, {INT32_MIN, INT32_MIN, INT32_MIN}};
    if (asked) span.low = span.high = cell_of(frame, p);
    for (int step = 1; step < kGroupPoints; step *= 2) {
      span.low = {least_so_far(span.low.x, step), least_so_far(span.low.y, step),
                  least_so_far(span.low.z, step)};
      span.high = {~least_so_far(~span.high.x, step), ~least_so_far(~span.high.y, step),
                   ~least_so_far(~span.high.z, step)};
    }
    const bool apart =
        asked && (span.high.x - span.low.x >= cells || span.high.y - span.low.y >= cells ||
                  span.high.z - span.low.z >= cells);
    const unsigned others = __ballot_sync(kAllLanes, apart);
    const int end = others != 0 ? __ffs(static_cast<int>(others)) - 1 : size;
    CellBox box{{INT32_MAX, INT32_MAX, INT32_MAX}, {INT32_MIN, INT32_MIN, INT32_MIN}};
    if (asked && lane < end) box = cells_within(frame, p, radius_m_ * radius_m_);
    box = {{warp_min(box.low.x), warp_min(box.low.y), warp_min(box.low.z)},
           {~warp_min(~box.high.x), ~warp_min(~box.high.y), ~warp_min(~box.high.z)}};
    const BrickRange range(frame, box);
    if (lane == 0) {
      shared_.box = box;
      shared_.next = first;
      shared_.end = end;
      shared_.range = range.count;
    }
    return range;
  }

  __device__ static int least_so_far(int value, int step) {
    const int lower = __shfl_up_sync(kAllLanes, value, static_cast<unsigned>(step));
    return lane_index() >= step ? min_of(value, lower) : value;
  }

  /// The first warp finds up to 32 of the bricks, from number `part` on.
  __device__ void list_bricks(const BrickRange& range, int part) {
    const int number = part + lane_index();
    Vec3i at;
    const std::int32_t brick = number < range.count ? range.find(grid_, number, at) : -1;
    const unsigned found = __ballot_sync(kAllLanes, brick >= 0);
    if (brick >= 0) {
      const int to = __popc(found & lanes_before());
      shared_.brick[to] = brick;
      shared_.brick_at[to] = at;
    }
    if (lane_index() == 0) shared_.bricks = __popc(found);
  }

  /// Which warp takes a query is left to chance: some queries take longer.
  __device__ int next_query() {
    int i = 0;
    if (lane_index() == 0) i = atomicAdd(&shared_.next, 1);
    return __shfl_sync(kAllLanes, i, 0);
  }

  template <class Work>
  __device__ void search(std::int64_t begin, int first, std::uint32_t total, Work& work) {
    const int end = shared_.end;
    if (fits(total)) {
      const int held = hold(0, total);
      for (int i = next_query(); i < end; i = next_query()) {
        work.begin(begin + i, shared_.queries[i]);
        work.add(shared_.held, held);
        work.end();
      }
      return;
    }
    const BrickRange bricks(*grid_.frame, shared_.box);
    for (int round = first; round < end; round += kGroupWarps) {
      const int i = round + warp();
      if (i < end) work.begin(begin + i, shared_.queries[i]);
      for (int part = 0; part < bricks.count; part += kWarp) {
        if (bricks.count > kWarp) {
          if (warp() == 0) list_bricks(bricks, part);
          __syncthreads();
          total = list_rows();
        }
        for (std::uint32_t at = 0; at < total; at += GroupCandidates::kRoom) {
          const int held = hold(at, total);
          if (i < end) work.add(shared_.held, held);
          __syncthreads();
        }
      }
      if (i < end) work.end();
    }
  }

  /// Finds the rows of cells of the listed bricks; returns how many candidates they hold.
  __device__ std::uint32_t list_rows() {
    constexpr int kRows = GroupCandidates::kRowsOfBrick;
    const int rows = shared_.bricks * kRows;
    for (int i = static_cast<int>(threadIdx.x); i < rows; i += kGroupThreads) {
      std::uint32_t begin, end;
      run_in_row(grid_, grid_.bricks[shared_.brick[i / kRows]], shared_.brick_at[i / kRows],
                 shared_.box, i % kBrickEdge, i % kRows / kBrickEdge, begin, end);
      shared_.begin[i] = begin;
      shared_.first[i] = end - begin;
    }
    __syncthreads();
    if (warp() == 0) add_up(rows);
    __syncthreads();
    return shared_.first[shared_.rows];
  }

  /// The first warp leaves out empty rows, and turns lengths into sums.
  __device__ void add_up(int rows) {
    const int lane = lane_index();
    std::uint32_t total = 0;
    int kept = 0;
    for (int at = 0; at < rows; at += kWarp) {
      const int i = at + lane;
      const std::uint32_t length = i < rows ? shared_.first[i] : 0;
      const std::uint32_t begin = i < rows ? shared_.begin[i] : 0;
      std::uint32_t sum = length;
      for (int step = 1; step < kWarp; step *= 2) {
        const std::uint32_t lower = __shfl_up_sync(kAllLanes, sum, static_cast<unsigned>(step));
        if (lane >= step) sum += lower;
      }
      const unsigned filled = __ballot_sync(kAllLanes, length > 0);
      __syncwarp();  // what was read before is overwritten
      if (length > 0) {
        const int to = kept + __popc(filled & lanes_before());
        shared_.begin[to] = begin;
        shared_.first[to] = total + sum - length;
      }
      kept += __popc(filled);
      total += __shfl_sync(kAllLanes, sum, kWarp - 1);
      __syncwarp();
    }
    if (lane == 0) {
      shared_.first[kept] = total;
      shared_.rows = kept;
    }
  }

  /// Brings the candidates from number `at` on to shared memory, a row by one warp; returns how
  /// many are held, with the far points at the end.
  __device__ int hold(std::uint32_t at, std::uint32_t total) {
    const auto count = static_cast<int>(min_of<std::uint32_t>(total - at, GroupCandidates::kRoom));
    const auto last = at + static_cast<std::uint32_t>(count);
    const int rows = shared_.rows;
    for (int row = warp(); row < rows; row += kGroupWarps) {
      const std::uint32_t first = shared_.first[row];
      const std::uint32_t behind = min_of(shared_.first[row + 1], last);
      const std::uint32_t shift = shared_.begin[row] - first;
      for (std::uint32_t number = max_of(first, at) + static_cast<std::uint32_t>(lane_index());
           number < behind; number += kWarp) {
        const std::uint32_t place = number + shift;
        shared_.held[number - at] = {grid_.points[place].position, place};
      }
    }
    const int filled =
        (count + GroupCandidates::kStep - 1) / GroupCandidates::kStep * GroupCandidates::kStep;
    const int i = count + static_cast<int>(threadIdx.x);
    if (i < filled) shared_.held[i] = {{INFINITY, INFINITY, INFINITY}, 0};
    __syncthreads();
    return filled;
  }

  const NeighbourGridView& grid_;
  const float radius_m_;
  GroupCandidates& shared_;
};

static_assert(GroupCandidates::kRoom % GroupCandidates::kStep == 0);
static_assert(GroupCandidates::kStep <= kGroupThreads);

/// Neighbours of a warp's query, as numbers of held points in shared memory.
struct WarpList {
  static constexpr int kRoom = 512;
  static constexpr int kSize = kRoom + kWarp;  ///< with places for those that are not near
  std::uint16_t* entries;

  /// Lists the held points nearer to p and calls take(size) when the list is full and at the end;
  /// the next ones overwrite it.
  template <class Take>
  __device__ void find(const HeldPoint* held, int count, const Vec3f& p, float radius_sq,
                       Take&& take) const {
    const unsigned before = lanes_before();
    int begin = 0;
    do {
      int size = 0;
      const auto list = [&](int i, float distance_sq) {
        const bool near = distance_sq < radius_sq;
        const unsigned all = __ballot_sync(kAllLanes, near);
        const int to = size + __popc(all & before);
        entries[near ? to : kRoom + lane_index()] = static_cast<std::uint16_t>(i);
        size += __popc(all);
      };
      for (; begin < count && size <= kRoom - GroupCandidates::kStep;
           begin += GroupCandidates::kStep) {
        const int i = begin + lane_index();
        const float one = squared_distance(held[i].position, p);
        const float other = squared_distance(held[i + kWarp].position, p);
        list(i, one);
        list(i + kWarp, other);
      }
      __syncwarp();
      take(size);
      __syncwarp();
    } while (begin < count);
  }
};

}  // namespace sextant::detail::neighbours
