// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "sextant/core/simd/lanes.h"

// Even and odd elements of a row, for the host only.

namespace sextant::detail {

namespace shuffles {

template <int kFirst, class V, int... i>
void zip(const V& even, const V& odd, V& to, std::integer_sequence<int, i...>) {
  constexpr int kCount = sizeof...(i);
  to = __builtin_shufflevector(even, odd, (kFirst + i / 2 + (i % 2) * kCount)...);
}

template <int kFirst, class V, int... i>
void every_other(const V& low, const V& high, V& to, std::integer_sequence<int, i...>) {
  to = __builtin_shufflevector(low, high, (kFirst + 2 * i)...);
}

}  // namespace shuffles

/// Stores even[0], odd[0], even[1], odd[1] … . For packs of one register.
template <class T, int N, class Set>
void store_interleaved(const Lanes<T, N, Set>& even, const Lanes<T, N, Set>& odd, T* to) {
  static_assert(Lanes<T, N, Set>::kParts == 1);
  Lanes<T, N, Set> low, high;
  constexpr auto kAll = std::make_integer_sequence<int, N>();
  shuffles::zip<0>(even.part[0], odd.part[0], low.part[0], kAll);
  shuffles::zip<N / 2>(even.part[0], odd.part[0], high.part[0], kAll);
  low.store(to);
  high.store(to + N);
}

/// Elements 0, 2, 4 … of 2 N numbers. For packs of one register.
template <class Pack, class T>
Pack load_every_other(const T* from) {
  static_assert(Pack::kParts == 1);
  const Pack low = Pack::load(from);
  const Pack high = Pack::load(from + Pack::kCount);
  Pack result;
  shuffles::every_other<0>(low.part[0], high.part[0], result.part[0],
                           std::make_integer_sequence<int, Pack::kCount>());
  return result;
}

}  // namespace sextant::detail
