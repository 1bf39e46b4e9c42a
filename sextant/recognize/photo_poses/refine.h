// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sextant/recognize/photo_poses/problem.h"

namespace sextant::detail::photo_poses {

/// A pose fitted to what it claims, over all photographs; nothing where too few agree. Draws are
/// functions of (seed, number, trial).
std::optional<PhotoHypothesis> refined(const Problem& problem, const PhotoHypothesis& pose,
                                       std::uint64_t number);

/// What is left of a pose at the end: fitted to the claimed features that agree, if that is wanted.
/// Its matches become those that agree.
void finish(const Problem& problem, PhotoHypothesis& pose, bool fit);

}  // namespace sextant::detail::photo_poses
