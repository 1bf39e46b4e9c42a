// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/workspace.h"

namespace sextant {

/// Sorts in place, stable and ascending. Equal keys keep their order, so the answer is unique. Keys
/// are uint32, uint64 or float (-0 equals +0; NaN with the sign bit sorts first, without it last).
/// Only the key bits begin .. end - 1 are looked at: fewer bits take fewer passes of 8 bits. A
/// second copy of the input lies in the workspace while it runs; without a workspace, memory is
/// taken for the time of the call.
struct SortBits {
  int begin = 0;
  int end = -1;  ///< -1: all bits of the key
};

template <class Key>
void sort_keys(const Context& context, View<Key> keys, SortBits bits, Workspace& workspace);
template <class Key>
void sort_keys(const Context& context, View<Key> keys, SortBits bits = {}) {
  Workspace workspace;
  sort_keys(context, keys, bits, workspace);
}

/// Carries a value with each key: sort indices 0, 1, 2, … to get the permutation.
template <class Key>
void sort_pairs(const Context& context, View<Key> keys, View<std::uint32_t> values, SortBits bits,
                Workspace& workspace);
template <class Key>
void sort_pairs(const Context& context, View<Key> keys, View<std::uint32_t> values,
                SortBits bits = {}) {
  Workspace workspace;
  sort_pairs(context, keys, values, bits, workspace);
}

}  // namespace sextant
