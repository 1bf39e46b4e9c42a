// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sextant/recognize/photo_poses/problem.h"

namespace sextant::detail::photo_poses {

/// The corners of the smallest convex polygon around places, in the order in which u turns to v;
/// all of them where there are fewer than three.
std::vector<Vec2d> hull_of(std::vector<Vec2d> places_px);

/// Whether a place lies in such a polygon or on its edge. Fewer than three corners enclose nothing.
bool is_inside(const std::vector<Vec2d>& hull_px, const Vec2d& at_px);

/// For each pose the number of another one of the same object, with more matches, within whose
/// outline (of the object's matched points) at least half of its own matches lie; -1 where there is
/// none. An opaque body shows one thing in a place, so that both cannot be right: a body whose
/// model is not quite right is found once more by the part that fits another pose better.
std::vector<std::int32_t> covering_poses(const Problem& problem,
                                         const std::vector<PhotoHypothesis>& poses);

}  // namespace sextant::detail::photo_poses
