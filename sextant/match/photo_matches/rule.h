// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sextant/match/descriptors/math.h"

namespace sextant::detail::photo_matches {

/// Squared distances of bytes are whole numbers.
using NearPoint = descriptors::Neighbour<std::int32_t>;

struct RatioTest {
  float ratio;

  SEXTANT_HD bool passes(std::int32_t distance_sq, std::int32_t to_beat_sq) const {
    return distance_sq < static_cast<double>(ratio) * ratio * to_beat_sq;
  }
};

/// What element i of the list of one feature has to beat by the rule of `nearest`, or -1 where it
/// matches nothing. The list is sorted and holds each point once. With object_of(element) and
/// distance_sq_of(element).
template <class ObjectOf, class DistanceOf>
SEXTANT_HD std::int32_t to_beat_in_list(std::int32_t size, std::int32_t i,
                                        const ObjectOf& object_of,
                                        const DistanceOf& distance_sq_of) {
  const std::int32_t object = object_of(i);
  for (std::int32_t j = 0; j < i; ++j) {
    if (object_of(j) == object) return -1;
  }
  for (std::int32_t j = i + 1; j < size; ++j) {
    if (object_of(j) == object) return distance_sq_of(j);
  }
  return i == 0 && size > 1 ? distance_sq_of(1) : -1;
}

/// The rule of `nearest` for one feature: calls accept(point, distance² to beat) for the objects
/// that it matches. The list is sorted and holds each point once; it has room for another of its
/// size. With object_of(row).
template <class ObjectOf, class Accept>
void match_objects_of(std::span<const NearPoint> list, const RatioTest& test,
                      std::span<std::int32_t> seen, const ObjectOf& object_of,
                      const Accept& accept) {
  constexpr std::int32_t kUnseen = -1, kDone = -2;
  for (std::size_t i = 0; i < list.size(); ++i) {
    std::int32_t& first = seen[static_cast<std::size_t>(object_of(list[i].index))];
    if (first == kUnseen) {
      first = static_cast<std::int32_t>(i);
    } else if (first != kDone) {
      const NearPoint& nearest = list[static_cast<std::size_t>(first)];
      if (test.passes(nearest.distance, list[i].distance)) accept(nearest, list[i].distance);
      first = kDone;
    }
  }
  if (list.size() > 1 && seen[static_cast<std::size_t>(object_of(list[0].index))] == 0 &&
      test.passes(list[0].distance, list[1].distance)) {
    accept(list[0], list[1].distance);
  }
  for (const NearPoint& point : list) {
    seen[static_cast<std::size_t>(object_of(point.index))] = kUnseen;
  }
}

}  // namespace sextant::detail::photo_matches
