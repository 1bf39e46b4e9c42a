// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/space_order/space_order.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sextant/core/sort.h"

namespace sextant::detail {

namespace {

/// Puts two zeros between the bits of a number of up to 21 bits.
std::uint64_t spread(std::uint64_t v) {
  v = (v | v << 32) & 0x1f00000000ffff;
  v = (v | v << 16) & 0x1f0000ff0000ff;
  v = (v | v << 8) & 0x100f00f00f00f00f;
  v = (v | v << 4) & 0x10c30c30c30c30c3;
  return (v | v << 2) & 0x1249249249249249;
}

}  // namespace

std::vector<std::uint32_t> space_order(const Context& context, std::span<const Vec3d> points) {
  constexpr int kBits = 13;  // five passes of the sort
  std::vector<std::uint32_t> order(points.size());
  std::iota(order.begin(), order.end(), 0u);
  Vec3d low{INFINITY, INFINITY, INFINITY};
  Vec3d high = -low;
  for (const Vec3d& p : points) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  const Vec3d size = high - low;
  const double cell = std::max({size.x, size.y, size.z}) / ((1 << kBits) - 1);
  if (points.empty() || !(cell > 0)) return order;
  std::vector<std::uint64_t> keys(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec3d at = (points[i] - low) / cell;
    keys[i] = spread(static_cast<std::uint64_t>(at.x)) << 2 |
              spread(static_cast<std::uint64_t>(at.y)) << 1 |
              spread(static_cast<std::uint64_t>(at.z));
  }
  sort_pairs<std::uint64_t>(context, view_of(keys), view_of(order), {0, 3 * kBits});
  return order;
}

}  // namespace sextant::detail
