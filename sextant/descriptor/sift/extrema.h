// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/sift/refine.h"
#include "sextant/descriptor/sift/scale_space.h"

namespace sextant::detail::sift {

/// The order of keypoints within an octave.
inline bool comes_before(const Extremum& a, const Extremum& b) {
  if (a.layer != b.layer) return a.layer < b.layer;
  return a.row != b.row ? a.row < b.row : a.column < b.column;
}

/// A flag for each pixel of the core of a slab and each layer: whether it is no less, or no more,
/// than its 26 neighbours. It has memory for slabs with so many pixels in their core.
class ExtremumFlags {
 public:
  ExtremumFlags(const Context& context, std::int64_t core_pixels, int layers, Workspace& workspace);

  /// To be called first for every slab.
  void begin(const Octave& octave);
  /// Sets the flags of some rows of the core.
  void set(const Context& context, const Octave& octave, const ExtremumLimits& limits,
           RowRange rows);

  std::uint16_t* row(int layer, int v) const {
    return words_.data + ((layer - 1) * std::int64_t{rows_.size()} + v - rows_.first) * row_words_;
  }
  std::int64_t row_words() const { return row_words_; }
  /// Those that have flags: the core without the border of the octave.
  RowRange rows() const { return rows_; }

 private:
  View<std::uint16_t> words_;
  std::int64_t row_words_ = 0;
  RowRange rows_;
};

/// Finds the extrema beside flagged pixels, each once, in order. The mask, in pixels of the photo,
/// may be empty. They stay in the workspace until its scope ends.
View<Extremum> find_extrema(const Context& context, const ScalePlan& plan, const Octave& octave,
                            const ExtremumLimits& limits, const ExtremumFlags& flags,
                            const ImageView<const std::uint8_t>& mask, Workspace& workspace);

}  // namespace sextant::detail::sift
