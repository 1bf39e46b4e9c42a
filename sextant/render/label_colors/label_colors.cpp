// SPDX-License-Identifier: Apache-2.0
#include "sextant/render/label_colors.h"

#include <cmath>

namespace sextant {

Rgb8 label_color(std::int32_t label) {
  if (label == 0) return {0, 0, 0};
  // Steps of the golden section of a turn never come near an earlier hue for long.
  const double turn = 0.6180339887498949 * label;
  const double hue = 6 * (turn - std::floor(turn));
  const int tone = ((label % 4) + 4) % 4;  // hues come back nearly after 8, 13, 21, ...
  const double value = tone == 0 ? 0.75 : tone == 3 ? 0.9 : 1.0;
  const double saturation = tone == 1 ? 0.85 : tone == 2 ? 0.5 : tone == 3 ? 0.7 : 0.8;
  const auto channel = [&](double shift) {
    double at = std::fmod(hue + shift, 6.0);
    at = at < 3 ? at : 6 - at;  // distance from the channel's own hue, along the circle
    const double strength = at < 1 ? 1.0 : at < 2 ? 2 - at : 0.0;
    return static_cast<std::uint8_t>(255 * value * (1 - saturation * (1 - strength)) + 0.5);
  };
  return {channel(0), channel(4), channel(2)};
}

Image<Rgb8> label_map(ImageView<const std::int32_t> labels) {
  Image<Rgb8> picture(Context::cpu(1), labels.width, labels.height);
  for (int v = 0; v < labels.height; ++v) {
    for (int u = 0; u < labels.width; ++u) picture(u, v) = label_color(labels(u, v));
  }
  return picture;
}

}  // namespace sextant
