// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/rigid3.h"

namespace sextant::detail::transform {

struct MovePoint {
  Rigid3d motion;
  const Vec3f* from;
  Vec3f* to;
  SEXTANT_HD void operator()(std::int64_t i) const {
    to[i] = cast<float>(motion * cast<double>(from[i]));
  }
};

}  // namespace sextant::detail::transform
