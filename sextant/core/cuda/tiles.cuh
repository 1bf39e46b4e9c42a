// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/error.h"

namespace sextant::detail {

/// Makes one block for each tile of an image. Throws Error for an image with more rows than a
/// launch takes; `name` is the argument that it came from.
inline dim3 blocks_for_tiles(int width, int height, int tile_width, int tile_height,
                             const char* name) {
  constexpr int kMostBlocks = 65535;  // of a grid's second dimension
  const int rows = (height + tile_height - 1) / tile_height;
  require(rows <= kMostBlocks, name, ": ", height, " rows are more than the ",
          kMostBlocks * tile_height, " that one launch takes");
  return dim3(static_cast<unsigned>((width + tile_width - 1) / tile_width),
              static_cast<unsigned>(rows));
}

}  // namespace sextant::detail
