// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/mesh.h"

namespace sextant::detail::catalogue {

/// How the texture is divided: the wall around the bottom `wall_share` of it, above that the top
/// face on the left and the bottom face on the right.
struct PrismAtlas {
  double wall_share = 0.5;
};

/// A closed prism from z = 0 to `height_m` over a convex outline, counter-clockwise from above.
/// A round outline has smooth normals, else each wall its own. The wall is wrapped around from the
/// first corner on, the bottom is drawn as it is seen from below.
TriangleMesh make_prism(const std::vector<Vec2d>& outline, double height_m, bool round,
                        const PrismAtlas& atlas, Image<Rgb8> texture);

}  // namespace sextant::detail::catalogue
