// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/sift/scale_space.h"

namespace sextant::detail::sift {

/// Makes the scales of one octave after the other, slab by slab, always in the same memory:
///
///     while (octaves.next()) {
///       for (RowRange rows; octaves.make_rows(rows);) … // look at these rows while they are near
///       … // all rows of the slab are there
///     }
class Octaves {
 public:
  Octaves(const Context& context, const PhotoView& photo, const ScalePlan& plan,
          Workspace& workspace);

  /// How many slabs there are in all octaves together.
  int slabs() const { return slabs_; }
  /// The most pixels that a slab has in its core.
  std::int64_t most_core_pixels() const { return most_core_pixels_; }

  /// Goes to the next slab; false after the last one.
  bool next();
  /// Makes more rows of all scales. `rows` are those of the core that can be looked at now, with
  /// the rows beside them in all scales; false when there are no more.
  bool make_rows(RowRange& rows);
  /// The slab that is in memory.
  const Octave& octave() const { return octave_; }

 private:
  void make_scales(int end);
  void halve();
  RowRange photo_rows(RowRange first_scale) const;
  RowRange core_from(int octave, int row) const;

  const Context& context_;
  const PhotoView& photo_;
  const ScalePlan& plan_;
  int slabs_ = 0;
  std::int64_t most_core_pixels_ = 0;
  std::int64_t scale_size_ = 0;  ///< floats of one scale
  View<float> grey_room_;
  View<float> scales_;
  View<float> starts_[2];  ///< first scales of the octaves after the first, in turn
  Octave octave_;
  Rows grey_;                       ///< the photo's rows for this slab
  int made_[kMostLayers + 3] = {};  ///< the row after the last one of each scale
  int seen_ = 0;                    ///< the row of the core after those that were looked at
};

}  // namespace sextant::detail::sift
