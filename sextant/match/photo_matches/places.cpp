// SPDX-License-Identifier: Apache-2.0
#include "sextant/match/photo_matches/places.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "sextant/core/for_each.h"

namespace sextant::detail::photo_matches {

namespace {

std::uint64_t hash_of(const Vec3f& p) {
  std::uint64_t hash = 0;
  for (const float x : {p.x, p.y, p.z}) {
    hash = (hash ^ std::bit_cast<std::uint32_t>(x + 0.0f)) * 0x9e3779b97f4a7c15u;  // -0 is 0
    hash ^= hash >> 29;
  }
  return hash;
}

bool same(const Vec3f& a, const Vec3f& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

void find_twins_of_object(std::int32_t begin, std::int32_t end, const Vec3f* points,
                          std::int32_t* twins) {
  const std::size_t size = std::bit_ceil(2 * static_cast<std::size_t>(end - begin) + 1);
  std::vector<std::int32_t> table(size, kAlone);
  for (std::int32_t row = begin; row < end; ++row) {
    std::size_t slot = hash_of(points[row]) & (size - 1);
    while (table[slot] != kAlone && !same(points[table[slot]], points[row])) {
      slot = (slot + 1) & (size - 1);
    }
    if (table[slot] == kAlone) {
      table[slot] = row;
      twins[row] = kAlone;
    } else {
      twins[table[slot]] = twins[row] = table[slot];
    }
  }
}

}  // namespace

void find_twins(const Context& context, View<const std::int32_t> ends, View<const Vec3f> points,
                View<std::int32_t> twins) {
  for_each_chunk(context, ends.size, 1, [&](std::int64_t object, std::int64_t) {
    find_twins_of_object(object == 0 ? 0 : ends[object - 1], ends[object], points.data, twins.data);
  });
}

std::vector<std::int32_t> object_of_rows(View<const std::int32_t> ends, std::int64_t rows) {
  std::vector<std::int32_t> objects(static_cast<std::size_t>(rows));
  for (std::int64_t object = 0; object < ends.size; ++object) {
    std::fill(objects.begin() + (object == 0 ? 0 : ends[object - 1]),
              objects.begin() + ends[object], static_cast<std::int32_t>(object));
  }
  return objects;
}

}  // namespace sextant::detail::photo_matches
