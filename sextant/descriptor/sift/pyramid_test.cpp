// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/sift/pyramid.h"

#include <gtest/gtest.h>

namespace sextant::detail::sift {
namespace {

TEST(SiftPyramid, WordsAndTilesAreFoundAgain) {
  for (const int width : {1, 6, 31, 32, 33, 64, 200}) {
    const ScalePlan plan = make_scale_plan(width, 77, {.layers = 2});
    std::int64_t size = 0;
    const Pyramid pyramid = make_pyramid(plan, size);
    for (std::int64_t word = 0; word < pyramid.words; ++word) {
      const WordPlace place = place_of_word(pyramid, word);
      ASSERT_EQ(word_of(pyramid, place), word);
      ASSERT_LT(place.column, pyramid.octave[place.octave].width_px);
      ASSERT_LT(place.row, pyramid.octave[place.octave].height_px);
      ASSERT_LE(place.layer, 2);
    }
    for (std::int64_t tile = 0; tile < pyramid.tiles; ++tile) {
      const FlagTile at = flag_tile(pyramid, tile);
      ASSERT_LT(at.u, pyramid.octave[at.octave].width_px);
      ASSERT_LT(at.v, pyramid.octave[at.octave].height_px);
    }
  }
}

TEST(SiftPyramid, BitsFindTheirOwners) {
  const int counts[] = {0, 3, 0, 0, 1, 32, 0};
  int first[7], total = 0;
  for (int i = 0; i < 7; ++i) {
    first[i] = total;
    total += counts[i];
  }
  for (int i = 0, j = 0; i < 7; ++i) {
    for (int k = 0; k < counts[i]; ++k, ++j) EXPECT_EQ(owner_of(first, 7, j), i);
  }
  EXPECT_EQ(nth_bit(0x80000000u, 0), 31);
  EXPECT_EQ(nth_bit(0xffffffffu, 17), 17);
  EXPECT_EQ(nth_bit(0x00010100u, 1), 16);
}

}  // namespace
}  // namespace sextant::detail::sift
