// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/match/point_pairs.h"
#include "sextant/match/point_pairs/math.h"

namespace sextant::detail::point_pairs {

/// The pairs of one cell and one first point: where their turns lie. Of several pairs with the same
/// turn, each has a row of its own.
struct PairRow {
  std::uint32_t point = 0;
  std::uint32_t turns = 0;  ///< a bit for each bin
};

/// A model as voting sees it, with memory on the device.
struct VotingModel {
  Quantizer bins;
  float spread = 0;
  float inner_sq = 0, outer_sq = 0;  ///< the squares of the reaches
  bool two_reaches = false;
  int reference_step = 1;
  int peaks = 0;
  int samples = 0;  ///< none where there is no pair
  const Vec3f* points = nullptr;
  const Vec3f* normals = nullptr;
  const std::uint32_t* occupied = nullptr;
  const std::uint32_t* cell_first = nullptr;  ///< into pairs, or into rows on CUDA
  const std::uint32_t* pairs = nullptr;       ///< on the CPU
  const PairRow* rows = nullptr;              ///< on CUDA

  SEXTANT_HD bool is_occupied(std::uint32_t cell) const {
    return occupied[cell / 32] >> cell % 32 & 1;
  }
  SEXTANT_HD std::int64_t references(std::int64_t scene_points) const {
    return (scene_points + reference_step - 1) / reference_step;
  }
};

/// The model as it lies on the host.
VotingModel voting_model(const PointPairModel& model);

SEXTANT_HD inline bool usable(const Vec3f& point, const Vec3f& normal) {
  return is_finite(point) && is_finite(normal);
}

/// The pose of a crest at (point, bin) of the count.
SEXTANT_HD inline PoseVote vote_of(const VotingModel& model, const NormalFrame<float>& scene,
                                   int point, int bin, const Crest& crest, std::int32_t reference) {
  const float turn_rad = crest.turn_bins(bin) * (2 * kPi / kTurnBins);
  return {pose_of(scene, normal_frame(model.points[point], model.normals[point]), turn_rad),
          static_cast<float>(crest.votes), reference};
}

/// What a call of vote_for_poses_into does.
struct VotingJob {
  const VotingModel* models = nullptr;  ///< on the device
  int count = 0;
  int votes_each = 0;  ///< of a reference
  SceneSamples scene;
  PoseVote* votes = nullptr;
  std::int32_t* first_vote = nullptr;  ///< count + 1
};

/// Votes with one model; `votes` has room for votes_each elements a reference.
void vote_cpu(const Context& context, const VotingModel& model, View<const Vec3f> points,
              View<const Vec3f> normals, int votes_each, PoseVote* votes, Workspace& workspace);

/// Votes with all models; `most_samples` is what the largest of them has.
void vote_cuda(const Context& context, const VotingJob& job, int most_samples,
               Workspace& workspace);

}  // namespace sextant::detail::point_pairs

namespace sextant {

struct PointPairModels::State {
  std::vector<PointPairModel> tables;  ///< on the device
  std::vector<Buffer<detail::point_pairs::PairRow>> rows;
  std::vector<detail::point_pairs::VotingModel> host;  ///< with pointers to the device
  Buffer<detail::point_pairs::VotingModel> models;     ///< the same on the device
  int most_samples = 0;
  int most_peaks = 0;
  int least_step = 1;
};

}  // namespace sextant
