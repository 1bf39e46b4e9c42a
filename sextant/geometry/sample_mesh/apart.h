// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sextant/core/context.h"
#include "sextant/core/vec.h"

namespace sextant::detail::sample_mesh {

/// Numbers, ascending, of points that lie at least `spacing_m` from each other, as many as fit when
/// the points are asked in a random order. Points whose normals differ by more than a right angle
/// do not see each other.
std::vector<std::uint32_t> far_apart(const Context& context, std::span<const Vec3f> points,
                                     std::span<const Vec3f> normals, float spacing_m,
                                     std::uint64_t seed);

}  // namespace sextant::detail::sample_mesh
