// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/surface/normals/curved.h"

namespace sextant::detail::normals {

/// The sums of curved.h for one row of windows of a tile, first along columns and then along the
/// row. Rows are arrays of 1/Z less that of the tile's origin, `columns` of them in use; they may
/// be read up to two packs beyond, and hold anything where there is no point.
template <class Pack, int kRadius_px, int kRows, int kStride>
class CurvedSums {
 public:
  static constexpr int N = Pack::kCount;

  CurvedSums(const CurvedWeights& weights, int radius_px)
      : weights_(weights), radius_px_(radius_px) {
    for (int i = 0; i <= radius(); ++i) {
      cubic_[i] = Pack(weights.cubic[i]);
      mixed_[i] = Pack(weights.mixed[i]);
      bowl_[i] = Pack(weights.bowl[i]);
    }
  }

  /// The squared filter at the inner columns of a row, from it and the rows beside it.
  void filter(int row, const float* above, const float* here, const float* below, int columns) {
    float* to = filtered_[row % kRows];
    const auto bend = [&](int column) {
      return second_difference(Pack::load(above + column), Pack::load(here + column),
                               Pack::load(below + column));
    };
    for (int column = 0; column < columns - 2; column += N) {
      const Pack value = second_difference(bend(column), bend(column + 1), bend(column + 2));
      (value * value).store(to + column);
    }
  }

  /// Of the windows whose first row this is; `row_at(k)` is their k-th row, `sums` its columns'
  /// sum.
  template <class RowAt>
  void sum_down(int first_row, const RowAt& row_at, const float* sums, int columns) {
    sums_ = sums;
    const int r = radius();
    for (int column = 0; column < columns; column += N) {
      Pack odd_cubic(0.0f), odd_mixed(0.0f);
      Pack even = bowl_[0] * Pack::load(row_at(r) + column);
      for (int j = 1; j <= r; ++j) {
        const Pack before = Pack::load(row_at(r - j) + column);
        const Pack behind = Pack::load(row_at(r + j) + column);
        odd_cubic = odd_cubic + cubic_[j] * (behind - before);
        odd_mixed = odd_mixed + mixed_[j] * (behind - before);
        even = even + bowl_[j] * (behind + before);
      }
      odd_cubic.store(cubic_sums_ + column);
      odd_mixed.store(mixed_sums_ + column);
      even.store(bowl_sums_ + column);
    }
    for (int column = 0; column < columns - 2; column += N) {
      Pack rough = Pack::load(filtered_[(first_row + 1) % kRows] + column);
      for (int k = 2; k < 2 * r; ++k) {
        rough = rough + Pack::load(filtered_[(first_row + k) % kRows] + column);
      }
      rough.store(rough_sums_ + column);
    }
  }

  /// Of the pack of windows whose first column this is.
  Bend<Pack> bend_at(int column) const {
    const int r = radius();
    const auto at = [&](const float* sums, int k) { return Pack::load(sums + column + r + k); };
    Bend<Pack> bend{Pack(0.0f), at(cubic_sums_, 0) + bowl_[0] * at(mixed_sums_, 0),
                    at(bowl_sums_, 0) + bowl_[0] * at(sums_, 0)};
    for (int i = 1; i <= r; ++i) {
      const Pack sum = at(sums_, i), bowl = at(bowl_sums_, i);
      const Pack sum_before = at(sums_, -i), bowl_before = at(bowl_sums_, -i);
      bend.x = bend.x + cubic_[i] * (sum - sum_before) + mixed_[i] * (bowl - bowl_before);
      bend.y = bend.y + (at(cubic_sums_, i) + at(cubic_sums_, -i)) +
               bowl_[i] * (at(mixed_sums_, i) + at(mixed_sums_, -i));
      bend.middle = bend.middle + (bowl + bowl_before) + bowl_[i] * (sum + sum_before);
    }
    Pack rough = Pack::load(rough_sums_ + column);
    for (int k = 1; k < 2 * r - 1; ++k) rough = rough + Pack::load(rough_sums_ + column + k);
    return believed(bend, rough, weights_);
  }

 private:
  int radius() const { return kRadius_px > 0 ? kRadius_px : radius_px_; }

  const CurvedWeights& weights_;
  const int radius_px_;
  /// They fill every lane, because filling lanes anew for each group is slow.
  Pack cubic_[kMaxNormalsRadius_px + 1], mixed_[kMaxNormalsRadius_px + 1],
      bowl_[kMaxNormalsRadius_px + 1];
  const float* sums_ = nullptr;
  alignas(64) float filtered_[kRows][kStride];
  alignas(64) float cubic_sums_[kStride];
  alignas(64) float mixed_sums_[kStride];
  alignas(64) float bowl_sums_[kStride];
  alignas(64) float rough_sums_[kStride];
};

/// What methods that know planes only have in its place.
struct NoCurvedSums {
  NoCurvedSums(const CurvedWeights&, int) {}
};

}  // namespace sextant::detail::normals
