// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/buffer.h"

namespace sextant {

/// Stable ascending sort, in place. Equal keys keep their order, so the answer is unique.
/// Keys: uint32, uint64 and float (-0 equals +0; NaN with the sign bit sorts first, without it
/// last). Only key bits begin_bit .. end_bit - 1 are looked at: fewer bits are fewer passes of 8
/// bits. Memory for a second copy of the input is taken while it runs.
struct SortBits {
  int begin = 0;
  int end = -1;  ///< -1: all bits of the key
};

template <class Key>
void sort_keys(const Context& context, View<Key> keys, SortBits bits = {});

/// Carries a value with each key: sort indices 0, 1, 2, … to get the permutation.
template <class Key>
void sort_pairs(const Context& context, View<Key> keys, View<std::uint32_t> values,
                SortBits bits = {});

namespace detail {
/// `values` is null for keys alone.
template <class Key>
void sort_cuda(const Context& context, View<Key> keys, std::uint32_t* values, SortBits bits);
}  // namespace detail

}  // namespace sextant
