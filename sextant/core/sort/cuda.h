// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/sort.h"

namespace sextant::detail {

/// `values` is null for keys alone.
template <class Key>
void sort_cuda(const Context& context, View<Key> keys, std::uint32_t* values, SortBits bits,
               Workspace& workspace);

}  // namespace sextant::detail
