// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/neighbours.h"

// What every operation does that searches a grid around points of the caller.

namespace sextant::detail::neighbours {

/// Throws Error unless the grid was built, on the context's device, and from `points` points where
/// the caller knows how many there are.
void check_grid(const Context& context, const NeighbourGrid& grid, std::int64_t points = -1);

/// The queries in the order of the grid's cells, those that are not finite last. They stay in the
/// workspace until its innermost scope ends.
View<GridPoint> ordered_queries(const Context& context, const NeighbourGridView& grid,
                                View<const Vec3f> queries, Workspace& workspace);

}  // namespace sextant::detail::neighbours
