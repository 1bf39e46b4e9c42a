// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_fp16.h>

#include "sextant/core/cuda/warp.cuh"
#include "sextant/match/descriptors/lists.cuh"

// What the steps of the search among rows of floats share. For floats.cu only.

namespace sextant::detail::descriptors {

namespace {

constexpr int kTile = 128;     // queries and rows of a block
constexpr int kWarpTile = 64;  // of a warp: two by two warps
constexpr int kColumnWarps = kTile / kWarpTile;
constexpr int kStep = 32;  // numbers of a row that are in shared memory at a time
constexpr int kSpare = 2;  // rows in a list beyond those asked for
constexpr std::int32_t kNobody = INT32_MAX;

/// Rows as pairs of halves.
struct SplitRows {
  const __half* high;
  const __half* low;
};

struct FloatSearch {
  SplitRows queries;
  SplitRows base;
  const float* query_values;
  const float* base_values;
  const float* query_norms_sq;  ///< infinite for rows that take no part
  const float* base_norms_sq;
  const float* query_largest;  ///< the largest finite norm squared, one element
  const float* base_largest;
  const std::int32_t* segment_ends;
  std::int64_t query_rows;
  std::int64_t base_rows;
  int length;
  int padded_length;  ///< a multiple of kStep
  int parts;
  int k;
  int list;                   ///< length of the lists: k + kSpare
  Neighbour<float>* partial;  ///< [segment][part][column warp][query][list]
  /// [segment][query]: the smallest key that is the last of a list, as an ordered integer. What is
  /// above it by twice the error is not among the nearest, so that parts save each other work;
  /// results do not depend on when they learn of it.
  std::int32_t* shared_limits;
  std::uint8_t* undecided;  ///< [segment][query]
  std::int32_t* indices;
  float* distances_sq;
};

/// The power of two that brings the largest norm below 1, as far as the square of what it scales by
/// is a number, too.
__device__ float scale_for(float largest_norm_sq) {
  constexpr int kMostExponent = 60;
  if (!(largest_norm_sq > 0.0f)) return 1.0f;
  return ldexpf(1.0f, min(-(ilogbf(largest_norm_sq) + 1) / 2 - 1, kMostExponent));
}

/// How far a key, |t|² - 2 q t, may be from the truth. A step of 16 products of scaled rows, whose
/// sums stay below 1/2, loses at most some 24 units of 2⁻²⁵ where the hardware adds four at a time
/// and cuts off (the oldest kind); 2⁻²⁰ covers it.
__device__ float key_error(const FloatSearch& search) {
  const float products = static_cast<float>(3 * search.padded_length / 16 + 16);
  const float scaled =
      products * 0x1p-20f + sqrtf(static_cast<float>(search.padded_length)) * 0x1p-22f;
  const float q = *search.query_largest;
  const float t = *search.base_largest;
  return 2.0f * scaled / (scale_for(q) * scale_for(t)) + 0x1p-20f * (q + t);
}

}  // namespace

}  // namespace sextant::detail::descriptors
