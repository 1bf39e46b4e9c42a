// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sextant/core/context.h"
#include "sextant/core/view.h"
#include "sextant/pose/kabsch.h"

namespace sextant {

struct RansacAlignmentOptions {
  int trials = 20000;  ///< triples that are drawn; most fall at the test of their edges
  /// A pair agrees with a motion that brings its points this close together.
  float inlier_distance_m = 0.005f;
  /// The edges of a triple may differ by this share between source and target.
  float edge_tolerance = 0.1f;
  /// Edges shorter than this many inlier distances do not determine a rotation.
  float least_edge = 3.0f;
  /// Where normals are given: the largest angle between those of a pair after the motion.
  float normal_angle_rad = 0.8f;
  int least_inliers = 8;  ///< fewer are no result
  std::uint32_t seed = 0;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("trials", self.trials, "triples of correspondences that are drawn", Range{1, 1e8});
    visit("inlier_distance_m", self.inlier_distance_m,
          "a pair agrees with a motion that brings its points this close", Range{1e-9, 1e6});
    visit("edge_tolerance", self.edge_tolerance,
          "how much the edges of a triple may differ, as a share", Range{0, 1});
    visit("least_edge", self.least_edge, "shortest edge of a triple, in inlier distances",
          Range{0, 1e6});
    visit("normal_angle_rad", self.normal_angle_rad,
          "largest angle between the normals of an agreeing pair", Range{0, 3.15});
    visit("least_inliers", self.least_inliers, "fewer agreeing pairs are no result", Range{3, 1e9});
    visit("seed", self.seed, "of the random draws", Range{0, 4294967295.0});
  }
};

/// Correspondences: source[i] and target[i] may be the same place. They lie in host memory.
struct PointMatches {
  View<const Vec3f> source;
  View<const Vec3f> target;
  View<const Vec3f> source_normals{};  ///< empty, or one for each
  View<const Vec3f> target_normals{};
};

struct RansacAlignment {
  bool found = false;
  std::string reason;  ///< why nothing was found; empty otherwise
  Rigid3d target_from_source;
  double rms_m = 0;                   ///< of the pairs that agree
  std::vector<std::int32_t> inliers;  ///< the pairs that agree, ascending
};

/// Finds the rigid motion that most correspondences agree with (Fischler and Bolles, 1981): triples
/// are drawn, those whose edges differ in length are dropped, the motion of each is scored by how
/// many pairs it brings together, and the best is fitted again to all of them until they stay the
/// same. Of equal scores the trial with the lower number wins.
///
/// Draws are functions of (seed, trial), so the result is the same for any number of threads. It
/// runs on the host, because matches are few; a trial costs a pass over them.
RansacAlignment ransac_alignment(const Context& context, const PointMatches& matches,
                                 const RansacAlignmentOptions& options = {});

}  // namespace sextant
