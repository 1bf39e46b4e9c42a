// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/reduce.h"
#include "sextant/geometry/cloud.h"

namespace sextant::detail::cloud {

/// The box of one point; empty for a hole.
struct PointBounds {
  const Vec3f* points;
  SEXTANT_HD Bounds operator()(std::int64_t index) const {
    const Vec3f p = points[index];
    return is_finite(p) ? Bounds{p, p} : Bounds{};
  }
};

struct JoinBounds {
  SEXTANT_HD Bounds operator()(const Bounds& a, const Bounds& b) const {
    return {{min_of(a.low.x, b.low.x), min_of(a.low.y, b.low.y), min_of(a.low.z, b.low.z)},
            {max_of(a.high.x, b.high.x), max_of(a.high.y, b.high.y), max_of(a.high.z, b.high.z)}};
  }
};

}  // namespace sextant::detail::cloud
