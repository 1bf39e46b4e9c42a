// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/pairs/math.h"

// What the searches in images and in clouds do alike before and after the search itself. For .cpp
// files only.

namespace sextant::detail::pairs {

PairLimits limits_of(const PairsOptions& options);
Lookers lookers_of(std::int64_t points, const PairsOptions& options);

/// Throws unless both outputs lie on the context's device and there are not too many points.
void check_search(const Context& context, std::int64_t points, View<PointPair> pairs,
                  View<std::int32_t> count);

/// A list with room in the workspace for the partners and for the sums of their counts.
PairList make_list(const Context& context, const Lookers& lookers, View<PointPair> pairs,
                   View<std::int32_t> count, Workspace& workspace);
/// Writes the pairs and their number, once the partners are found.
void write_list(const Context& context, const PairList& list, Workspace& workspace);

/// One element with this resolution on the context's device, for functions that read it there.
Buffer<SurfaceStatistics> statistics_with(const Context& context, float resolution_m);

/// Runs search(pairs, count, workspace) with room for all pairs that it may find, and returns those
/// that it found, in memory of their own size.
template <class Search>
Buffer<PointPair> found_pairs(const Context& context, std::int64_t points,
                              const PairsOptions& options, const Search& search) {
  const Lookers lookers = lookers_of(points, options);
  Buffer<PointPair> pairs(context, lookers.samples * kPartnersPerPoint);
  Buffer<std::int32_t> count(context, 1);
  Workspace workspace;
  search(pairs.view(), count.view(), workspace);
  return copy(context, pairs.view().subview(0, to_host(context, count)[0]));
}

}  // namespace sextant::detail::pairs
