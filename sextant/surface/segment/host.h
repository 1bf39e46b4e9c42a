// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>

#include "sextant/surface/segment/run.h"

namespace sextant::detail::segment {

/// How the CPU takes the steps. Short ones run on the calling thread, as threads that meet after
/// every small step wait for each other most of the time.
struct HostSteps {
  /// Cells are few and each takes long.
  template <class Function>
  static void each_cell(const Context& context, std::int64_t count, const Function& function) {
    constexpr std::int64_t kCellsAtOnce = 128;
    for_each_chunk(context, count, kCellsAtOnce, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) function(i);
    });
  }

  /// False when no patch joins another.
  template <int kTerms>
  static bool add_joining(const Context&, const PatchState& s, int round) {
    bool any = false;
    for (std::int32_t cell = 0; cell < s.cells; ++cell) {
      if (s.target[cell] < 0) continue;
      add_joined<kTerms>(s, cell, s.target[cell]);
      any = true;
    }
    for (std::int32_t cell = 0; cell < s.cells && any; ++cell) {
      const std::int32_t target = s.target[cell];
      if (target >= 0 && s.changed[target] != round + 1) finish_joined<kTerms>(s, target, round);
    }
    return any;
  }

  template <class Surface>
  static void link(const Context& context, const Surface& surface, const SegmentState& s) {
    for_each(context, s.n, LinkPoint<Surface>{surface, s});
  }

  /// Rows first, each a chain of runs whose pixels have the first as their parent; then runs to
  /// those of the next row, once for every two that touch. The counts hold the runs' first pixels.
  static void link(const Context& context, const PixelSurface& surface, const SegmentState& s) {
    constexpr std::int64_t kRowsAtOnce = 8;
    const std::int32_t width = surface.width;
    const auto each_row = [&](const auto& function) {
      for_each_chunk(context, surface.height, kRowsAtOnce,
                     [&](std::int64_t begin, std::int64_t end) {
                       for (std::int64_t v = begin; v < end; ++v) {
                         function(static_cast<std::int32_t>(v) * width);
                       }
                     });
    };
    each_row([&](std::int32_t first) {
      for (std::int32_t i = first; i < first + width; ++i) {
        s.counts[i] = i;
        if (s.parent[i] < 0) continue;
        const bool goes_on =
            i > first && s.parent[i - 1] >= 0 && belong_together(surface, s, i - 1, i);
        if (goes_on) s.parent[i] = s.counts[i] = s.counts[i - 1];
      }
    });
    each_row([&](std::int32_t first) {
      for (std::int32_t i = first; i < first + width; ++i) {
        if (load_parent(s.parent, i) < 0) continue;
        const std::int32_t below = i + width;
        const bool is_joined = i > first && s.counts[i] == s.counts[i - 1] && below < s.n &&
                               s.counts[below] == s.counts[below - 1] && surface.patch_of(i) >= 0 &&
                               surface.patch_of(below) == surface.patch_of(i);
        if (!is_joined && below < s.n && belong_together(surface, s, i, below)) {
          join(s.parent, i, below);
        }
        link_across_gaps(surface, s, i);
      }
    });
  }

  /// Whatever order threads take, a root stays a root and everybody ends at his own.
  static void flatten(const Context& context, const SegmentState& s) {
    for_each(context, s.n, [&](std::int64_t index) {
      const std::int32_t i = static_cast<std::int32_t>(index);
      if (load_parent(s.parent, i) >= 0) store_parent(s.parent, i, root_of(s.parent, i));
    });
  }

  /// The points of small regions are free to join another.
  static void keep_large(const Context& context, const SegmentState& s, int min_points) {
    flatten(context, s);
    std::fill_n(s.counts, s.n, 0);
    for (std::int32_t i = 0; i < s.n; ++i) {
      if (s.parent[i] >= 0) ++s.counts[s.parent[i]];
    }
    for (std::int32_t i = 0; i < s.n; ++i) {
      const bool keeps = s.parent[i] >= 0 && s.counts[s.parent[i]] >= min_points;
      s.source[i] = keeps ? i : -1;
    }
  }

  /// CUDA's second list of sources and the counts hold the points that are left.
  template <class Surface>
  static void attach(const Context& context, const Surface& surface, int rounds, SegmentState& s) {
    std::int32_t* left = s.source_before;
    std::int32_t* found = s.counts;
    std::int32_t count = 0;
    for (std::int32_t i = 0; i < s.n && rounds > 0; ++i) {
      if (s.source[i] < 0 && s.flags[i] != kNoPoint) left[count++] = i;
    }
    for (int round = 0; round < rounds && count > 0; ++round) {
      for_each(context, count,
               [&](std::int64_t k) { found[k] = nearest_source(surface, s.source, left[k]); });
      std::int32_t still = 0;
      for (std::int32_t k = 0; k < count; ++k) {
        s.source[left[k]] = found[k];
        if (found[k] < 0) left[still++] = left[k];
      }
      count = still;
    }
  }

  static void gather(const Context&, const SegmentState& s, Workspace&) {
    std::int32_t regions = 0;
    for (std::int32_t i = 0; i < s.n; ++i) {
      if (s.source[i] != i || s.parent[i] != i) continue;
      s.region_root[regions] = i;
      s.region_of_root[i] = regions++;
    }
    s.ranks[s.n] = regions;
    // The numbers of regions are given last of all; until then their place is free.
    std::int32_t* next = s.numbers;
    std::fill_n(next, regions + 1, 0);
    for (std::int32_t i = 0; i < s.n; ++i) {
      s.root[i] = s.current_root(i);
      if (s.root[i] >= 0) ++next[s.region_of_root[s.root[i]] + 1];
    }
    for (std::int32_t r = 0; r <= regions; ++r) {
      if (r > 0) next[r] += next[r - 1];
      s.region_first[r] = next[r];
    }
    for (std::int32_t i = 0; i < s.n; ++i) {
      if (s.root[i] < 0) continue;
      s.order[next[s.region_of_root[s.root[i]]]++] = static_cast<std::uint32_t>(i);
    }
    std::fill_n(s.slot_region, s.slots, -1);
    for (std::int32_t r = 0; r < regions; ++r) {
      for (std::int32_t k = 0; k < slices_of(s, r); ++k) s.slot_region[first_slot(s, r) + k] = r;
    }
  }

  template <class Step>
  static void sum_slices(const Context& context, const Step& step, const SegmentState& s) {
    const std::int32_t regions = s.regions();
    const std::int32_t slots =
        regions > 0 ? first_slot(s, regions - 1) + slices_of(s, regions - 1) : 0;
    constexpr std::int32_t kSlotsAtOnce = 4;
    for_each_chunk(context, slots, kSlotsAtOnce, [&](std::int64_t begin, std::int64_t end) {
      for (std::int32_t slot = static_cast<std::int32_t>(begin); slot < end; ++slot) {
        sum_slice(step, s, slot);
      }
    });
  }

  static bool may_part(const SegmentState& s) {
    return std::any_of(s.fits, s.fits + s.regions(), [](const RegionFit& f) { return f.parts; });
  }

  template <class Function>
  static void each_region(const Context&, const SegmentState& s, const Function& function) {
    // At least one call: the number of regions is written even if it is zero.
    for (std::int32_t r = 0; r < max_of(s.regions(), 1); ++r) function(r);
  }

  static void rank(const Context&, const SegmentState& s, Workspace&) {
    for (std::int32_t r = 0; r < s.regions(); ++r) s.ranked[r] = static_cast<std::uint32_t>(r);
    std::sort(s.ranked, s.ranked + s.regions(), [&](std::uint32_t a, std::uint32_t b) {
      return ranking_of(s, static_cast<std::int32_t>(a)) <
             ranking_of(s, static_cast<std::int32_t>(b));
    });
  }

 private:
  template <class Step>
  static void sum_slice(const Step& step, const SegmentState& s, std::int32_t slot) {
    const std::int32_t r = s.slot_region[slot];
    if (r < 0 || !step.wanted(r)) return;
    typename Step::Sums sums;
    const auto region = step.region(r);
    const SliceRange range = slice_range(s, slot, r);
    for (std::int32_t j = range.begin; j < range.end; ++j) {
      step.add(region, static_cast<std::int32_t>(s.order[j]), sums);
    }
    std::memcpy(s.partial + std::int64_t{slot} * kMostRegionSums, &sums, sizeof(sums));
  }
};

}  // namespace sextant::detail::segment
