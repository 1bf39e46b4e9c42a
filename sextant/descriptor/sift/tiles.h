// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/simd/lane_math.h"
#include "sextant/descriptor/sift/mirror.h"
#include "sextant/descriptor/sift/scale_space.h"

// Blurring of one tile by a block of threads: columns are summed up into lines, then runs of pixels
// along these lines. Products and sums are those of the CPU in the same order, and every product is
// added with one rounding, so that a CPU that does so gives the same bits.

namespace sextant::detail::sift {

/// A scale, or the photo in grey.
struct GreyPlane {
  const float* data;
  std::int64_t stride;
  int width, height;
};

inline constexpr int kBlockColumns = 64;  ///< of the result
inline constexpr int kBlockRows = 32;     ///< a lane takes one of them
inline constexpr int kBlockThreads = 256;
/// Pixels that a thread sums up together: it reads those around them once.
inline constexpr int kTogether = 8;

/// Half of a symmetric filter; weights beyond its radius are 0, and change no bit.
template <int kRadius>
struct FixedKernel {
  float weight[kRadius + 1];

  explicit FixedKernel(const Kernel& kernel) {
    for (int k = 0; k <= kRadius; ++k) weight[k] = k <= kernel.radius ? kernel.weight[k] : 0.0f;
  }
};

/// The sums of kTogether neighbours among kTogether + 2 kRadius values.
template <int kRadius>
SEXTANT_HD inline void sum_together(const FixedKernel<kRadius>& kernel,
                                    const float (&values)[kTogether + 2 * kRadius],
                                    float (&sums)[kTogether]) {
  SEXTANT_UNROLL
  for (int i = 0; i < kTogether; ++i) {
    float sum = kernel.weight[0] * values[i + kRadius];
    SEXTANT_UNROLL
    for (int k = 1; k <= kRadius; ++k) {
      sum = LaneMath<float>::multiply_add(kernel.weight[k],
                                          values[i + kRadius - k] + values[i + kRadius + k], sum);
    }
    sums[i] = sum;
  }
}

template <int kRadius>
struct BlurBlock {
  static constexpr int kColumns = kBlockColumns + 2 * kRadius;
  static constexpr int kStride = kColumns | 1;  ///< odd: lanes that take rows meet all banks
  static constexpr int kItems = kColumns * (kBlockRows / kTogether);

  const GreyPlane& from;
  const FixedKernel<kRadius>& kernel;
  int u, v;  ///< the first pixel of the result

  /// Sums up kTogether pixels of a column of the lines.
  SEXTANT_HD void sum_rows(int item, float* lines) const {
    const int column = item % kColumns, row = item / kColumns * kTogether;
    const float* at = from.data + mirrored(u - kRadius + column, from.width);
    const int first = v + row - kRadius;
    constexpr int kCount = kTogether + 2 * kRadius;
    float values[kCount];
    if (first >= 0 && first + kCount <= from.height) {
      at += first * from.stride;
      SEXTANT_UNROLL
      for (int i = 0; i < kCount; ++i) values[i] = at[i * from.stride];
    } else {
      SEXTANT_UNROLL
      for (int i = 0; i < kCount; ++i) {
        values[i] = at[mirrored(first + i, from.height) * from.stride];
      }
    }
    float sums[kTogether];
    sum_together(kernel, values, sums);
    SEXTANT_UNROLL
    for (int i = 0; i < kTogether; ++i) lines[(row + i) * kStride + column] = sums[i];
  }

  /// Sums up kTogether pixels of a row of the result.
  SEXTANT_HD void sum_line(int row, int column, const float* lines,
                           float (&sums)[kTogether]) const {
    const float* line = lines + row * kStride + column;
    float values[kTogether + 2 * kRadius];
    SEXTANT_UNROLL
    for (int i = 0; i < kTogether + 2 * kRadius; ++i) values[i] = line[i];
    sum_together(kernel, values, sums);
  }
};

template <int kRadius>
struct FixedDoublingKernel {
  float weight[2 * kRadius + 1];

  explicit FixedDoublingKernel(const DoublingKernel& kernel) {
    const int before = kRadius - kernel.radius;
    for (int i = 0; i <= 2 * kRadius; ++i) {
      const bool inside = i >= before && i - before <= 2 * kernel.radius;
      weight[i] = inside ? kernel.weight[i - before] : 0.0f;
    }
  }
};

/// Doubles and blurs.
template <int kRadius>
struct DoublingBlock {
  static constexpr int kHalf = kTogether / 2;  ///< pixels of the photo that a thread takes
  static constexpr int kColumns = kBlockColumns / 2 + 2 * kRadius;
  static constexpr int kStride = (kColumns > kBlockColumns ? kColumns : kBlockColumns) | 1;
  static constexpr int kItems = kColumns * (kBlockRows / kTogether);

  const GreyPlane& from;
  const FixedDoublingKernel<kRadius>& kernel;
  int u, v;  ///< the first pixel of the result; both are even

  SEXTANT_HD void sum_rows(int item, float* lines) const {
    const int column = item % kColumns, row = item / kColumns * kTogether;
    const float* at = from.data + mirrored_at_edge(u / 2 - kRadius + column, from.width);
    const int first = v / 2 + row / 2 - kRadius;
    float values[kHalf + 2 * kRadius], sums[kTogether];
    SEXTANT_UNROLL
    for (int i = 0; i < kHalf + 2 * kRadius; ++i) {
      values[i] = at[mirrored_at_edge(first + i, from.height) * from.stride];
    }
    sum_pairs(values, sums);
    SEXTANT_UNROLL
    for (int i = 0; i < kTogether; ++i) lines[(row + i) * kStride + column] = sums[i];
  }

  SEXTANT_HD void sum_line(int row, int column, const float* lines,
                           float (&sums)[kTogether]) const {
    const float* line = lines + row * kStride + column / 2;
    float values[kHalf + 2 * kRadius];
    SEXTANT_UNROLL
    for (int i = 0; i < kHalf + 2 * kRadius; ++i) values[i] = line[i];
    sum_pairs(values, sums);
  }

 private:
  SEXTANT_HD void sum_pairs(const float (&values)[kHalf + 2 * kRadius],
                            float (&sums)[kTogether]) const {
    SEXTANT_UNROLL
    for (int i = 0; i < kHalf; ++i) {
      float even = 0, odd = 0;
      SEXTANT_UNROLL
      for (int k = 0; k <= 2 * kRadius; ++k) {
        even = LaneMath<float>::multiply_add(kernel.weight[k], values[i + k], even);
        odd = LaneMath<float>::multiply_add(kernel.weight[2 * kRadius - k], values[i + k], odd);
      }
      sums[2 * i] = even;
      sums[2 * i + 1] = odd;
    }
  }
};

/// Where a block writes its result, and every other pixel of every other row once more.
struct BlockTarget {
  float* data;
  std::int64_t stride;
  int width, height;
  float* half;  ///< null for none
  std::int64_t half_stride;
  int half_width, half_height;

  /// Blocks reach beyond the image; what lies there is not written.
  SEXTANT_HD void write(int u, int v, float value) const {
    if (u < width && v < height) data[v * stride + u] = value;
  }
  /// u and v are even.
  SEXTANT_HD void write_half(int u, int v, float value) const {
    if (u / 2 < half_width && v / 2 < half_height) half[v / 2 * half_stride + u / 2] = value;
  }
};

/// One pixel of a wide filter, along columns or along rows.
SEXTANT_HD inline float sum_column(const GreyPlane& from, const Kernel& kernel, int u, int v) {
  const auto at = [&](int row) { return from.data[mirrored(row, from.height) * from.stride + u]; };
  float sum = kernel.weight[0] * at(v);
  for (int k = 1; k <= kernel.radius; ++k) {
    sum = LaneMath<float>::multiply_add(kernel.weight[k], at(v - k) + at(v + k), sum);
  }
  return sum;
}
SEXTANT_HD inline float sum_row(const GreyPlane& from, const Kernel& kernel, int u, int v) {
  const float* row = from.data + v * from.stride;
  const auto at = [&](int column) { return row[mirrored(column, from.width)]; };
  float sum = kernel.weight[0] * at(u);
  for (int k = 1; k <= kernel.radius; ++k) {
    sum = LaneMath<float>::multiply_add(kernel.weight[k], at(u - k) + at(u + k), sum);
  }
  return sum;
}

}  // namespace sextant::detail::sift
