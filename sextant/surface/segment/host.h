// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>

#include "sextant/core/for_each/shared_sum.h"
#include "sextant/core/simd/instruction_set.h"
#include "sextant/surface/segment/moment_lanes.h"
#include "sextant/surface/segment/patch_joining.h"
#include "sextant/surface/segment/run.h"

namespace sextant::detail::segment {

/// How the CPU takes the steps. Short ones run on the calling thread, as threads that meet after
/// every small step wait for each other most of the time.
struct HostSteps {
  static constexpr std::int64_t kCellsAtOnce = 128;

  /// Cells are few and each takes long.
  template <class Function>
  static void each_cell(const Context& context, std::int64_t count, const Function& function) {
    for_each_chunk(context, count, kCellsAtOnce, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) function(i);
    });
  }

  /// Those that look at every pixel are compiled for every instruction set; the compiler makes
  /// vectors of their loops.
  template <class Function>
  static void each_cell_of_pixels(const Context& context, std::int64_t count,
                                  const Function& function) {
    for_each_chunk(context, count, kCellsAtOnce, [&](std::int64_t begin, std::int64_t end) {
      run_widest(EachOf<Function>{function}, begin, end);
    });
  }

  template <int kTerms>
  static void join_patches(const Context& context, const PatchState& s, const PixelSize* pixel,
                           int most_rounds) {
    PatchJoining<kTerms>(context, s, pixel).run(most_rounds);
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
        if (surface.patch_of(i) >= 0) {
          const bool touches = below < s.n && surface.patch_of(below) == surface.patch_of(i);
          if (touches && (s.counts[i] == i || s.counts[below] == below)) join(s.parent, i, below);
          link_across_gaps(surface, s, i);
        } else if (below < s.n && belong_together(surface, s, i, below)) {
          join(s.parent, i, below);
        }
      }
    });
  }

  template <class Function>
  static void each_short(const Context&, std::int64_t count, const Function& function) {
    for (std::int64_t i = 0; i < count; ++i) function(i);
  }

  /// The points of small regions are free to join another. Whatever order threads take, a root
  /// stays a root and everybody ends at his own.
  static void keep_large(const Context& context, const SegmentState& s, int min_points) {
    constexpr std::int64_t kPointsAtOnce = 4096;
    const auto each_chunk = [&](const auto& function) {
      for_each_chunk(context, s.n, kPointsAtOnce, function);
    };
    each_chunk([&](std::int64_t begin, std::int64_t end) {
      std::fill(s.counts + begin, s.counts + end, 0);
    });
    each_chunk([&](std::int64_t begin, std::int64_t end) {
      // Neighbours mostly have the same parent.
      std::int32_t parent = -1, root = -1, run = 0;
      for (std::int32_t i = static_cast<std::int32_t>(begin); i < end; ++i) {
        const std::int32_t own = load_parent(s.parent, i);
        if (own < 0) continue;
        if (own != parent) {
          if (run > 0) add_to(s.counts + root, run);
          parent = own;
          root = root_of(s.parent, own);
          run = 0;
        }
        store_parent(s.parent, i, root);
        ++run;
      }
      if (run > 0) add_to(s.counts + root, run);
    });
    each_chunk([&](std::int64_t begin, std::int64_t end) {
      for (std::int32_t i = static_cast<std::int32_t>(begin); i < end; ++i) {
        const bool keeps = s.parent[i] >= 0 && s.counts[s.parent[i]] >= min_points;
        s.source[i] = keeps ? i : -1;
      }
    });
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

  /// Points are counted and placed in some parts at once, each with a row of counters.
  static void gather(const Context& context, const SegmentState& s, Workspace&) {
    std::int32_t regions = 0;
    for (std::int32_t i = 0; i < s.n; ++i) {
      if (s.source[i] != i || s.parent[i] != i) continue;
      s.region_root[regions] = i;
      s.region_of_root[i] = regions++;
    }
    s.ranks[s.n] = regions;
    // CUDA's keys hold the counters: a region has points enough to pay for some of them.
    constexpr std::int32_t kMostParts = 16;
    const std::int32_t parts = min_of(kMostParts, max_of(1, s.n / max_of(regions, 1)));
    const std::int32_t length = (s.n + parts - 1) / parts;
    std::int32_t* next = reinterpret_cast<std::int32_t*>(s.keys);
    const auto each_part = [&](const auto& function) {
      for_each_chunk(context, parts, 1, [&](std::int64_t part, std::int64_t) {
        const std::int32_t first = static_cast<std::int32_t>(part) * length;
        const std::int32_t end = min_of(first + length, s.n);
        std::int32_t* own = next + part * regions;
        for (std::int32_t i = first; i < end; ++i) function(i, own);
      });
    };
    std::fill_n(next, parts * regions, 0);
    each_part([&](std::int32_t i, std::int32_t* own) {
      const std::int32_t root = s.current_root(i);
      s.region[i] = root >= 0 ? s.region_of_root[root] : -1;
      if (root >= 0) ++own[s.region[i]];
    });
    std::int32_t place = 0;
    for (std::int32_t r = 0; r < regions; ++r) {
      s.region_first[r] = place;
      for (std::int32_t part = 0; part < parts; ++part) {
        place += std::exchange(next[part * regions + r], place);
      }
    }
    s.region_first[regions] = place;
    each_part([&](std::int32_t i, std::int32_t* own) {
      if (s.region[i] >= 0) s.order[own[s.region[i]]++] = static_cast<std::uint32_t>(i);
    });
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
      run_widest(SumSlices<Step>{step, s}, begin, end);
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
    const auto ranking = [&](std::uint32_t r) {
      return ranking_of(s, static_cast<std::int32_t>(r));
    };
    std::stable_sort(s.ranked, s.ranked + s.regions(),
                     [&](std::uint32_t a, std::uint32_t b) { return ranking(a) < ranking(b); });
    for (std::int32_t r = 0; r < s.regions(); ++r) s.ranking[r] = ranking(s.ranked[r]);
  }

 private:
  template <class Function>
  struct EachOf {
    const Function& function;
    template <class Set>
    void operator()(Set, std::int64_t begin, std::int64_t end) const {
      for (std::int64_t i = begin; i < end; ++i) function(i);
    }
  };

  template <class Step>
  struct SumSlices {
    const Step& step;
    const SegmentState& s;
    template <class Set>
    void operator()(Set, std::int64_t begin, std::int64_t end) const {
      for (std::int32_t slot = static_cast<std::int32_t>(begin); slot < end; ++slot) {
        const std::int32_t r = s.slot_region[slot];
        if (r < 0 || !step.wanted(r)) continue;
        typename Step::Sums sums;
        const SliceRange range = slice_range(s, slot, r);
        add_points(step, step.region(r), s.order + range.begin, range.end - range.begin, sums);
        std::memcpy(s.partial + std::int64_t{slot} * kMostRegionSums, &sums, sizeof(sums));
      }
    }
  };
};

}  // namespace sextant::detail::segment
