// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/recognize/photo_poses/problem.h"

namespace sextant::detail::photo_poses {

/// What the matches that agree with a pose say of it.
PhotoPoseTerms terms_of(const Problem& problem, const PhotoHypothesis& pose);

/// How probable it is that a pose with these terms is right.
double score_of(const PhotoPoseTerms& terms);

}  // namespace sextant::detail::photo_poses
