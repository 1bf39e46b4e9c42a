// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/sift/refine.h"
#include "sextant/descriptor/sift/scale_space.h"

// On CUDA all scales of all octaves lie in memory together, so that one launch looks at all of
// them. Flags of pixels are bits of words: those of an octave begin with its first layer, then come
// rows, then columns, 32 to a word. In this order keypoints are written.

namespace sextant::detail::sift {

inline constexpr int kMostOctaves = 24;  ///< sides have up to 2^25 pixels
inline constexpr int kWordPixels = 32;

struct PyramidOctave {
  float* data;  ///< the scales follow each other
  int width_px, height_px;
  std::int64_t stride;
  std::int64_t first_word;  ///< of its flags
  std::int64_t first_tile;  ///< of those in which extrema are looked for
  int row_words;

  SEXTANT_HD const float* row(int s, int v) const {
    return data + (std::int64_t{s} * height_px + v) * stride;
  }
  SEXTANT_HD int width() const { return width_px; }
  SEXTANT_HD int height() const { return height_px; }
};

struct Pyramid {
  int octaves = 0;
  int layers = 0;
  bool doubled = false;
  std::int64_t words = 0;
  std::int64_t tiles = 0;
  PyramidOctave octave[kMostOctaves];

  SEXTANT_HD int scales() const { return layers + 3; }
};

/// Extrema are looked for in tiles of so many pixels; a row of a tile has one word.
inline constexpr int kFlagTileRows = 16;

/// The layout of everything, yet without memory; `size` becomes the number of floats of all scales.
Pyramid make_pyramid(const ScalePlan& plan, std::int64_t& size);
/// The same layout with its scales in this memory.
Pyramid place_pyramid(const Pyramid& layout, float* memory);

struct WordPlace {
  int octave, layer, row, column;  ///< column of its first pixel
};

SEXTANT_HD inline WordPlace place_of_word(const Pyramid& pyramid, std::int64_t word) {
  int o = 0;
  while (o + 1 < pyramid.octaves && word >= pyramid.octave[o + 1].first_word) ++o;
  const PyramidOctave& octave = pyramid.octave[o];
  const std::int64_t row = (word - octave.first_word) / octave.row_words;
  return {o, static_cast<int>(row / octave.height_px) + 1, static_cast<int>(row % octave.height_px),
          static_cast<int>((word - octave.first_word) % octave.row_words) * kWordPixels};
}
SEXTANT_HD inline std::int64_t word_of(const Pyramid& pyramid, const WordPlace& place) {
  const PyramidOctave& octave = pyramid.octave[place.octave];
  return octave.first_word +
         (std::int64_t{place.layer - 1} * octave.height_px + place.row) * octave.row_words +
         place.column / kWordPixels;
}

/// The octave of a tile and its first pixel.
struct FlagTile {
  int octave, u, v;
};
SEXTANT_HD inline FlagTile flag_tile(const Pyramid& pyramid, std::int64_t tile) {
  int o = 0;
  while (o + 1 < pyramid.octaves && tile >= pyramid.octave[o + 1].first_tile) ++o;
  const PyramidOctave& octave = pyramid.octave[o];
  const std::int64_t number = tile - octave.first_tile;
  return {o, static_cast<int>(number % octave.row_words) * kWordPixels,
          static_cast<int>(number / octave.row_words) * kFlagTileRows};
}

/// Of the lists that begin at first[0 … size - 1], the one that element j is in; lists may be
/// empty.
SEXTANT_HD inline int owner_of(const int* first, int size, int j) {
  int low = 0, high = size;  // the answer is in low … high - 1
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (first[middle] <= j) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/// The number of the n-th bit that is set, from 0; there are more than n.
SEXTANT_HD inline int nth_bit(std::uint32_t word, int n) {
  for (; n > 0; --n) word &= word - 1;
  int bit = 0;
  while ((word >> bit & 1u) == 0) ++bit;
  return bit;
}

/// The differences of scales of a tile and of the pixels around it: [difference][row][column].
inline constexpr int kFlagColumns = kWordPixels + 2;
inline constexpr int kFlagRows = kFlagTileRows + 2;
inline constexpr int kFlagPixels = kFlagColumns * kFlagRows;

/// Fills in one pixel. Those outside the image show the nearest inside.
SEXTANT_HD inline void subtract_scales(const Pyramid& pyramid, const FlagTile& tile, int pixel,
                                       float* differences) {
  const PyramidOctave& octave = pyramid.octave[tile.octave];
  const int u = tile.u - 1 + pixel % kFlagColumns, v = tile.v - 1 + pixel / kFlagColumns;
  const int column = u < 0 ? 0 : u < octave.width_px ? u : octave.width_px - 1;
  const int row = v < 0 ? 0 : v < octave.height_px ? v : octave.height_px - 1;
  float fine = octave.row(0, row)[column];
  for (int s = 1; s < pyramid.scales(); ++s) {
    const float coarse = octave.row(s, row)[column];
    differences[(s - 1) * kFlagPixels + pixel] = coarse - fine;
    fine = coarse;
  }
}

/// Whether the pixel in this column and row of the tile is no less, or no more, than its 26
/// neighbours and farther from 0 than `least`.
SEXTANT_HD inline bool is_flagged(const Pyramid& pyramid, const FlagTile& tile, int layer,
                                  int column, int row, float least, const float* differences) {
  const PyramidOctave& octave = pyramid.octave[tile.octave];
  const int u = tile.u + column, v = tile.v + row;
  if (u < kBorder || v < kBorder || u >= octave.width_px - kBorder ||
      v >= octave.height_px - kBorder) {
    return false;
  }
  const float* here = differences + layer * kFlagPixels + (row + 1) * kFlagColumns + column + 1;
  const float sign = *here < 0 ? -1.0f : 1.0f;
  const float value = sign * *here;
  if (!(value > least)) return false;
  // First those of the same layer, which leave little to compare with the others.
  for (const int s : {0, -1, 1}) {
    bool good = true;
    for (int dv = -1; dv <= 1; ++dv) {
      for (int du = -1; du <= 1; ++du) {
        good &= sign * here[s * kFlagPixels + dv * kFlagColumns + du] <= value;
      }
    }
    if (!good) return false;
  }
  return true;
}

}  // namespace sextant::detail::sift
