// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/vec.h"

namespace sextant::detail {

/// A texture image row by row, top row first.
struct TextureView {
  const Rgb8* texels = nullptr;
  int width = 0;
  int height = 0;
};

/// The texel at a column and row that may lie one outside: the texture repeats.
SEXTANT_HD inline Vec3f texel(const TextureView& texture, int column, int row) {
  column = column < 0                ? column + texture.width
           : column >= texture.width ? column - texture.width
                                     : column;
  row = row < 0 ? row + texture.height : row >= texture.height ? row - texture.height : row;
  return cast<float>(texture.texels[std::int64_t{row} * texture.width + column]);
}

/// Interpolates between texel centres, bilinearly. (0, 0) is the lower left corner of the image, v
/// points up. It uses only +, -, × and floor, so that every device gives the same bits.
SEXTANT_HD inline Vec3f texture_at(const TextureView& texture, double u, double v) {
  u = std::isfinite(u) ? u - std::floor(u) : 0.0;
  v = std::isfinite(v) ? v - std::floor(v) : 0.0;
  const double x = u * texture.width - 0.5;
  const double y = (1.0 - v) * texture.height - 0.5;
  const double left = std::floor(x);
  const double top = std::floor(y);
  const float fx = static_cast<float>(x - left);
  const float fy = static_cast<float>(y - top);
  const int column = static_cast<int>(left);
  const int row = static_cast<int>(top);
  const Vec3f upper =
      texel(texture, column, row) * (1.0f - fx) + texel(texture, column + 1, row) * fx;
  const Vec3f lower =
      texel(texture, column, row + 1) * (1.0f - fx) + texel(texture, column + 1, row + 1) * fx;
  return upper * (1.0f - fy) + lower * fy;
}

}  // namespace sextant::detail
