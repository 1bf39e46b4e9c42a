// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/tensor.h"

namespace sextant {

/// The most matches that are kept for a tensor.
inline constexpr int kMostTensorMatches = 16;

/// What says how much two tensors resemble each other.
enum class TensorScore : std::int32_t {
  kCosine,      ///< of the areas in all bins: surface that only one of them has counts against it
  kCorrelation  ///< of the areas in the bins that both have, as in the paper
};
inline constexpr Choice<TensorScore> kTensorScores[] = {{"cosine", TensorScore::kCosine},
                                                        {"correlation", TensorScore::kCorrelation}};

struct TensorMatchOptions {
  int k = 4;  ///< matches of each scene tensor, the best ones
  TensorScore score = TensorScore::kCosine;
  /// Only tensors whose normals enclose nearly the same angle are compared (5°).
  float angle_window_rad = 0.08726646f;
  float least_overlap = 0.2f;       ///< share of the non-empty bins of both that both have
  float least_correlation = 0.45f;  ///< smallest score

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("k", self.k, "matches that are kept for a tensor of the scene",
          Range{1, kMostTensorMatches});
    visit("score", self.score, "cosine of all bins, or the paper's correlation of common ones",
          kTensorScores);
    visit("angle_window_rad", self.angle_window_rad,
          "largest difference of the angles between the normals", Range{0, 3.1415927});
    visit("least_overlap", self.least_overlap,
          "smallest share of common bins among the non-empty ones", Range{0, 1});
    visit("least_correlation", self.least_correlation, "smallest score of a match", Range{-1, 1});
  }
};

/// As in the paper: correlation of common bins, at least 0.45, of tensors that share 45 % of
/// theirs.
TensorMatchOptions paper_tensor_matching();

/// A tensor of a library that resembles one of the scene.
struct TensorMatch {
  std::int32_t model = -1;   ///< number of the tensor in the library, -1 for none
  std::int32_t flipped = 0;  ///< 1 where the scene's tensor resembles it with p and q swapped
  float correlation = 0.0f;  ///< the score
  float overlap = 0.0f;
};

/// The tensors of a library in the order of their angles. The set itself is not copied and must
/// outlive it.
struct TensorIndex {
  int bins = 0;
  View<const std::uint16_t> indices;  ///< of the set
  Buffer<std::uint32_t> areas;        ///< its values in whole numbers of 2⁻²⁰
  Buffer<std::uint32_t> order;        ///< number in the set of the tensor at each place
  Buffer<float> angles_rad;  ///< ascending; NaN, of tensors that could not be made, are last
  Buffer<TensorMask> masks;
  Buffer<std::int32_t> sizes;
  Buffer<std::int64_t> first;
  Buffer<std::uint64_t> norms_sq;  ///< sums of the squares of the whole numbers
  /// How much of a tensor lies in each 2 × 2 × 2 bins, in 127ths of its norm, rounded up: four
  /// blocks a word, [16 tensors][word][tensor].
  Buffer<std::uint32_t> blocks;

  std::int64_t size() const { return order.size(); }
  Device device() const { return order.device(); }
};

/// Costs a sort; does not wait. Takes 284 bytes a tensor and 4 a bin beside the set.
TensorIndex index_tensors(const Context& context, const TensorSet& library);

/// Finds for each tensor of the scene the k tensors of the library that it resembles most: match i
/// of tensor t is element t k + i, the best first, of equal ones the one with the lower number, and
/// as it is before flipped. Both sets have the same bins.
///
/// Two tensors are compared where their angles differ by at most angle_window_rad, as they are and
/// with the scene's flipped. Their overlap is the number of bins that are not empty in both over
/// the number of those not empty in either. The cosine is Σpq / √(Σpp Σqq) over all bins. The
/// correlation is Pearson's over the n common bins,
///     (n Σpq - Σp Σq) / √((n Σpp - Σp²) (n Σqq - Σq²)),
/// and none for fewer than 3 bins or where p or q is the same in all of them.
///
/// Areas are multiples of 2⁻²⁰ (more than 128 faces of a bin count as 128), so that sums in whole
/// numbers are exact and every device gives the same bits. Cost of the cosine: 32 words for each
/// pair within the window, which bound it from above; only pairs whose bound reaches the k best are
/// compared bin by bin. Of the correlation: 32 words for each pair, and about 100 bins for each
/// that overlaps enough, because nothing bounds it.
Buffer<TensorMatch> match_tensors(const Context& context, const TensorSet& scene,
                                  const TensorIndex& library,
                                  const TensorMatchOptions& options = {});

/// Writes into room for capacity() k matches; CUDA takes up to 65535 tensors of a scene. Does not
/// wait. The workspace takes 8.5 kB for each tensor of the scene; on CUDA for the cosine also 4
/// bytes for each of them and each of the library, at most 256 MB or what one of them needs, and
/// for the correlation 16 k bytes for each of them and every 256 of the library.
void match_tensors_into(const Context& context, const TensorSet& scene, const TensorIndex& library,
                        const TensorMatchOptions& options, View<TensorMatch> matches,
                        Workspace& workspace);

}  // namespace sextant
