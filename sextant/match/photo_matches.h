// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sextant/core/vec.h"

namespace sextant {

/// A place in a photograph that looks like a point of an object.
struct PhotoMatch {
  std::int32_t photo = 0;    ///< of those taken at the same moment
  std::int32_t feature = 0;  ///< of the photograph
  std::int32_t object = 0;   ///< of the library
  std::int32_t point = 0;    ///< of the object's appearance
  Vec2f at_px;               ///< in the photograph as a lens without distortion takes it
  Vec3f point_m;             ///< in the object's frame
  float ratio = 1;           ///< of its distance and the one that it had to beat; small is good
};

}  // namespace sextant
