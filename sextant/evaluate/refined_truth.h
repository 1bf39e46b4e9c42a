// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sextant/core/options.h"
#include "sextant/evaluate/judge_image.h"

namespace sextant {

// The truth of a data set comes from markers, from people or from another method, and may lie
// millimetres beside what the depth camera measured. A second reference is the same pose moved onto
// the depth map: where a report agrees with one and not with the other, the truth decided.

struct RefineTruthOptions {
  double reach = 0.1;  ///< diameters between surfaces that are brought together at first
  /// A pose that moves farther, or turns more, is not believed: the given one stays.
  double most_moved = 0.2;
  double most_turned_rad = 0.35;
  /// Share of the object's drawn pixels that must lie on the measured surface in the end.
  double least_support = 0.3;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("reach", self.reach, "diameters between surfaces that are brought together at first",
          Range{1e-3, 1});
    visit("most_moved", self.most_moved, "diameters that a truth may be moved by", Range{0, 10});
    visit("most_turned_rad", self.most_turned_rad, "angle that a truth may be turned by",
          Range{0, 4});
    visit("least_support", self.least_support,
          "share of the object's pixels that lie on the measured surface in the end", Range{0, 1});
  }
};

/// What became of a truth.
enum class TruthRefinement : std::int32_t {
  kMoved,
  kTooFar,      ///< moved or turned beyond the bound: the given pose stays
  kHardlySeen,  ///< too little of it lies on the measured surface: the given pose stays
};
inline constexpr Choice<TruthRefinement> kTruthRefinements[] = {
    {"moved", TruthRefinement::kMoved},
    {"too far", TruthRefinement::kTooFar},
    {"hardly seen", TruthRefinement::kHardlySeen}};

struct RefinedTruth {
  Rigid3d camera_from_object;  ///< the given one unless `outcome` is kMoved
  TruthRefinement outcome = TruthRefinement::kHardlySeen;
  /// Of the middle and the rotation between the given pose and where the alignment ended, modulo
  /// symmetry, also where the given pose stays; NaN where nothing of the object was drawn.
  PoseDifference moved;
  int sliding = 0;  ///< directions that the depth does not determine, in which nothing moved
};

/// Moves each instance onto the depth map: what the camera sees of it in the given pose is aligned
/// point to plane, with partners at the same pixels. Other instances and what is in front of them
/// count for nothing unless they come within reach. `measured_m` is on the host; the work runs
/// there on the context's threads, about 0.1 s for a VGA frame and 20 ms an instance.
std::vector<RefinedTruth> refine_truth(const Context& context, const EvaluatedModels& models,
                                       const Camera& camera, ImageView<const float> measured_m,
                                       std::span<const TrueInstance> truth,
                                       const RefineTruthOptions& options = {});

}  // namespace sextant
