// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace sextant::detail::recognizer {

// How many poses of an object go from stage to stage, and which of them count as one.

inline constexpr float kClusterShare = 0.1f;       ///< of the diameter: votes within are one pose
inline constexpr float kClusterAngle_rad = 0.26f;  ///< 15°
inline constexpr float kTwinShare = 0.03f;         ///< ... within which refined poses are one
inline constexpr float kTwinAngle_rad = 0.09f;     ///< 5°
inline constexpr int kCoarseStep = 4;              ///< of the samples, every so many judge a vote
/// With the best of these agreements, and at least an eighth of all, are clustered.
inline constexpr std::size_t kLeastVotes = 3000;
inline constexpr std::size_t kVotesShare = 8;
inline constexpr int kOutlineRounds = 4;
/// A pose is moved in each of these rounds only if its logit is above this. The first round lifts
/// right poses by up to 6 and all four by up to 12, so that lower ones are not found either way; on
/// 58 frames of 18 sets detections are the same to the bit with 30 % of the comparisons.
inline constexpr double kLeastLogit[kOutlineRounds] = {-12, -10, -8, -5.5};
/// Rejected poses that a result has, the best ones: nobody reads more, and 15 000 of a hundred
/// objects take longer to write down than all of them take to verify.
inline constexpr std::size_t kMostInResult = 1000;
/// That are told of an object. The faces of all of them are filled with packs: on bins, with 50,
/// the right pack of ten was not among the proposals, and a wrong one had no rival.
inline constexpr std::size_t kMostRejected = 150;

/// Of the poses that are refined, those that agree best; the rest have the most votes.
inline constexpr std::size_t by_agreement(std::size_t refined) { return refined * 2 / 3; }

}  // namespace sextant::detail::recognizer
