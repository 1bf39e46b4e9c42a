// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/recognize/photo_poses/grouping.h"

namespace sextant::detail::photo_poses {

/// Photographs with at least three matches that agree with a pose.
int supporting_views(const Problem& problem, const PhotoHypothesis& pose);

/// Why a pose of several photographs is not accepted: too few support it, or too few of the points
/// that poses of single photographs found for it agree. Empty where it is accepted, and for a
/// single camera. `hypotheses` are those of the clusters.
std::string doubt_of_views(const Problem& problem, const PhotoHypothesis& pose,
                           std::span<const PhotoHypothesis> hypotheses);

/// Poses of each object from samples of all photographs' matches, by backprojection: the
/// generalised camera.
std::vector<PhotoHypothesis> generalised_poses(const Problem& problem);

/// Means of the poses of single photographs that are near the one with the largest Q-score.
std::vector<PhotoHypothesis> averaged_poses(const Problem& problem,
                                            std::vector<PhotoHypothesis> poses);

}  // namespace sextant::detail::photo_poses
