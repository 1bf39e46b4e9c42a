// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/recognize/recognizer/compare.h"
#include "sextant/recognize/recognizer/cuboid.h"
#include "sextant/recognize/recognizer/faces.h"
#include "sextant/recognize/recognizer/model.h"

// Whole boxes that fill measured faces.

namespace sextant::detail::recognizer {

inline constexpr int kMostInARow = 8;
/// Of a pack: two boxes are as likely one of another kind, which many tables hold.
inline constexpr int kLeastBoxes = 3;
inline constexpr int kMostBoxes = 30;

/// How many boxes stand along each axis of theirs.
using BoxCounts = std::array<int, 3>;

/// Boxes of one kind side by side, or one box alone.
struct Pack {
  std::int32_t object = 0;
  Rigid3d camera_from_pack;  ///< the whole's middle and axes, which are the box's
  BoxCounts count{1, 1, 1};
  double evidence = 0;  ///< see VerificationTerms::rows
  Compared compared;
  double logit = 0;

  int boxes() const { return count[0] * count[1] * count[2]; }
  bool is_alone() const { return boxes() == 1; }
};

/// All counts of one layer of boxes, however it lies.
const std::vector<BoxCounts>& pack_shapes();

/// camera_from_object of each box of a pack.
std::vector<Rigid3d> members_of(const Pack& pack, const Cuboid& box);

/// Adds the faces that a box in a pose shows.
void add_faces(const Model& model, const ObjectPose& at, std::vector<Face>& faces);

/// Adds every pack that fills the measured surface that a face lies on, however its boxes lie.
void fill_face(const Face& face, const FaceEnds& ends, const Model& model,
               std::vector<Pack>& packs);

}  // namespace sextant::detail::recognizer
