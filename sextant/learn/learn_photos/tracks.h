// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/learn/learn_photos/pair_matches.h"

namespace sextant::detail::learn_photos {

/// Features of several photographs that show one place, ascending by photograph.
struct Track {
  struct Member {
    std::int32_t photo, feature;
  };
  std::vector<Member> members;
  std::int32_t matches = 0;  ///< between its members
};

/// Joins matches, those with the nearest descriptors first, into tracks; a match that would bring
/// two features of one photograph together is left out. Tracks of two photographs or more, in
/// the order of their first features.
std::vector<Track> join_matches(std::span<const Features> features, std::vector<PairMatch> matches);

}  // namespace sextant::detail::learn_photos
