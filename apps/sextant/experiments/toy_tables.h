// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/evaluate/matching.h"
#include "sextant/evaluate/pose_error.h"
#include "sextant/recognize/recognizer.h"
#include "sextant/synth/table_scene.h"

namespace sextant::app {

/// A table with toys of the catalogue, which a library knows, and cartons and cans, which it does
/// not, as a Kinect sees it.
struct ToyTable {
  TableScene scene;
  Image<float> depth_m;
  Image<std::int32_t> ids;  ///< 0 for the table, i + 1 for objects[i] of the scene, -1 for nothing
};

/// The seven toys, learned as `sextant learn` does. On the host.
std::vector<LearnedObject> learn_toys(const Context& context);

/// Five objects at 0.8 m. The first is a toy, and a carton hides the given share of it; where that
/// is negative, things lie as they come. The same for the same arguments, on the host.
ToyTable make_toy_table(const Context& context, const TableObjects& objects, float occlusion,
                        std::uint64_t seed);

/// Three to six toys and as many others as make eight objects, 0.6 to 1.2 m away, as one of the
/// four sensors sees them that noise is modelled of, in turn. Things lie as they come and stand on
/// each other. The same for the same arguments, on the host.
ToyTable make_mixed_table(const Context& context, const TableObjects& objects, std::uint64_t seed);

/// A toy that lies on a table, and whether it was found in its place.
struct SoughtToy {
  double hidden = 0;      ///< share of its pixels that others hide
  bool proposed = false;  ///< whether its place was among the poses that were verified
  bool found = false;
  PoseDifference error;  ///< of what was found there, modulo symmetry
};

/// What a recogniser made of a table.
struct JudgedTable {
  std::vector<SoughtToy> toys;          ///< a tenth of them seen, half of that measured
  std::vector<RankedEstimate> reports;  ///< every detection: its score, and whether it is right
  int false_reports = 0;                ///< detections that are no toy in its place
  int wrong_reports = 0;                ///< of these, those at the place of that toy, turned
};

/// Tells right detections: the toy's surface is nowhere off by more than a tenth of its diameter,
/// modulo its symmetries (MSSD).
class ToyJudge {
 public:
  explicit ToyJudge(std::span<const LearnedObject> toys);
  JudgedTable judge(const ToyTable& table, const Recognition& recognition,
                    const RecognitionTrace& trace = {}) const;

 private:
  bool is_right(std::size_t toy, const Rigid3d& camera_from_object, const SceneObject& truth) const;
  bool is_at(std::size_t toy, const Rigid3d& camera_from_object, const SceneObject& truth) const;

  std::vector<std::string> names_;
  std::vector<EvaluatedModel> models_;
};

}  // namespace sextant::app
