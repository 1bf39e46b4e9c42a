// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sextant/core/options.h"
#include "sextant/geometry/mesh.h"

namespace sextant {

struct MeshHealthOptions {
  /// Vertices at most this far apart become one, as a share of the diagonal of the box around them:
  /// the default closes the cracks that rounding leaves. 0 joins those in exactly one place.
  float weld_share = 1e-6f;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("weld_share", self.weld_share,
          "vertices at most this far apart become one, as a share of the size", Range{0, 0.1});
  }
};

/// What is wrong with a mesh, in numbers. A part is what triangles reach over edges that exactly
/// two of them share.
struct MeshHealth {
  std::int64_t vertices = 0;   ///< as given
  std::int64_t triangles = 0;  ///< as given

  std::int64_t holes_among_vertices = 0;  ///< with a coordinate that is not finite
  std::int64_t unused_vertices = 0;       ///< of no triangle, where there are triangles
  std::int64_t welded_vertices = 0;       ///< that lie where another one does

  std::int64_t broken_triangles = 0;     ///< with a corner that is not finite
  std::int64_t flat_triangles = 0;       ///< without area
  std::int64_t repeated_triangles = 0;   ///< with the corners of an earlier one, in its order
  std::int64_t two_sided_triangles = 0;  ///< with the corners of an earlier one, in reverse
  std::int64_t turned_triangles = 0;     ///< against the winding of most of their part

  std::int64_t parts = 0;
  std::int64_t closed_parts = 0;     ///< that bound a solid
  std::int64_t turned_parts = 0;     ///< that were inside out
  std::int64_t one_sided_parts = 0;  ///< like a Möbius strip: no winding is consistent
  std::int64_t open_edges = 0;       ///< of one triangle only
  std::int64_t crowded_edges = 0;    ///< of more than two triangles
  std::int64_t holes = 0;            ///< connected borders of open edges

  std::int64_t turned_normals = 0;  ///< that pointed inwards
  std::int64_t new_normals = 0;     ///< that were not finite or had no length

  /// What was found and mended, in whole sentences for the user; empty for a sound closed mesh.
  std::vector<std::string> remarks;

  /// Closed all over, with nothing to mend but what costs nothing: unused and repeated vertices.
  bool watertight() const;
};

struct MendedMesh {
  TriangleMesh mesh;
  MeshHealth health;
};

/// Makes of what a CAD file or a scan brings a mesh that others can rely on: every vertex is finite
/// and used, no two lie in one place, triangles have an area and are there once, those of a part
/// agree about the outside, and it is where it should be:
/// - A closed part is turned outwards by its volume, unless no ray from it reaches the open: what
///   lies within others stays as it is, since it may bound a cavity.
/// - An open part faces the side from which more rays reach the open. It is turned only where that
///   is clear; a flat sheet stays as it is.
/// Holes and edges of more than two triangles are counted and left. Normals are turned to the side
/// of their triangles; those that are no directions are made anew. A mesh without triangles keeps
/// its finite points. At welded vertices that differ in normals or texture coordinates, these go to
/// the corners of the triangles; of different colours and attributes the first stay.
///
/// The order of vertices and triangles is kept, and the result is the same for any number of
/// threads. Runs on the host, some 1 µs a triangle.
MendedMesh mend_mesh(const Context& context, TriangleMesh mesh,
                     const MeshHealthOptions& options = {});

/// Says what `mend_mesh` would mend, and changes nothing.
MeshHealth examine_mesh(const Context& context, const TriangleMesh& mesh,
                        const MeshHealthOptions& options = {});

}  // namespace sextant
