// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/surface.h"
#include "sextant/pose/ransac_alignment.h"

namespace sextant {

/// Lengths of 0 are taken from the diagonal of the smaller of the two boxes.
struct DescriptorAlignmentOptions {
  float shot_radius_m = 0.0f;  ///< 0: a tenth of the diagonal
  float leaf_m = 0.0f;  ///< one keypoint in each voxel of this edge; 0: a sixth of the radius
  float inlier_distance_m = 0.0f;  ///< of pairs that agree; 0: 3 % of the diagonal
  int trials = 50000;              ///< of the robust fit
  std::uint32_t seed = 0;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("shot_radius_m", self.shot_radius_m,
          "of the descriptors; 0: a tenth of the smaller cloud", Range{0, 1e6});
    visit("leaf_m", self.leaf_m,
          "edge of the voxels that keep one keypoint; 0: a sixth of the radius", Range{0, 1e6});
    visit("inlier_distance_m", self.inlier_distance_m,
          "matches agree within it; 0: 3 % of the smaller cloud", Range{0, 1e6});
    visit("trials", self.trials, "of the robust fit", Range{1, 1e8});
    visit("seed", self.seed, "of the random draws", Range{0, 4294967295.0});
  }
};

/// Finds where the source lies on the target when nothing is known: SHOT at points of both, for
/// each of the source its two nearest of the target, and the motion that most of them agree with.
/// It is a first guess for `align`, right to a few inlier distances where it is right; whether it
/// is shows only after the alignment. Both surfaces need normals and lie in host memory; so does
/// the work, on the context's threads, with the same result for any number of them.
RansacAlignment align_by_descriptors(const Context& context, const Surface& source,
                                     const Surface& target,
                                     const DescriptorAlignmentOptions& options = {});

}  // namespace sextant
