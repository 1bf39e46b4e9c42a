// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/options.h"
#include "sextant/core/progress.h"
#include "sextant/geometry/mesh.h"
#include "sextant/geometry/symmetries.h"

namespace sextant {

struct SymmetryOptions {
  /// How far the turned surface may lie from the surface, noise aside, as a share of the object's
  /// extent across the axis (at most two thirds of its diameter). Scans of boxes and cans need some
  /// of it; at the default, edges that differ by a tenth are different, and a prism of twelve sides
  /// is round.
  float tolerance = 0.03f;
  /// How much colours at corresponding places may differ, as a share of the full scale.
  float color_tolerance = 0.15f;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("tolerance", self.tolerance,
          "how far the turned surface may lie from the surface, as a share of the extent across "
          "the axis",
          Range{1e-4, 0.2});
    visit("color_tolerance", self.color_tolerance,
          "how much colours may differ, as a share of the full scale", Range{0, 1});
  }
};

struct FoundSymmetries {
  Symmetries shape;       ///< of the geometry alone
  Symmetries appearance;  ///< those that the colours have too; those of the shape without colours
};

/// Finds the rotations that carry an object onto itself, from a mesh, or from a cloud with normals
/// where it has no triangles; triangles face outwards (mend_mesh makes them so).
///
/// Axes are sought among directions of the whole hemisphere that the object's inertia allows, for
/// turns by a half, third, fifth, seventh and eleventh of a circle, refined on the surface and
/// tried for orders up to 12. The largest point group whose every element holds is the result, so
/// the motions form a group: cyclic, dihedral, that of the tetrahedron, the cube or the
/// icosahedron, or those of a body of revolution with and without a half turn across its axis (one
/// of them is listed), or of a ball (three continuous axes).
///
/// An element holds when, patch by patch, the moved surface lies on the surface within the
/// tolerance (noise averages out in a patch) in 95 % of the area, and less than 1 % of the area
/// lies clearly off it: a mug with a handle has no symmetry. What is missing on one side only, such
/// as the bottom of a scan, breaks a symmetry too. Surfaces that face the other way do not count as
/// near, so that the walls of a paper cup are told apart. Colours hold when 95 % of the samples
/// find theirs.
///
/// The same for any number of threads. Runs on the host; a few seconds where inertia says nothing
/// (cubes), less for others.
FoundSymmetries find_symmetries(const Context& context, const TriangleMesh& object,
                                const SymmetryOptions& options = {}, const Progress& progress = {});

}  // namespace sextant
