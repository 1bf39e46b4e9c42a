// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/learn/learn_photos/photo_features.h"

namespace sextant::detail::learn_photos {

/// Two features that look alike and lie on each other's epipolar lines.
struct PairMatch {
  std::int32_t photo[2];
  std::int32_t feature[2];
  std::int32_t distance_sq = 0;  ///< of the descriptors
};

/// The matches of two photographs: each feature's nearest along its line, by the descriptor, if
/// it is nearer than the second (of another place) by the ratio and is nearest the other way round,
/// too. Ascending by the first feature. Where there is a box, the point of a match lies in it.
std::vector<PairMatch> match_pair(std::span<const PinholeView> views,
                                  std::span<const Features> features, std::int32_t first,
                                  std::int32_t second, const std::optional<Bounds>& box,
                                  const LearnPhotosOptions& options);

/// The squared distance of two descriptors.
std::int32_t distance_sq(const std::uint8_t* a, const std::uint8_t* b);

}  // namespace sextant::detail::learn_photos
