// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sextant/core/options.h"
#include "sextant/core/rigid3.h"
#include "sextant/core/workspace.h"

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
  Buffer<std::uint32_t> occupied;    ///< bit c % 32 of word c / 32: whether cell c holds pairs
  Buffer<std::uint32_t> pairs;       ///< first point of the pair << 5 | turn in 32nds, ascending
};

/// Makes the table of a model's samples (descriptor/point_samples.h): every ordered pair of them.
/// 4 bytes a pair and a direct table of some 100 thousand cells; 600 samples take 1.8 MB and 20 ms.
/// Throws for more than 20 000 samples, and where diameter_m is not positive.
PointPairModel make_point_pair_model(const Context& context, View<const Vec3f> points,
                                     View<const Vec3f> normals, double diameter_m,
                                     const PointPairOptions& options = {});

/// The tables of several models on one device, for votes on all of them at once. Copies share the
/// memory. On CUDA, a table takes up to 8 bytes a pair.
class PointPairModels {
 public:
  PointPairModels() = default;
  /// Copies the tables to the context's device.
  PointPairModels(const Context& context, std::span<const PointPairModel* const> models);

  std::int32_t size() const;
  Device device() const;

  struct State;
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

/// A pose that a reference point of the scene proposes.
struct PoseVote {
  Rigid3f scene_from_model;
  float votes = 0;
  std::int32_t reference = -1;  ///< index of the scene's point
};

/// Votes for poses of the model: every reference point of the scene is paired with the points
/// within the model's reach, each pair looks up the model's pairs with the same feature, and these
/// vote for (model point, turn about the normal). The peaks give poses, reference by reference,
/// from the most votes down, ties to the lowest point and turn; first with the points within the
/// inner reach, so that clutter around a small object does not drown it, then with all. A cell
/// votes once for each 32nd of a turn, so that flat regions do not flood the count (Hinterstoisser
/// et al., ECCV 2016).
///
/// Normals are of unit length; points or normals that are not finite are left out. The same bits
/// for any order of the points but the references, any number of threads, and on every device. On
/// CUDA, the table is copied in every call: take PointPairModels for more than one. On the CPU a
/// reference takes some 0.05 ms.
std::vector<PoseVote> vote_for_poses(const Context& context, const PointPairModel& model,
                                     View<const Vec3f> points, View<const Vec3f> normals);

/// Samples of one scene for each of several models, since each has a density of its own. Those of
/// model i are elements first[i] .. first[i + 1] - 1, which ascend and stay below points.size. All
/// of it lies on one device.
struct SceneSamples {
  View<const Vec3f> points;
  View<const Vec3f> normals;
  View<const std::int32_t> first;  ///< models + 1
};

/// Votes for poses of all models in one batch; result[i] is what vote_for_poses gives for model i
/// and its samples, with references that count from the first of them. Waits for the device.
std::vector<std::vector<PoseVote>> vote_for_poses(const Context& context,
                                                  const PointPairModels& models,
                                                  const SceneSamples& scene);

/// The size of `votes` below for as many samples in all.
std::int64_t pose_vote_capacity(const PointPairModels& models, std::int64_t samples);

/// The same without waiting: the votes of model i are elements first_vote[i] .. first_vote[i + 1] -
/// 1 of `votes`. A reference has a fixed number of elements; those that it does not need have the
/// reference -1. What lies behind first_vote[models] is left as it is.
void vote_for_poses_into(const Context& context, const PointPairModels& models,
                         const SceneSamples& scene, View<PoseVote> votes,
                         View<std::int32_t> first_vote, Workspace& workspace);

}  // namespace sextant
