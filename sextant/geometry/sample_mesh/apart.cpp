// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/sample_mesh/apart.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "sextant/core/random.h"
#include "sextant/core/sort.h"

namespace sextant::detail::sample_mesh {

namespace {

/// Cells as wide as the spacing: a point too near lies in the same cell or in one of 26 others.
/// Distances decide; two cells of one key only cost time.
std::uint64_t key_of(std::int64_t x, std::int64_t y, std::int64_t z) {
  constexpr std::uint64_t kMask = (1u << 21) - 1;
  return (static_cast<std::uint64_t>(x) & kMask) << 42 |
         (static_cast<std::uint64_t>(y) & kMask) << 21 | (static_cast<std::uint64_t>(z) & kMask);
}

std::vector<std::uint32_t> random_order(const Context& context, std::size_t count,
                                        std::uint64_t seed) {
  std::vector<std::uint32_t> keys(count), order(count);
  for (std::size_t i = 0; i < count; ++i) {
    keys[i] = Random{seed, i}.bits(3);
    order[i] = static_cast<std::uint32_t>(i);
  }
  sort_pairs<std::uint32_t>(context, view_of(keys), view_of(order));
  return order;
}

}  // namespace

std::vector<std::uint32_t> far_apart(const Context& context, std::span<const Vec3f> points,
                                     std::span<const Vec3f> normals, float spacing_m,
                                     std::uint64_t seed) {
  constexpr std::int32_t kNone = -1;
  std::unordered_map<std::uint64_t, std::int32_t> newest_of_cell;
  std::vector<std::int32_t> older;  // the kept point before, of the same cell
  std::vector<std::uint32_t> kept;
  const float limit_sq = spacing_m * spacing_m;
  for (const std::uint32_t candidate : random_order(context, points.size(), seed)) {
    const Vec3f p = points[candidate];
    const auto cell = [&](float x) {
      return static_cast<std::int64_t>(std::floor(double{x} / double{spacing_m}));
    };
    const std::int64_t cx = cell(p.x), cy = cell(p.y), cz = cell(p.z);
    const auto is_near = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
      const auto found = newest_of_cell.find(key_of(x, y, z));
      if (found == newest_of_cell.end()) return false;
      for (std::int32_t k = found->second; k != kNone; k = older[static_cast<std::size_t>(k)]) {
        const std::uint32_t other = kept[static_cast<std::size_t>(k)];
        if (norm_sq(points[other] - p) < limit_sq && dot(normals[other], normals[candidate]) > 0) {
          return true;
        }
      }
      return false;
    };
    bool free = true;
    for (int i = 0; free && i < 27; ++i) {
      // The own cell first: it is the likeliest.
      const int step = (i + 13) % 27;
      free = !is_near(cx + step % 3 - 1, cy + step / 3 % 3 - 1, cz + step / 9 - 1);
    }
    if (!free) continue;
    const auto entry = newest_of_cell.try_emplace(key_of(cx, cy, cz), kNone).first;
    older.push_back(entry->second);
    entry->second = static_cast<std::int32_t>(kept.size());
    kept.push_back(candidate);
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

}  // namespace sextant::detail::sample_mesh
