// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/mesh.h"

namespace sextant::detail::table_scene {

inline constexpr double kTableSideM = 1.6;

/// A wooden slab of kTableSideM × kTableSideM × 3 cm whose top is z = 0.
TriangleMesh make_table_top(std::uint64_t seed);

}  // namespace sextant::detail::table_scene
