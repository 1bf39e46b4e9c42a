// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "sextant/core/image.h"

namespace sextant {

/// How a camera was held, as the Exif part of a JPEG file says: 1 upright, 3 upside down, 6 and 8
/// on its sides, and 2, 4, 5, 7 the same mirrored. It is 1 where the file says nothing, where what
/// it says is none of these, and where the file is no JPEG. Looks at the markers before the pixels
/// only.
///
/// No reader of ours turns pixels by it: a camera's intrinsics, and a depth map beside the picture,
/// belong to the pixels as the sensor gave them. Who looks at photographs alone calls `upright`.
int exif_orientation(std::span<const std::byte> file);

/// The focal length in pixels that the Exif part of a JPEG file tells of, for a photograph of this
/// size: from the focal length on 35 mm film, else from that of the lens and the resolution of the
/// sensor; 0 where it tells neither. A first guess, some percent off.
double exif_focal_px(std::span<const std::byte> file, int width, int height);

/// The picture as it was seen, for an orientation from 1 to 8 of a picture on the host: the value 6
/// turns it by a quarter clockwise, 8 counter-clockwise.
template <class T>
Image<T> upright(const ImageView<const T>& picture, int orientation) {
  require(orientation >= 1 && orientation <= 8, "orientation: ", orientation, " is outside [1, 8]");
  const bool on_its_side = orientation >= 5;
  const int width = on_its_side ? picture.height : picture.width;
  const int height = on_its_side ? picture.width : picture.height;
  // Which axes of the pixels are reversed, seen from the pixels.
  const bool from_right =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool from_below =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  Image<T> turned(Context::cpu(1), width, height);
  for (int v = 0; v < height; ++v) {
    for (int u = 0; u < width; ++u) {
      const int x = on_its_side ? v : u, y = on_its_side ? u : v;
      turned(u, v) =
          picture(from_right ? picture.width - 1 - x : x, from_below ? picture.height - 1 - y : y);
    }
  }
  return turned;
}

}  // namespace sextant
