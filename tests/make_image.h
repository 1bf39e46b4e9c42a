// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/image.h"

namespace sextant::testing {

/// An image on the host whose pixels are value(u, v).
template <class T, class Value>
Image<T> make_image(int width, int height, Value&& value) {
  Image<T> image(Context::cpu(1), width, height);
  for (int v = 0; v < height; ++v) {
    for (int u = 0; u < width; ++u) image(u, v) = value(u, v);
  }
  return image;
}

}  // namespace sextant::testing
