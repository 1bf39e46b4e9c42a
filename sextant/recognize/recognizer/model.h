// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sextant/library/learned_object.h"
#include "sextant/match/point_pairs.h"
#include "sextant/recognize/recognizer/cuboid.h"
#include "sextant/recognize/recognizer/model_view.h"

namespace sextant::detail::recognizer {

/// An object made ready for voting, refinement and rendering.
struct Model {
  std::string name;
  float diameter_m = 0;
  float leaf_m = 0;
  Vec3f centre;                      ///< mean of its samples, or where its axes of symmetry meet
  PointPairModel pairs;              ///< with its samples
  std::vector<Rigid3f> symmetries;   ///< with the identity; continuous ones in steps
  std::vector<FreeTurn> free_turns;  ///< none, one, or three of a ball
  double level = 0;                  ///< how like it clutter looks (acceptance.h)
  double pack_level = 0;             ///< the same of packs of it
  TriangleMesh render_mesh;          ///< few triangles, closed where the object's mesh is
  float radius_m = 0;                ///< of a ball about the centre that holds the render mesh
  float shift_m = 0;                 ///< that a symmetry moves the centre by at most
  float shape_m = 0;                 ///< mean distance of its samples from the render mesh
  std::optional<Cuboid> box;         ///< where the object is one

  ModelView view() const;
};

/// Makes it; samples are taken from the mesh where the object has none.
Model make_model(const Context& context, const LearnedObject& object,
                 const PointPairOptions& options);

/// The mesh with vertices joined that lie in one cell of a grid, and without the triangles that
/// this makes vanish. Where a mesh has no triangles, a square for every point with a normal, as
/// wide as the points lie apart.
TriangleMesh coarse_mesh(const Context& context, const TriangleMesh& mesh, float cell_m);

/// Every motion that carries the object onto itself, the identity first; continuous ones as
/// `steps` turns.
std::vector<Rigid3f> motions_of(const Symmetries& symmetries, int steps);

}  // namespace sextant::detail::recognizer
