// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sextant/core/context.h"
#include "sextant/core/vec.h"

namespace sextant::detail {

/// The points' numbers in the order of a space-filling curve (Morton's), so that runs of them lie
/// together: halving the list again and again gives a tree of compact groups. Points of one cell of
/// 2⁻¹³ of the extent keep their order. The points are finite. Runs on the host.
std::vector<std::uint32_t> space_order(const Context& context, std::span<const Vec3d> points);

}  // namespace sextant::detail
