// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/learn/learn_mesh/prepare_mesh.h"

namespace sextant::detail::learn {

/// The most points that a mesh is made of: more are thinned by a voxel grid.
inline constexpr std::int64_t kMostSurfacePoints = 60000;

/// Makes a mesh of points: holes are left out, many points are thinned, points without normals get
/// some, and triangles join neighbours. Normals of the file, and those of points that have the rows
/// of an image, have a side; else the mesh has both sides. Throws Error where the points make no
/// surface.
PreparedMesh prepare_points(const Context& context, const Cloud& cloud);

}  // namespace sextant::detail::learn
