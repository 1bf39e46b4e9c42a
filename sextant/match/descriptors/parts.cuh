// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "sextant/core/cuda/backend.h"
#include "sextant/core/for_each.h"
#include "sextant/match/descriptors/job.h"

// How the base is split so that there are blocks for the whole GPU. For .cu files only.

namespace sextant::detail::descriptors {

/// Part `part` of `parts` of a segment: whole tiles, but for the end.
__device__ inline Segment part_of(const Segment& segment, int part, int parts, int tile_rows) {
  const std::int64_t tiles = (segment.end - segment.begin + tile_rows - 1) / tile_rows;
  const auto edge = [&](std::int64_t p) {
    const std::int64_t row = segment.begin + tiles * p / parts * tile_rows;
    return static_cast<std::int32_t>(row < segment.end ? row : segment.end);
  };
  return {edge(part), edge(part + 1)};
}

struct PartPlan {
  int parts;  ///< of each segment
  dim3 grid;  ///< x: segment and part, y: block of queries
};

inline PartPlan plan_parts(const Context& context, std::int64_t queries, int block_queries,
                           std::int64_t segments, std::int64_t base_rows, int tile_rows,
                           int blocks_per_multiprocessor) {
  const std::int64_t query_blocks = (queries + block_queries - 1) / block_queries;
  require(query_blocks <= 65535, "queries: ", queries, " rows are too many for one search");
  const std::int64_t at_once = std::int64_t{multiprocessors(context)} * blocks_per_multiprocessor;
  const std::int64_t tiles = base_rows / tile_rows + 1;
  // More than one tile in a part on average, and fewer parts than an index can count.
  const std::int64_t parts = std::clamp<std::int64_t>(at_once / (query_blocks * segments), 1,
                                                      std::max<std::int64_t>(tiles / segments, 1));
  require(segments * parts <= INT32_MAX, "segment_ends: ", segments, " segments are too many");
  return {static_cast<int>(parts),
          dim3(static_cast<unsigned>(segments * parts), static_cast<unsigned>(query_blocks))};
}

/// Writes one number into all elements.
struct Fill {
  std::int32_t value;
  std::int32_t* to;
  SEXTANT_HD void operator()(std::int64_t i) const { to[i] = value; }
};

/// Blocks of kForEachBlock threads.
inline unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>((threads + kForEachBlock - 1) / kForEachBlock);
}

}  // namespace sextant::detail::descriptors
