// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/learn_photos/tracks.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace sextant::detail::learn_photos {

namespace {

bool share_a_photo(const Track& a, const Track& b) {
  auto i = a.members.begin(), k = b.members.begin();
  while (i != a.members.end() && k != b.members.end()) {
    if (i->photo == k->photo) return true;
    (i->photo < k->photo ? i : k)++;
  }
  return false;
}

Track joined(const Track& a, const Track& b) {
  Track both;
  std::merge(a.members.begin(), a.members.end(), b.members.begin(), b.members.end(),
             std::back_inserter(both.members),
             [](const Track::Member& x, const Track::Member& y) { return x.photo < y.photo; });
  return both;
}

}  // namespace

std::vector<Track> join_matches(std::span<const Features> features,
                                std::vector<PairMatch> matches) {
  std::vector<std::size_t> first(features.size() + 1, 0);
  for (std::size_t p = 0; p < features.size(); ++p) {
    first[p + 1] = first[p] + features[p].at_px.size();
  }
  std::vector<Track> tracks(first.back());
  for (std::size_t p = 0; p < features.size(); ++p) {
    for (std::int32_t i = 0; i < features[p].count(); ++i) {
      tracks[first[p] + static_cast<std::size_t>(i)].members = {{static_cast<std::int32_t>(p), i}};
    }
  }
  std::vector<std::size_t> root(first.back());
  std::iota(root.begin(), root.end(), std::size_t{0});
  const auto find = [&](std::size_t i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  std::sort(matches.begin(), matches.end(), [](const PairMatch& a, const PairMatch& b) {
    return std::tie(a.distance_sq, a.photo[0], a.photo[1], a.feature[0], a.feature[1]) <
           std::tie(b.distance_sq, b.photo[0], b.photo[1], b.feature[0], b.feature[1]);
  });
  const auto track_of = [&](const PairMatch& match, int end) {
    return find(first[static_cast<std::size_t>(match.photo[end])] +
                static_cast<std::size_t>(match.feature[end]));
  };
  for (const PairMatch& match : matches) {
    const std::size_t a = track_of(match, 0), b = track_of(match, 1);
    const std::size_t low = min_of(a, b), high = max_of(a, b);
    if (low == high || share_a_photo(tracks[low], tracks[high])) continue;
    tracks[low] = joined(tracks[low], tracks[high]);
    tracks[high].members.clear();
    root[high] = low;
  }
  for (const PairMatch& match : matches) {
    const std::size_t a = track_of(match, 0);
    if (a == track_of(match, 1)) ++tracks[a].matches;
  }
  std::erase_if(tracks, [](const Track& track) { return track.members.size() < 2; });
  return tracks;
}

}  // namespace sextant::detail::learn_photos
