// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/neighbours/nearest.h"

namespace sextant::detail::neighbours {

/// The searches on the host, cell by cell and many candidates at a time; same rows as the functions
/// of one query in nearest.h.
void find_rows_cpu(const Context& context, const NeighbourGridView& grid, const GridPoint* queries,
                   std::int64_t count, int k, std::int32_t* indices, float* distances_sq);
void count_rows_cpu(const Context& context, std::int64_t count, const CountRow& row);
void list_rows_cpu(const Context& context, std::int64_t count, const ListRow& row);

}  // namespace sextant::detail::neighbours
