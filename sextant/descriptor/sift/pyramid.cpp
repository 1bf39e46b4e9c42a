// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/sift/pyramid.h"

namespace sextant::detail::sift {

Pyramid make_pyramid(const ScalePlan& plan, std::int64_t& size) {
  Pyramid pyramid{};
  pyramid.octaves = plan.octaves;
  pyramid.layers = plan.layers;
  pyramid.doubled = plan.doubled;
  require(plan.octaves <= kMostOctaves, "photo: ", plan.octaves, " octaves are too many");
  size = 0;
  for (int o = 0; o < plan.octaves; ++o) {
    PyramidOctave& octave = pyramid.octave[o];
    octave.width_px = plan.width_of(o);
    octave.height_px = plan.height_of(o);
    octave.stride = stride_for(octave.width_px);
    octave.first_word = pyramid.words;
    octave.first_tile = pyramid.tiles;
    octave.row_words = (octave.width_px + kWordPixels - 1) / kWordPixels;
    octave.data = nullptr;
    pyramid.words += std::int64_t{plan.layers} * octave.height_px * octave.row_words;
    pyramid.tiles +=
        std::int64_t{octave.row_words} * ((octave.height_px + kFlagTileRows - 1) / kFlagTileRows);
    size += plan.scales() * octave.height_px * octave.stride;
  }
  return pyramid;
}

Pyramid place_pyramid(const Pyramid& layout, float* memory) {
  Pyramid pyramid = layout;
  for (int o = 0; o < pyramid.octaves; ++o) {
    PyramidOctave& octave = pyramid.octave[o];
    octave.data = memory;
    memory += pyramid.scales() * octave.height_px * octave.stride;
  }
  return pyramid;
}

}  // namespace sextant::detail::sift
