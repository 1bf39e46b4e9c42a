// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/workspace.h"
#include "sextant/surface/segment/patches.h"
#include "sextant/surface/segment/steps.h"

// The memory of a segmentation, which stays in the workspace until its innermost scope ends.

namespace sextant::detail::segment {

/// Pieces of one block: what is allocated as one piece is kept by malloc from call to call, where
/// a dozen pieces would go back to the system and be cleared anew. Without a block it measures.
class Pieces {
 public:
  explicit Pieces(std::byte* block = nullptr) : block_(block) {}
  template <class T>
  T* take(std::int64_t count) {
    constexpr std::int64_t kAlignment = 256;
    std::byte* at = block_ == nullptr ? nullptr : block_ + used_;
    const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(T));
    used_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return reinterpret_cast<T*>(at);
  }
  std::int32_t* integers(std::int64_t count) { return take<std::int32_t>(count); }
  std::int64_t used() const { return used_; }

 private:
  std::byte* block_;
  std::int64_t used_ = 0;
};

/// Calls place(pieces) to learn the size of the block, then to hand out its pieces.
template <class Place>
void take_block(const Context& context, Workspace& workspace, const Place& place) {
  Pieces sizes;
  place(sizes);
  Pieces pieces(workspace.take<std::byte>(context, sizes.used()).data);
  place(pieces);
}

inline SegmentState segment_state(const Context& context, std::int64_t points,
                                  std::int64_t most_regions, bool with_areas,
                                  Workspace& workspace) {
  const std::int64_t slots = most_regions + points / kSliceLength + 2;
  SegmentState s;
  s.n = static_cast<std::int32_t>(points);
  s.most = static_cast<std::int32_t>(most_regions);
  s.slots = static_cast<std::int32_t>(slots);
  take_block(context, workspace, [&](Pieces& pieces) {
    s.flags = pieces.take<std::uint8_t>(points);
    s.parent = pieces.integers(points);
    s.counts = pieces.integers(points);
    s.source = pieces.integers(points);
    s.source_before = pieces.integers(points);
    s.region = pieces.integers(points);
    s.ranks = pieces.integers(points + 1);
    s.region_of_root = pieces.integers(points);
    s.keys = pieces.take<std::uint32_t>(points);
    s.order = pieces.take<std::uint32_t>(points);
    s.area_m2 = with_areas ? pieces.take<float>(points) : nullptr;
    s.region_first = pieces.integers(most_regions + 1);
    s.numbers = pieces.integers(most_regions + 1);
    s.region_root = pieces.integers(most_regions);
    s.leader = pieces.integers(most_regions);
    s.slot_region = pieces.integers(slots);
    s.partial = pieces.take<double>(slots * kMostRegionSums);
    s.moments = pieces.take<RegionMoments>(most_regions);
    s.fits = pieces.take<RegionFit>(most_regions);
    s.ranking = pieces.take<std::uint64_t>(most_regions);
    s.ranked = pieces.take<std::uint32_t>(most_regions);
  });
  return s;
}

inline PatchState patch_state(const Context& context, int width, int height, Workspace& workspace) {
  PatchState s;
  s.columns = (width + kCellPx - 1) / kCellPx;
  s.rows = (height + kCellPx - 1) / kCellPx;
  s.cells = s.columns * s.rows;
  const std::int64_t edges = 2 * std::int64_t{s.cells};
  take_block(context, workspace, [&](Pieces& pieces) {
    s.root = pieces.integers(s.cells);
    s.changed = pieces.integers(s.cells);
    s.target = pieces.integers(s.cells);
    s.joining = pieces.integers(s.cells);
    s.joined = pieces.integers(s.cells);
    s.joins_of_round = pieces.integers(1);
    s.group = pieces.integers(s.cells);
    s.group_pixels = pieces.integers(s.cells);
    s.histogram = pieces.integers(std::int64_t{kDepthBins} * kNoiseBins);
    s.found_level = pieces.take<float>(kDepthBins);
    s.steady_level = pieces.take<float>(kDepthBins);
    s.centre = pieces.take<double>(edges);
    s.own = pieces.take<double>(s.cells);
    s.unit = pieces.take<double>(s.cells);
    s.best = pieces.take<std::uint64_t>(s.cells);
    s.cost = pieces.take<float>(edges);
    s.tolerance = pieces.take<float>(s.cells);
    s.pair = pieces.take<std::uint64_t>(edges);
    s.is_smooth = pieces.take<std::uint32_t>(edges);
    s.sums = pieces.take<PatchSums>(s.cells);
    s.patches = pieces.take<Patch>(s.cells);
    s.noise = pieces.take<NoiseLevels>(1);
  });
  return s;
}

}  // namespace sextant::detail::segment
