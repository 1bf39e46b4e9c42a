// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sextant/core/vec.h"

namespace sextant::detail::photo_poses {

/// The cluster of each place, numbered by their first members. Places climb to the mean of those
/// within the radius until they move less than 1e-3 px or 100 times; modes nearer than `merge_px`
/// to an earlier one are that one.
std::vector<std::int32_t> mean_shift(std::span<const Vec2d> places_px, double radius_px,
                                     double merge_px);

/// The same as MOPED's code does it: every place is a group at first. In each round, groups whose
/// surroundings (the groups within the radius, weighted by their members) have means nearer to each
/// other than `merge_px` join, and the place of a group is the mean of its members'. It ends when
/// none join, or after 100 rounds.
std::vector<std::int32_t> agglomerate(std::span<const Vec2d> places_px, double radius_px,
                                      double merge_px);

/// Both take time that grows with the number of places times that of a place's neighbours. More
/// than 2000 places are first brought together in squares of an eighth of the radius, whose members
/// then share a cluster: a square has at most some 600 neighbours.
inline constexpr std::size_t kMostSinglePlaces = 2000;

}  // namespace sextant::detail::photo_poses
