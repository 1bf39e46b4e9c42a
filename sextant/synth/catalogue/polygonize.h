// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "sextant/geometry/mesh.h"

namespace sextant {

/// A solid: negative inside, positive outside, in metres near the surface.
using SolidField = std::function<double(const Vec3d& point_m)>;
using ColorField = std::function<Rgb8(const Vec3d& point_m)>;

/// The box that holds a solid, and the side of the cells it is cut into.
struct FieldGrid {
  Vec3d low_m;
  Vec3d high_m;
  double cell_m = 0.003;
};

/// The surface of a solid as a closed mesh on the host, with outward normals and, when asked for,
/// colours. The box is cut into the tetrahedra of the body-centred cubic lattice, which leave no
/// ambiguous case: every edge has exactly two triangles, whatever the field. Vertices are then
/// spread along the surface and put onto it by Newton's method. Detail finer than a cell is lost,
/// sharp edges are rounded by about half of one. Evaluates the field about twice per cell of the
/// box. Throws Error when the solid reaches the outer layer of cells, or more than 2²⁷ cells are
/// asked for. The same mesh for the same field, always.
TriangleMesh polygonize(const SolidField& field, const FieldGrid& grid,
                        const ColorField& color = nullptr);

}  // namespace sextant
