// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/mesh_health/weld.h"

#include <bit>
#include <cmath>

namespace sextant::detail::mesh_health {

namespace {

constexpr std::int32_t kNone = -1;

std::uint64_t mix(std::uint64_t h) {
  h ^= h >> 33;
  h *= 0xff51afd7ed558ccdu;
  h ^= h >> 33;
  h *= 0xc4ceb9fe1a85ec53u;
  return h ^ h >> 33;
}

/// Points by cell, in chains of equal hash.
class Cells {
 public:
  explicit Cells(std::size_t points) : next_(points, kNone) {
    std::size_t slots = 1024;
    while (slots < points) slots *= 2;
    newest_.assign(slots, kNone);
  }
  std::int32_t newest(std::uint64_t hash) const { return newest_[hash & (newest_.size() - 1)]; }
  std::int32_t next(std::int32_t point) const { return next_[static_cast<std::size_t>(point)]; }
  void add(std::uint64_t hash, std::int32_t point) {
    std::int32_t& newest = newest_[hash & (newest_.size() - 1)];
    next_[static_cast<std::size_t>(point)] = newest;
    newest = point;
  }

 private:
  std::vector<std::int32_t> newest_;
  std::vector<std::int32_t> next_;
};

struct Cell {
  double x, y, z;
  std::uint64_t hash() const {
    // Adding zero makes -0 of +0's bits.
    const auto bits = [](double v) { return std::bit_cast<std::uint64_t>(v + 0.0); };
    return mix(bits(x) ^ mix(bits(y) ^ mix(bits(z))));
  }
};

}  // namespace

std::vector<std::int32_t> weld(std::span<const Vec3f> points, double tolerance_m) {
  std::vector<std::int32_t> place(points.size(), kNone);
  Cells cells(points.size());
  // Cells are some tolerances wide, so that few points lie near the border of theirs.
  const double width = 8 * tolerance_m;
  const double limit_sq = tolerance_m * tolerance_m;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!is_finite(points[i])) continue;
    const Vec3d p = cast<double>(points[i]);
    const auto cell_of = [&](double v) { return width > 0 ? std::floor(v / width) : v; };
    const Cell low{cell_of(p.x - tolerance_m), cell_of(p.y - tolerance_m),
                   cell_of(p.z - tolerance_m)};
    const Cell high{cell_of(p.x + tolerance_m), cell_of(p.y + tolerance_m),
                    cell_of(p.z + tolerance_m)};
    std::int32_t found = kNone;
    const auto ask = [&](const Cell& cell) {
      for (std::int32_t k = cells.newest(cell.hash()); k != kNone; k = cells.next(k)) {
        const Vec3d q = cast<double>(points[static_cast<std::size_t>(k)]);
        if (norm_sq(p - q) <= limit_sq && (found == kNone || k < found)) found = k;
      }
    };
    for (int corner = 0; corner < 8; ++corner) {
      const bool x = corner & 1, y = corner & 2, z = corner & 4;
      if ((x && high.x == low.x) || (y && high.y == low.y) || (z && high.z == low.z)) continue;
      ask({x ? high.x : low.x, y ? high.y : low.y, z ? high.z : low.z});
    }
    place[i] = found == kNone ? static_cast<std::int32_t>(i) : found;
    if (found == kNone) {
      cells.add(Cell{cell_of(p.x), cell_of(p.y), cell_of(p.z)}.hash(),
                static_cast<std::int32_t>(i));
    }
  }
  return place;
}

}  // namespace sextant::detail::mesh_health
