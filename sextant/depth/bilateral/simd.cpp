// SPDX-License-Identifier: Apache-2.0
#include "sextant/depth/bilateral/simd.h"

#include <algorithm>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sextant::detail::bilateral {

namespace {

constexpr int kTileRows = kBilateralTileHeight + 2 * kLargestBilateralRadius;

/// Elements from one row of a tile with its margin to the next.
constexpr int kStride = kBilateralTileWidth + 2 * kLargestBilateralRadius + 2;
/// Pixels summed at a time: two registers of 16 lanes, enough to hide the polynomial's latency.
constexpr int kRun = 32;

/// Σ w and Σ w (V_q - V_p) of kRun neighbouring pixels. `corner` is the first pixel of the
/// first one's window in a tile of scaled depths.
using SumRun = void (*)(const float* corner, const BilateralWindow& window, float* weight_sums,
                        float* difference_sums);

/// Scaled depths of a tile and of `radius` pixels around it; what lies outside the image is a hole.
[[gnu::always_inline]] inline void load_tile(const ImageView<const float>& depth_m,
                                             const BilateralTile& tile,
                                             const BilateralWeights& weights, float* scaled) {
  const int radius = weights.radius;
  const int first = std::max(tile.u - radius, 0);
  const int last = std::min(tile.u + kBilateralTileWidth + radius, depth_m.width);
  for (int y = 0; y < tile.height + 2 * radius; ++y) {
    float* to = scaled + y * kStride;
    const int v = tile.v - radius + y;
    std::fill(to, to + kStride, kScaledHole);
    if (v < 0 || v >= depth_m.height) continue;
    const float* from = depth_m.row(v) + first;
    to += first - (tile.u - radius);
    for (int i = 0; i < last - first; ++i) to[i] = scaled_or_hole(from[i], weights.scale);
  }
}

template <SumRun kSum>
[[gnu::always_inline]] inline void filter_tile(const BilateralTile& tile,
                                               const BilateralWeights& weights,
                                               const BilateralWindow& window,
                                               const ImageView<const float>& depth_m,
                                               const ImageView<float>& filtered_m) {
  alignas(64) float scaled[kTileRows * kStride];
  alignas(64) float weight_sums[kRun];
  alignas(64) float difference_sums[kRun];
  load_tile(depth_m, tile, weights, scaled);
  for (int y = 0; y < tile.height; ++y) {
    const float* from = depth_m.row(tile.v + y) + tile.u;
    float* to = filtered_m.row(tile.v + y) + tile.u;
    for (int x = 0; x < tile.width; x += kRun) {
      kSum(scaled + y * kStride + x, window, weight_sums, difference_sums);
      const int count = std::min(kRun, tile.width - x);
      for (int i = 0; i < count; ++i) {
        to[x + i] =
            filtered_depth(from[x + i], weights.unscale, weight_sums[i], difference_sums[i]);
      }
    }
  }
}

/// What the compiler vectorises, for each target that calls it.
template <bool kFused>
[[gnu::always_inline]] inline void sum_run(const float* corner, const BilateralWindow& window,
                                           float* weight_sums, float* difference_sums) {
  const int radius = window.radius;
  const float* centers = corner + radius * kStride + radius;
  float center[kRun], weight[kRun], difference[kRun];
  for (int i = 0; i < kRun; ++i) {
    center[i] = centers[i];
    weight[i] = difference[i] = 0;
  }
  const float* tap = window.log2_spatial;
  for (int y = 0; y <= 2 * radius; ++y) {
    for (int x = 0; x <= 2 * radius; ++x) {
      const float log2_spatial = *tap++;
      const float* neighbours = corner + y * kStride + x;
      for (int i = 0; i < kRun; ++i) {
        add_neighbour<kFused>(center[i], neighbours[i], log2_spatial, weight[i], difference[i]);
      }
    }
  }
  for (int i = 0; i < kRun; ++i) {
    weight_sums[i] = weight[i];
    difference_sums[i] = difference[i];
  }
}

void sum_run_portable(const float* corner, const BilateralWindow& window, float* weight_sums,
                      float* difference_sums) {
#if defined(__aarch64__)
  constexpr bool kFused = true;
#else
  constexpr bool kFused = false;
#endif
  sum_run<kFused>(corner, window, weight_sums, difference_sums);
}

void filter_tile_portable(const BilateralTile& tile, const BilateralWeights& weights,
                          const BilateralWindow& window, const ImageView<const float>& depth_m,
                          const ImageView<float>& filtered_m) {
  filter_tile<sum_run_portable>(tile, weights, window, depth_m, filtered_m);
}

#if defined(__x86_64__)

#define SEXTANT_AVX512 __attribute__((target("avx512f,avx512dq")))

__attribute__((target("avx2,fma"))) void sum_run_avx2(const float* corner,
                                                      const BilateralWindow& window,
                                                      float* weight_sums, float* difference_sums) {
  sum_run<true>(corner, window, weight_sums, difference_sums);
}

/// As add_neighbour. AVX-512 splits off the fraction in [0, 1) and scales by the whole part in one
/// instruction each, which no compiler finds: a quarter faster.
SEXTANT_AVX512 inline void add_neighbour_avx512(__m512 center, __m512 neighbour,
                                                __m512 log2_spatial, __m512& weight_sum,
                                                __m512& difference_sum) {
  constexpr int kFractionAboveFloor = 0x09;  // round down, raise no exception
  const __m512 difference = _mm512_sub_ps(neighbour, center);
  const __m512 x = _mm512_fnmadd_ps(difference, difference, log2_spatial);
  const __mmask16 counts = _mm512_cmp_ps_mask(x, _mm512_set1_ps(-126.0f), _CMP_GT_OQ);
  const __m512 f = _mm512_maskz_reduce_ps(counts, x, kFractionAboveFloor);
  __m512 p = _mm512_set1_ps(0.0135341678f);
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.0520114601f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.241442755f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.693003833f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1.00000262f));
  const __m512 weight = _mm512_maskz_scalef_ps(counts, p, x);
  weight_sum = _mm512_add_ps(weight_sum, weight);
  difference_sum = _mm512_fmadd_ps(weight, difference, difference_sum);
}

SEXTANT_AVX512 void sum_run_avx512(const float* corner, const BilateralWindow& window,
                                   float* weight_sums, float* difference_sums) {
  static_assert(kRun == 32);
  const int radius = window.radius;
  const float* centers = corner + radius * kStride + radius;
  const __m512 center_a = _mm512_loadu_ps(centers);
  const __m512 center_b = _mm512_loadu_ps(centers + 16);
  __m512 weight_a = _mm512_setzero_ps(), weight_b = weight_a;
  __m512 difference_a = weight_a, difference_b = weight_a;
  const float* tap = window.log2_spatial;
  for (int y = 0; y <= 2 * radius; ++y) {
    const float* neighbours = corner + y * kStride;
    for (int x = 0; x <= 2 * radius; ++x) {
      const __m512 log2_spatial = _mm512_set1_ps(*tap++);
      add_neighbour_avx512(center_a, _mm512_loadu_ps(neighbours + x), log2_spatial, weight_a,
                           difference_a);
      add_neighbour_avx512(center_b, _mm512_loadu_ps(neighbours + x + 16), log2_spatial, weight_b,
                           difference_b);
    }
  }
  _mm512_storeu_ps(weight_sums, weight_a);
  _mm512_storeu_ps(weight_sums + 16, weight_b);
  _mm512_storeu_ps(difference_sums, difference_a);
  _mm512_storeu_ps(difference_sums + 16, difference_b);
}

__attribute__((target("avx2,fma"))) void filter_tile_avx2(const BilateralTile& tile,
                                                          const BilateralWeights& weights,
                                                          const BilateralWindow& window,
                                                          const ImageView<const float>& depth_m,
                                                          const ImageView<float>& filtered_m) {
  filter_tile<sum_run_avx2>(tile, weights, window, depth_m, filtered_m);
}

SEXTANT_AVX512 void filter_tile_avx512(const BilateralTile& tile, const BilateralWeights& weights,
                                       const BilateralWindow& window,
                                       const ImageView<const float>& depth_m,
                                       const ImageView<float>& filtered_m) {
  filter_tile<sum_run_avx512>(tile, weights, window, depth_m, filtered_m);
}

#endif

}  // namespace

BilateralTileFilter bilateral_tile_filter(InstructionSet set) {
  switch (set) {
#if defined(__x86_64__)
    case InstructionSet::kAvx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")
                 ? filter_tile_avx512
                 : nullptr;
    case InstructionSet::kAvx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? filter_tile_avx2
                                                                             : nullptr;
#endif
    case InstructionSet::kPortable:
      return filter_tile_portable;
    default:
      return nullptr;
  }
}

BilateralTileFilter fastest_bilateral_tile_filter() {
  for (const InstructionSet set : {InstructionSet::kAvx512, InstructionSet::kAvx2}) {
    if (const BilateralTileFilter filter = bilateral_tile_filter(set)) return filter;
  }
  return filter_tile_portable;
}

}  // namespace sextant::detail::bilateral
