// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/tensor/math.h"

namespace sextant::detail::tensor {

/// A set of tensors as loops read it.
struct TensorSource {
  int bins = 0;
  const std::int32_t* count = nullptr;
  const TensorFrame* frames = nullptr;
  const TensorMask* masks = nullptr;
  const std::int32_t* sizes = nullptr;
  const std::int64_t* first = nullptr;
  const std::uint16_t* indices = nullptr;
  const float* values = nullptr;

  SEXTANT_HD int all_bins() const { return bins * bins * bins; }
};
TensorSource source_of(const TensorSet& tensors);

SEXTANT_HD inline bool holds(const TensorMask& mask, int bin) {
  return (mask.words[bin / 64] >> (bin % 64) & 1) != 0;
}
/// How many bins below this one are not empty.
SEXTANT_HD inline int rank_of(const TensorMask& mask, int bin) {
  int below = 0;
  for (int word = 0; word < bin / 64; ++word) below += count_bits(mask.words[word]);
  const std::uint64_t last = (std::uint64_t{1} << (bin % 64)) - 1;
  if (bin % 64 != 0) below += count_bits(mask.words[bin / 64] & last);
  return below;
}

/// Element i is bin i % bins³ of tensor i / bins³.
struct UnpackBin {
  TensorSource from;
  float* dense = nullptr;
  SEXTANT_HD void operator()(std::int64_t i) const {
    const std::int64_t t = i / from.all_bins();
    const int bin = static_cast<int>(i - t * from.all_bins());
    const bool there = t < *from.count && holds(from.masks[t], bin);
    dense[i] = there ? from.values[from.first[t] + rank_of(from.masks[t], bin)] : 0.0f;
  }
};

/// Element i is place i % bins³ of the list of tensor i / bins³.
struct PackElement {
  TensorSource from;
  TensorRows to;
  SEXTANT_HD void operator()(std::int64_t i) const {
    const std::int64_t t = i / from.all_bins();
    const int place = static_cast<int>(i - t * from.all_bins());
    if (place >= from.sizes[t]) return;
    to.indices[to.first[t] + place] = from.indices[from.first[t] + place];
    to.values[to.first[t] + place] = from.values[from.first[t] + place];
  }
};

/// Element i is word i % 16 of the mask of tensor i / 16; the first one also turns the frame.
struct FlipMask {
  TensorSource from;
  TensorRows to;
  SEXTANT_HD void operator()(std::int64_t i) const {
    const std::int64_t t = i / 16;
    const int word = static_cast<int>(i % 16);
    if (i == 0) *to.count = *from.count;
    if (t >= *from.count) return;
    std::uint64_t bits = 0;
    for (int bit = 0; bit < 64 && word * 64 + bit < from.all_bins(); ++bit) {
      const int source = flipped_bin(word * 64 + bit, from.bins);
      bits |= std::uint64_t{holds(from.masks[t], source) ? 1u : 0u} << bit;
    }
    to.masks[t].words[word] = bits;
    if (word != 0) return;
    TensorFrame frame = from.frames[t];
    frame.axes.row[0] = -frame.axes.row[0];
    frame.axes.row[1] = -frame.axes.row[1];
    frame.pair = {frame.pair.q, frame.pair.p};
    to.frames[t] = frame;
    to.sizes[t] = from.sizes[t];
    to.first[t] = from.first[t];
  }
};

/// Element i is bin i % bins³ of the flipped tensor i / bins³. Bins of a slab change their order,
/// so the rank of a bin is found from the other end of its slab.
struct FlipBin {
  TensorSource from;
  TensorRows to;
  SEXTANT_HD void operator()(std::int64_t i) const {
    const std::int64_t t = i / from.all_bins();
    if (t >= *from.count) return;
    const int bin = static_cast<int>(i - t * from.all_bins());
    const int source = flipped_bin(bin, from.bins);
    const TensorMask& mask = from.masks[t];
    if (!holds(mask, source)) return;
    const int slab = from.bins * from.bins;
    const int begin = bin / slab * slab;
    const int place =
        rank_of(mask, begin) + rank_of(mask, begin + slab) - rank_of(mask, source + 1);
    to.indices[from.first[t] + place] = static_cast<std::uint16_t>(bin);
    to.values[from.first[t] + place] = from.values[from.first[t] + rank_of(mask, source)];
  }
};

}  // namespace sextant::detail::tensor
