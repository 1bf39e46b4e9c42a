// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/simd/lanes_math.h"
#include "sextant/descriptor/sift/math.h"
#include "sextant/descriptor/sift/scale_space.h"

// Gradients of a run of pixels in a row, for the host only.

namespace sextant::detail::sift {

inline constexpr int kRun = 16;  ///< pixels at once
/// The longest row of a window, and what packs may add to it.
inline constexpr int kLongestRow = 256;

/// Rows are asked for before they are needed: windows lie anywhere in images larger than caches.
inline constexpr int kRowsAhead = 8;
inline void prefetch_row(const Rows& image, int row, int first, int end) {
  const float* at = image.row(row);
  for (int u = first; u < end; u += kRun) __builtin_prefetch(at + u);
}

template <class Pack>
Gradient<Pack> gradient_at(const Rows& image, int row, int column) {
  const float* at = image.row(row) + column;
  return gradient_of(
      Pack::load(at + 1) - Pack::load(at - 1),
      Pack::load(image.row(row + 1) + column) - Pack::load(image.row(row - 1) + column));
}

/// 0, 1, 2 …
template <class Pack>
Pack count_up() {
  float numbers[Pack::kCount];
  for (int i = 0; i < Pack::kCount; ++i) numbers[i] = static_cast<float>(i);
  return Pack::load(numbers);
}

/// exp(-(i - radius - middle)² / 2 sigma²) for i = 0 … 2 radius, and as many more as a pack has.
template <class Pack>
void fill_gaussian(int radius, float middle, float sigma, float* to) {
  const Pack scale(-0.5f * kLog2e / (sigma * sigma));
  for (int i = 0; i <= 2 * radius; i += Pack::kCount) {
    const Pack x = count_up<Pack>() + Pack(static_cast<float>(i - radius) - middle);
    LaneMath<Pack>::quick_exp2(LaneMath<Pack>::larger(Pack(-100.0f), x * x * scale)).store(to + i);
  }
}

}  // namespace sextant::detail::sift
