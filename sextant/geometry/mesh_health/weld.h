// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sextant/core/vec.h"

namespace sextant::detail::mesh_health {

/// For each point the first one that lies within `tolerance_m` of it and stands for itself, -1
/// where it is not finite. Points are asked in their order, so that two which stand for themselves
/// are always farther apart than the tolerance.
std::vector<std::int32_t> weld(std::span<const Vec3f> points, double tolerance_m);

}  // namespace sextant::detail::mesh_health
