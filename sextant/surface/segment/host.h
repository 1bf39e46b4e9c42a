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

  static void sum_cells(const Context& context, const SumCell& sum) {
    each_cell_of_pixels(context, sum.s.cells, sum);
  }
  static void label_pixels(const Context& context, const LabelCell& label) {
    each_cell_of_pixels(context, label.s.cells, label);
  }

  static void find_noise(const Context& context, const PatchState& s, float given_inverse_m) {
    each_short(context, kDepthBins, FindLevel{s});
    each_short(context, kDepthBins, SteadyLevel{s});
    each_short(context, kDepthBins, NameLevel{s, given_inverse_m});
  }

  template <int kTerms>
  static void join_patches(const Context& context, const PatchState& s, const PixelSize* pixel,
                           int most_rounds) {
    PatchJoining<kTerms>(context, s, pixel).run(most_rounds);
  }

  /// Few edges lie between two patches that are not flat: these alone are sorted.
  static void join_pairs(const Context&, const PatchState& s, Workspace&) {
    std::int64_t count = 0;
    for (std::int64_t edge = 0; edge < 2 * std::int64_t{s.cells}; ++edge) {
      if (s.pair[edge] == kNoPatches) continue;
      s.is_smooth[count] = s.is_smooth[edge];
      s.pair[count++] = s.pair[edge];
    }
    // Whether an edge is smooth takes the place of the highest bit of its second patch, which is
    // never set; the order of equal pairs does not matter.
    constexpr std::uint64_t kSmoothBit = std::uint64_t{1} << 31;
    for (std::int64_t k = 0; k < count; ++k) {
      if (s.is_smooth[k] != 0) s.pair[k] |= kSmoothBit;
    }
    const auto without_bit = [](std::uint64_t pair) { return pair & ~kSmoothBit; };
    std::sort(s.pair, s.pair + count,
              [&](std::uint64_t a, std::uint64_t b) { return without_bit(a) < without_bit(b); });
    for (std::int64_t k = 0; k < count; ++k) {
      s.is_smooth[k] = (s.pair[k] & kSmoothBit) != 0 ? 1 : 0;
      s.pair[k] = without_bit(s.pair[k]);
    }
    for (std::int64_t k = 0; k < count; ++k) JoinPair{s, count}(k);
  }

  template <class Surface>
  static void link(const Context& context, const Surface& surface, const SegmentState& s) {
    for_each(context, s.n, LinkPoint<Surface>{surface, s});
  }

  /// Rows first, each a chain of runs whose pixels have the first as their parent; then runs to
  /// those of the next row, once for every two that touch. The counts hold the runs' first pixels.
  static void link(const Context& context, const PixelSurface& surface, const SegmentState& s) {
    const std::int32_t width = surface.width;
    const std::int32_t* patch = surface.patch;
    each_row(context, surface, [&](std::int32_t first) {
      for (std::int32_t i = first; i < first + width; ++i) {
        // Every pixel of a patch begins a region, so that those of one patch go on.
        const bool of_one_patch = i > first && patch[i] >= 0 && patch[i] == patch[i - 1];
        if (of_one_patch) {
          s.parent[i] = s.counts[i] = s.counts[i - 1];
          continue;
        }
        s.counts[i] = i;
        if (s.parent[i] < 0) continue;
        const bool goes_on =
            i > first && s.parent[i - 1] >= 0 && belong_together(surface, s, i - 1, i);
        if (goes_on) s.parent[i] = s.counts[i] = s.counts[i - 1];
      }
    });
    each_row(context, surface, [&](std::int32_t first) {
      const std::int32_t end = first + width;
      for (std::int32_t i = first; i < end; ++i) {
        if (i + kRun < end && end < s.n && is_linked_already(surface, s, i)) {
          i += kRun - 1;
        } else if (load_parent(s.parent, i) >= 0) {
          link_below(surface, s, i);
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
    if (rounds <= 0) return;
    std::int32_t count = list_points(context, s.n, s.ranks, left, [&](std::int32_t i) {
      return s.source[i] < 0 && s.flags[i] != kNoPoint;
    });
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
    const std::int32_t regions =
        list_points(context, s.n, s.ranks, s.region_root,
                    [&](std::int32_t i) { return s.source[i] == i && s.parent[i] == i; });
    for (std::int32_t r = 0; r < regions; ++r) s.region_of_root[s.region_root[r]] = r;
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

  template <class Surface>
  static void merge(const Context& context, const MergePoint<Surface>& merge) {
    for_each(context, merge.s.n, merge);
  }
  /// By rows, without a division for each pixel; most neighbours are of the same region.
  static void merge(const Context& context, const MergePoint<PixelSurface>& merge) {
    const std::int32_t width = merge.surface.width, n = merge.s.n;
    const std::int32_t* region = merge.s.region;
    each_row(context, merge.surface, [&](std::int32_t first) {
      const auto each_pair = [&](std::int32_t end, std::int32_t away) {
        for (std::int32_t i = first; i < end; ++i) {
          if (i + kRun <= end && equal_runs(region + i, region + i + away)) {
            i += kRun - 1;
          } else if (region[i] != region[i + away]) {
            merge(i, i + away);
          }
        }
      };
      each_pair(first + width - 1, 1);
      if (first + width < n) each_pair(first + width, width);
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

  template <class Step>
  static void finish_regions(const Context& context, const FinishRegion<Step>& finish) {
    each_region(context, finish.s, finish);
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
  /// Pixels that are looked at together: most lie inside a region, where there is nothing to do.
  static constexpr std::int32_t kRun = 16;
  static bool equal_runs(const std::int32_t* a, const std::int32_t* b) {
    return std::memcmp(a, b, kRun * sizeof(std::int32_t)) == 0;
  }
  /// Whether a run of pixels, with the next one and the run below it, is of one patch, and neither
  /// is the first of its row: then runs of rows have been joined at the first, and no gap is near.
  static bool is_linked_already(const PixelSurface& surface, const SegmentState& s,
                                std::int32_t i) {
    const std::int32_t* patch = surface.patch + i;
    const std::int32_t below = i + surface.width;
    return *patch >= 0 && s.counts[i] != i && s.counts[below] != below &&
           equal_runs(patch, patch + 1) && equal_runs(patch, patch + surface.width);
  }

  /// Calls function(first pixel) for every row of an image.
  template <class Function>
  static void each_row(const Context& context, const PixelSurface& surface,
                       const Function& function) {
    constexpr std::int64_t kRowsAtOnce = 8;
    for_each_chunk(context, surface.height, kRowsAtOnce, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t v = begin; v < end; ++v) {
        function(static_cast<std::int32_t>(v) * surface.width);
      }
    });
  }

  /// Writes the points for which the condition holds to `list`, in their order; returns how many.
  /// `counts` has room for a number for each kPointsAtOnce points.
  static constexpr std::int64_t kPointsAtOnce = 4096;
  template <class Condition>
  static std::int32_t list_points(const Context& context, std::int32_t points, std::int32_t* counts,
                                  std::int32_t* list, const Condition& condition) {
    const auto each_chunk = [&](const auto& function) {
      for_each_chunk(context, points, kPointsAtOnce, [&](std::int64_t begin, std::int64_t end) {
        function(static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end),
                 counts[begin / kPointsAtOnce]);
      });
    };
    each_chunk([&](std::int32_t begin, std::int32_t end, std::int32_t& count) {
      std::int32_t found = 0;
      for (std::int32_t i = begin; i < end; ++i) found += condition(i) ? 1 : 0;
      count = found;
    });
    std::int32_t total = 0;
    for (std::int64_t k = 0; k * kPointsAtOnce < points; ++k) {
      total += std::exchange(counts[k], total);
    }
    each_chunk([&](std::int32_t begin, std::int32_t end, std::int32_t& count) {
      const std::int64_t next = begin / kPointsAtOnce + 1;
      const std::int32_t until = next * kPointsAtOnce < points ? counts[next] : total;
      std::int32_t place = count;
      for (std::int32_t i = begin; i < end && place < until; ++i) {
        if (condition(i)) list[place++] = i;
      }
    });
    return total;
  }

  /// Steps that look at every pixel are compiled for every instruction set; the compiler makes
  /// vectors of their loops.
  template <class Function>
  static void each_cell_of_pixels(const Context& context, std::int64_t count,
                                  const Function& function) {
    for_each_chunk(context, count, kCellsAtOnce, [&](std::int64_t begin, std::int64_t end) {
      run_widest(EachOf<Function>{function}, begin, end);
    });
  }

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
