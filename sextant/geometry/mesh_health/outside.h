// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/mesh_health/winding.h"

namespace sextant::detail::mesh_health {

/// Which parts face inwards, given triangles whose winding is consistent in each part.
std::vector<char> parts_inside_out(const Context& context, std::span<const Vec3f> points,
                                   std::span<const Vec3i> triangles, const Winding& winding);

}  // namespace sextant::detail::mesh_health
