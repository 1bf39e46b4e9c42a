// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/cloud.h"

namespace sextant {

/// More points than this in exactly one place are no measurements of it: some sensors write (0, 0,
/// 0), or whatever that becomes in another frame, where they saw nothing. A neighbour grid takes
/// such a place for one point.
inline constexpr int kMostCopies = 256;

/// Turns the points of a cloud on the host that share their place with more than kMostCopies - 1
/// others into holes, and returns how many they were. Sensors' clouds want this before neighbours
/// are searched; the vertices of a mesh do not. Cost: two passes, time and memory linear in the
/// points.
std::int64_t clear_no_returns(Cloud& cloud);

}  // namespace sextant
