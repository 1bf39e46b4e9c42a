// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/mesh.h"
#include "sextant/synth/table_scene/convex_polygon.h"

namespace sextant::detail::table_scene {

/// A mesh turned and set down on z = 0, as seen from above.
struct RestingBody {
  Rigid3d ground_from_object;
  double height_m = 0;
  ConvexPolygon footprint;  ///< around everything
  ConvexPolygon contact;    ///< around what touches the ground, within 0.5 mm
  ConvexPolygon top;        ///< around what is highest, within 0.5 mm

  /// Another object can stand on it: the top is flat and nearly as wide as the whole.
  bool flat_top() const { return area(top) > 0.6 * area(footprint); }
};

/// Sets the mesh, on the host, down after the rotation.
RestingBody set_down(const TriangleMesh& mesh, const Mat3d& rotation);

/// An object with the ways in which it rests.
struct TableObject {
  TriangleMesh mesh;  ///< on the host
  std::vector<RestingBody> poses;
};

/// A body somewhere on the table or on another body.
struct PlacedBody {
  double low_m = 0;
  double high_m = 0;
  ConvexPolygon footprint;
  ConvexPolygon contact;
  ConvexPolygon top;
  bool flat_top = false;
};

/// The body turned about the vertical, moved and lifted.
PlacedBody placed(const RestingBody& body, double yaw_rad, const Vec2d& at_m, double low_m);
Rigid3d world_from_object(const RestingBody& body, double yaw_rad, const Vec2d& at_m, double low_m);

/// Whether two bodies surely do not touch: one is wholly above the other, or their footprints are
/// `gap_m` apart.
bool clear_of(const PlacedBody& a, const PlacedBody& b, double gap_m);

}  // namespace sextant::detail::table_scene
