// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sextant/pose/reprojection.h"
#include "sextant/recognize/photo_poses/problem.h"

namespace sextant::detail::photo_poses {

/// Parts the matches of each object in each photograph by place. Clusters of fewer than
/// agree_points are left out. In ascending order of object, photograph and first match.
std::vector<PhotoCluster> make_clusters(const Problem& problem);

/// The poses of a cluster: random samples of it give poses, the best one takes the matches that
/// agree with it away, and the rest gives the next. Draws are functions of (seed, number, trial).
std::vector<PhotoHypothesis> cluster_poses(const Problem& problem, const PhotoCluster& cluster,
                                           std::uint64_t number);

/// What a search over samples looks for and ends with.
struct SampleSearch {
  std::uint64_t stream = 0;  ///< of random numbers
  int trials = 1;
  int sample = 5;
  double limit_px_sq = 10;
  int least = 6;  ///< matches that must agree
  bool first_success = false;
  PoseObjective objective = PoseObjective::kReprojection;
  PhotoFitOptions fit;
  std::optional<Rigid3d> start;  ///< none: a random rotation, half a metre ahead
};

struct SampledPose {
  Rigid3d world_from_object;
  std::vector<std::int32_t> agreeing;
};

/// Least squares by either objective.
PhotoFit fit_pose(const Problem& problem, std::span<const std::int32_t> matches,
                  const Rigid3d& start, PoseObjective objective, const PhotoFitOptions& options);

/// Fits poses to random samples by least squares and returns the one that most matches agree with,
/// fitted to these; the first that enough agree with if `first_success`. Nothing if no pose has
/// enough.
std::optional<SampledPose> search_by_least_squares(const Problem& problem,
                                                   std::span<const std::int32_t> matches,
                                                   const SampleSearch& search);

/// The same with poses of three matches in closed form, all matches of one photograph. Fewer trials
/// are made where many matches agree: as many as find a better pose with a probability of 0.99.
std::optional<SampledPose> search_by_p3p(const Problem& problem,
                                         std::span<const std::int32_t> matches,
                                         const SampleSearch& search);

/// Fits the pose to the matches that agree with it until these stay the same, at most five times;
/// keeps the pose that most agree with.
void fit_to_agreeing(const Problem& problem, std::span<const std::int32_t> matches,
                     double limit_px_sq, PoseObjective objective, const PhotoFitOptions& options,
                     SampledPose& pose);

}  // namespace sextant::detail::photo_poses
