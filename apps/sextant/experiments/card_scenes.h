// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/core/image.h"
#include "sextant/geometry/camera.h"
#include "sextant/library/learned_object.h"

// Drawn playing cards and photographs of many of them, whose poses are known.

namespace sextant::app {

/// A picture that lies in the plane z = 0 about the origin, x to the right and y down, at half,
/// a quarter, … of its size after itself.
struct DrawnCard {
  std::vector<Image<float>> levels;
  double width_m = 0.063;

  double height_m() const { return width_m * levels.front().height() / levels.front().width(); }
  Image<Rgb8> picture() const;
};

/// A card of 63 by 88 mm with 6 pixels a millimetre on which rectangles and discs of all sizes lie
/// over each other; the same for the same number, another one for each. `share` of it may be what
/// another number's card has there.
DrawnCard draw_card(std::uint64_t number, double share = 0, std::uint64_t other = 0);

struct PlacedCard {
  const DrawnCard* card = nullptr;
  int object = -1;  ///< of a library; -1 for a stranger
  Rigid3d camera_from_card;
};

struct PhotoFlaws {
  double noise = 2;    ///< deviation of a pixel, of 255
  double blur_px = 0;  ///< of a Gaussian
};

/// What a camera without distortion sees of cards on a table of speckled grey. Every pixel is the
/// mean of 3 × 3 rays, the texture filtered to their distance; of cards the nearest is seen.
Image<std::uint8_t> photograph_cards(const std::vector<PlacedCard>& cards, const Camera& camera,
                                     const PhotoFlaws& flaws, std::uint64_t seed);

/// A camera of this width, 4:3, that sees 60 degrees from side to side.
Camera card_camera(int width);

}  // namespace sextant::app
