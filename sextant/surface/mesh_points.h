// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/buffer.h"
#include "sextant/core/options.h"
#include "sextant/core/vec.h"

namespace sextant {

struct MeshPointsOptions {
  float most_spacings = 2.5f;       ///< largest circumradius of a triangle, in spacings
  float most_normal_angle = 1.05f;  ///< between the normals of a triangle's corners (60°)
  bool both_sides =
      false;  ///< the normals' signs mean nothing: every triangle stands for both sides

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("most_spacings", self.most_spacings, "largest circumradius of a triangle, in spacings",
          Range{0.5, 100});
    visit("most_normal_angle", self.most_normal_angle,
          "largest angle between the normals of a triangle's corners", Range{0.1, 1.57});
    visit("both_sides", self.both_sides,
          "the normals' signs mean nothing: every triangle is there twice, from both sides");
  }
};

/// Triangles between points of a surface in any order, so that it can be drawn without gaps:
/// counter-clockwise seen from the side of the normals.
///
/// Each point takes the neighbours that share a side with its cell of the Voronoi diagram in its
/// tangent plane, and makes a triangle with each two of them that follow each other. Circles
/// through the corners are no larger than `most_spacings` times the spacing of the cloud
/// (cloud_spacing_m), or of the points around where these lie farther apart; wider gaps stay open.
/// Points whose normals differ by more than `most_normal_angle` are not joined, so that the two
/// sides of a thin wall stay apart. With `both_sides` the signs of normals mean nothing: walls
/// thinner than the spacing become one sheet, and every triangle is followed by itself from behind,
/// so that all of the surface faces a camera and whoever knows better can leave sides out. Where
/// two points see their neighbourhood differently, their triangles overlap: the result is for
/// drawing and sampling, and is not watertight.
///
/// Corners lie on the surface and triangles are chords of it: on a sphere of radius R they lie at
/// most r² / 2R inside, r being the circumradius. Points that are not finite, have no finite
/// normal, or lie in the place of an earlier point are in no triangle. On the host; about 4 µs a
/// point on one core. Same bits for any number of threads. Throws Error unless there are as many
/// normals as points.
Buffer<Vec3i> mesh_points(const Context& context, View<const Vec3f> points,
                          View<const Vec3f> normals, const MeshPointsOptions& options = {});

}  // namespace sextant
