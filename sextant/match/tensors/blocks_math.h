// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/match/tensors/math.h"

// An upper bound of the cosine of two tensors that costs little. The bins fall into blocks of
// 2 × 2 × 2. In each, Σ pq ≤ |p| |q| (Cauchy and Schwarz), so that the cosine is at most the sum of
// the products of the blocks' norms over those of the tensors. These shares are kept in 127ths,
// rounded up: four fit a word, and 125 of them 32 words.

namespace sextant::detail::tensors {

inline constexpr int kBlockWords = 32;
inline constexpr int kMostBlocks = 125;
inline constexpr int kBatch = 16;  ///< tensors of the library whose words lie beside each other
inline constexpr std::int32_t kWholeShare = 127;

SEXTANT_HD inline int block_of(int bin, int bins) {
  const int side = (bins + 1) / 2;
  const int i = bin % bins, j = bin / bins % bins, k = bin / (bins * bins);
  return i / 2 + side * (j / 2 + side * (k / 2));
}

/// A block's share of the norm, rounded up. The sums are of squares.
SEXTANT_HD inline std::uint32_t share_of(std::uint64_t block_sq, std::uint64_t norm_sq) {
  if (block_sq == 0) return 0;
  const double share =
      kWholeShare * std::sqrt(static_cast<double>(block_sq) / static_cast<double>(norm_sq));
  const auto above = static_cast<std::int32_t>(share) + 1;
  return static_cast<std::uint32_t>(above < kWholeShare ? above : kWholeShare);
}

/// The least sum of products of shares that a cosine of `least` can have. What rounding does to
/// shares and cosines is far below the margin of 10⁻⁶.
SEXTANT_HD inline std::int32_t least_sum(float least) {
  const double sum = kWholeShare * kWholeShare * (static_cast<double>(least) - 1e-6);
  return sum > 0.0 ? static_cast<std::int32_t>(sum) : 0;
}

/// Where word w of the tensor at a place lies.
SEXTANT_HD inline std::int64_t word_at(std::int64_t place, int w) {
  return (place / kBatch * kBlockWords + w) * kBatch + place % kBatch;
}
SEXTANT_HD inline std::int64_t batches_of(std::int64_t places) {
  return (places + kBatch - 1) / kBatch;
}

/// Element i: the norm and the blocks of the tensor at place i; zeros behind the last one.
struct ArrangeBlocks {
  std::int64_t size;
  int bins;
  const std::uint16_t* indices;
  const std::uint32_t* areas;
  const std::int32_t* sizes;
  const std::int64_t* first;
  std::uint64_t* norms_sq;
  std::uint32_t* blocks;
  SEXTANT_HD void operator()(std::int64_t i) const {
    std::uint64_t sums[4 * kBlockWords] = {};
    std::uint64_t norm_sq = 0;
    if (i < size) {
      for (std::int64_t e = first[i]; e < first[i] + sizes[i]; ++e) {
        const std::uint64_t square = std::uint64_t{areas[e]} * areas[e];
        sums[block_of(indices[e], bins)] += square;
        norm_sq += square;
      }
      norms_sq[i] = norm_sq;
    }
    for (int w = 0; w < kBlockWords; ++w) {
      std::uint32_t word = 0;
      for (int b = 0; b < 4; ++b) word |= share_of(sums[4 * w + b], norm_sq) << 8 * b;
      blocks[word_at(i, w)] = word;
    }
  }
};

/// Whether a pair of tensors is looked at: both devices decide by the same sums.
SEXTANT_HD inline bool in_window(float angle, float scene_angle, float window) {
  return angle >= scene_angle - window && angle <= scene_angle + window;
}

/// Common bins of two masks.
SEXTANT_HD inline int common_bins(const TensorMask& a, const TensorMask& b) {
  int common = 0;
  for (int w = 0; w < kMaskWords; ++w) common += count_bits(a.words[w] & b.words[w]);
  return common;
}

/// Compares the tensor at a place with tensor t of the scene, bin by bin. `scene` are all its bins,
/// flipped where that is asked for. A match without a model where they do not resemble each other
/// enough.
SEXTANT_HD inline TensorMatch compare_cosine(const MatchJob& job, std::int64_t place,
                                             std::int64_t t, int flipped,
                                             const std::uint32_t* scene) {
  const int common = common_bins(job.library.masks[place], job.scene.masks[2 * t + flipped]);
  const float overlap = overlap_of(common, job.library.sizes[place], job.scene.sizes[t]);
  if (overlap < job.options.least_overlap) return {};
  const std::uint16_t* indices = job.library.indices + job.library.first[place];
  const std::uint32_t* areas = job.library.areas + job.library.first[place];
  std::uint64_t sum = 0;
  for (int e = 0; e < job.library.sizes[place]; ++e) {
    sum += std::uint64_t{areas[e]} * scene[indices[e]];
  }
  const float cosine = cosine_of(sum, job.library.norms_sq[place], job.scene.norms_sq[t]);
  if (!(cosine >= job.options.least_correlation)) return {};
  return {static_cast<std::int32_t>(job.library.order[place]), flipped, cosine, overlap};
}

}  // namespace sextant::detail::tensors
