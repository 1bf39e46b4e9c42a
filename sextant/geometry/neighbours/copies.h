// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/neighbour_walk.h"
#include "sextant/geometry/no_returns.h"
#include "sextant/geometry/no_returns/place.h"

// Places that very many points share, which would make every search among them take time with the
// square of their number. The grid holds one point of each, the one with the lowest index, and
// takes the others for holes.

namespace sextant::detail::neighbours {

/// Everything that building fills or needs, with room for `count` points.
struct GridJob {
  const Vec3f* from;
  std::int64_t count;
  float cell_m;
  float points_per_cell;
  Device device;
  GridPoint* points;
  std::uint32_t* cell_first;
  GridBrick* bricks;
  std::int32_t* table;
  std::int64_t table_room;
  GridFrame* frame;
  std::uint64_t* keys;
  std::uint32_t* order;
  std::int64_t* ranks;  ///< count + 1; before the sort, room for the marks of the cell count
};

/// How the points share places.
struct CopyCount {
  std::int64_t used = 0;     ///< slots of the table with a point
  std::int64_t crowded = 0;  ///< slots with more than kMostCopies
  std::int64_t slots = 0;    ///< of the table
  /// About how many different places there are: two that share a slot are reckoned with. In double,
  /// so that every device finds the same.
  SEXTANT_HD float places() const {
    const double all = max_of(static_cast<double>(slots), 1.0);
    const double filled = min_of(static_cast<double>(used) / all, 0.99);
    return max_of(static_cast<float>(-all * std::log(1.0 - filled)), 1.0f);
  }
};
SEXTANT_HD inline CopyCount operator+(const CopyCount& a, const CopyCount& b) {
  return {a.used + b.used, a.crowded + b.crowded, a.slots + b.slots};
}

/// Where the table counts the points that lie where p does. Its size is a power of two.
SEXTANT_HD inline std::int32_t* slot_of(const GridJob& job, const Vec3f& p) {
  return job.table +
         (no_returns::hash_of_place(p) & static_cast<std::uint32_t>(job.table_room - 1));
}

struct ClearSlotCount {
  GridJob job;
  SEXTANT_HD void operator()(std::int64_t i) const { job.table[i] = 0; }
};

struct CountInSlot {
  GridJob job;
  SEXTANT_HD void operator()(std::int64_t i) const {
    if (!is_finite(job.from[i])) return;
    std::int32_t* slot = slot_of(job, job.from[i]);
#if defined(__CUDA_ARCH__)
    // Enough is enough: a place of thousands would keep them waiting for each other.
    if (*static_cast<const volatile std::int32_t*>(slot) <= kMostCopies) atomicAdd(slot, 1);
#else
    if (__atomic_load_n(slot, __ATOMIC_RELAXED) <= kMostCopies) {
      __atomic_fetch_add(slot, 1, __ATOMIC_RELAXED);
    }
#endif
  }
};

struct CopiesOfSlot {
  GridJob job;
  SEXTANT_HD CopyCount operator()(std::int64_t i) const {
    return {job.table[i] > 0, job.table[i] > kMostCopies, 1};
  }
};

/// Crowded slots wait for the lowest index; -1 says that all points of a slot are held.
struct MarkCrowdedSlot {
  GridJob job;
  SEXTANT_HD void operator()(std::int64_t i) const {
    job.table[i] = job.table[i] > kMostCopies ? INT32_MAX : -1;
  }
};

struct FirstInSlot {
  GridJob job;
  const CopyCount* copies;
  SEXTANT_HD void operator()(std::int64_t i) const {
    if (copies->crowded == 0 || !is_finite(job.from[i])) return;
    std::int32_t* slot = slot_of(job, job.from[i]);
    const auto index = static_cast<std::int32_t>(i);
#if defined(__CUDA_ARCH__)
    if (*static_cast<const volatile std::int32_t*>(slot) > index) atomicMin(slot, index);
#else
    std::int32_t least = __atomic_load_n(slot, __ATOMIC_RELAXED);
    while (least > index && !__atomic_compare_exchange_n(slot, &least, index, true,
                                                         __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
#endif
  }
};

/// Whether point i is a further copy of one that stands for its crowded place. A point that shares
/// the slot alone is not.
SEXTANT_HD inline bool is_left_out(const GridJob& job, const CopyCount& copies, std::int64_t i) {
  if (copies.crowded == 0 || !is_finite(job.from[i])) return false;
  const std::int32_t first = *slot_of(job, job.from[i]);
  return first >= 0 && first != i && job.from[first] == job.from[i];
}

}  // namespace sextant::detail::neighbours
