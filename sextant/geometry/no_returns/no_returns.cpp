// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/no_returns.h"

#include <unordered_map>

#include "sextant/geometry/no_returns/place.h"

namespace sextant {

using detail::no_returns::hash_of_place;

namespace {

struct HashPlace {
  std::size_t operator()(const Vec3f& p) const { return hash_of_place(p); }
};

}  // namespace

std::int64_t clear_no_returns(Cloud& cloud) {
  const auto points = cloud.points.host();
  // A slot counts the points of all places with its hash: hardly any needs a closer look.
  std::size_t slots = 1024;
  while (slots < points.size()) slots *= 2;
  std::vector<std::int32_t> in_slot(slots, 0);
  const auto slot_of = [&](const Vec3f& p) { return hash_of_place(p) % slots; };
  for (const Vec3f& p : points) in_slot[slot_of(p)] += is_finite(p) ? 1 : 0;
  const auto is_crowded = [&](const Vec3f& p) {
    return is_finite(p) && in_slot[slot_of(p)] > kMostCopies;
  };
  std::unordered_map<Vec3f, std::int32_t, HashPlace> copies;
  for (const Vec3f& p : points) {
    if (is_crowded(p)) ++copies[p];
  }
  std::int64_t cleared = 0;
  for (Vec3f& p : points) {
    if (!is_crowded(p) || copies[p] <= kMostCopies) continue;
    p = {NAN, NAN, NAN};
    ++cleared;
  }
  return cleared;
}

}  // namespace sextant
