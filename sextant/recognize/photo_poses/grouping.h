// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sextant/recognize/photo_poses/problem.h"

namespace sextant::detail::photo_poses {

/// What a grouping asks of a pose.
struct GroupLimits {
  int points = 6;
  double score = 2;
  double agree_px_sq = 10;  ///< of matches that agree, for nearest_first
};

/// A pose that a grouping dropped.
struct DroppedPose {
  PhotoHypothesis pose;
  std::string reason;
};

void drop(std::vector<DroppedPose>& dropped, PhotoHypothesis pose, std::string reason);

/// Gives each feature of the photographs to one pose, of whatever object: of those that project its
/// point within gamma, the one that ranks highest over all that it projects so near; the first of
/// equals. Poses that are left with too little are dropped. What is left has the matches that it
/// claims and its Q-score over them.
std::vector<PhotoHypothesis> group_by_projection(const Problem& problem,
                                                 std::vector<PhotoHypothesis> poses,
                                                 const GroupLimits& limits,
                                                 std::vector<DroppedPose>& dropped);

/// Mean shift over places and quaternions: the poses of an object that climb to one mode become the
/// best of them, with the matches of all within gamma of it.
std::vector<PhotoHypothesis> group_in_pose_space(const Problem& problem,
                                                 std::vector<PhotoHypothesis> poses,
                                                 const GroupLimits& limits,
                                                 std::vector<DroppedPose>& dropped);

/// How a pose ranks, given its matches' squared distances; more is better.
double rank_of(const PhotoPoseOptions& options, std::span<const double> errors_sq_px);

}  // namespace sextant::detail::photo_poses
