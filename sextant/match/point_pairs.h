// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sextant/core/buffer.h"
#include "sextant/core/options.h"
#include "sextant/core/rigid3.h"

namespace sextant {

/// How pairs of points are told apart and counted.
struct PointPairOptions {
  float distance_step = 0.08f;  ///< of a bin of distances, as a share of the model's diameter
  int angle_bins = 20;          ///< from 0 to π
  float crowded = 1e6f;         ///< cells with more pairs than this times the mean say nothing
  float spread = 0.0f;          ///< share of a bin from whose edge the next bin is asked too
  int reference_step = 5;       ///< of the scene's points every so many are references
  int peaks = 4;                ///< poses that a reference point proposes, for each reach

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("distance_step", self.distance_step, "of distances, as a share of the diameter",
          Range{0.01, 0.5});
    visit("angle_bins", self.angle_bins, "bins of angles from 0 to pi", Range{4, 40});
    visit("crowded", self.crowded, "cells with more pairs than this times the mean say nothing",
          Range{1, 1e9});
    visit("spread", self.spread, "share of a bin from whose edge the next bin is asked too",
          Range{0, 0.5});
    visit("reference_step", self.reference_step, "every so many points are references",
          Range{1, 1000});
    visit("peaks", self.peaks, "poses that a reference point proposes", Range{1, 16});
  }
};

/// The pairs of a model's points, sorted by what does not change when the model moves: the feature
/// of an ordered pair (p1, n1), (p2, n2) with d = p2 - p1 is (|d|, ∠(n1, d), ∠(n2, d), ∠(n1, n2))
/// (Drost et al., CVPR 2010). On the host.
struct PointPairModel {
  PointPairOptions options;
  float diameter_m = 0;
  float inner_reach_m = 0;           ///< the longer diagonal of the two smaller extents
  Buffer<Vec3f> points;              ///< in the model's frame
  Buffer<Vec3f> normals;             ///< of unit length, outwards
  Buffer<std::uint32_t> cell_first;  ///< cells + 1; the pairs of cell c follow from cell_first[c]
  Buffer<std::uint32_t> pairs;       ///< first point of the pair << 8 | turn in 256ths
};

/// Makes the table of a model's samples (descriptor/point_samples.h): every ordered pair of them.
/// 4 bytes a pair and a direct table of some 100 thousand cells; 600 samples take 1.8 MB and 20 ms.
/// Throws for more than 20 000 samples, and where diameter_m is not positive.
PointPairModel make_point_pair_model(const Context& context, View<const Vec3f> points,
                                     View<const Vec3f> normals, double diameter_m,
                                     const PointPairOptions& options = {});

/// A pose that a reference point of the scene proposes.
struct PoseVote {
  Rigid3f scene_from_model;
  float votes = 0;
  std::int32_t reference = -1;  ///< index of the scene's point
};

/// Votes for poses of the model: every reference point of the scene is paired with the points
/// within the model's reach, each pair looks up the model's pairs with the same feature, and these
/// vote for (model point, turn about the normal). The peaks give poses, reference by reference,
/// from the most votes down; first with the points within the inner reach, so that clutter around a
/// small object does not drown it, then with all. A cell votes once for a turn, so that flat
/// regions do not flood the count (Hinterstoisser et al., ECCV 2016).
///
/// Normals are of unit length; points or normals that are not finite are left out. On the CPU. The
/// same bits for any number of threads. Cost: about 10 ns a vote.
std::vector<PoseVote> vote_for_poses(const Context& context, const PointPairModel& model,
                                     View<const Vec3f> points, View<const Vec3f> normals);

}  // namespace sextant
