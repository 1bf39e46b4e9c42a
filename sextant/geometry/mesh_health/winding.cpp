// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/mesh_health/winding.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "sextant/core/sort.h"

namespace sextant::detail::mesh_health {

namespace {

constexpr std::int32_t kOpen = -1;
constexpr std::int32_t kCrowded = -2;

std::int32_t corner(const Vec3i& t, int which) { return which == 0 ? t.x : which == 1 ? t.y : t.z; }

/// Side s of triangle t has the number 3 t + s and leads from corner s to the next.
struct Sides {
  std::span<const Vec3i> triangles;

  std::int32_t from(std::int32_t side) const {
    return corner(triangles[static_cast<std::size_t>(side / 3)], side % 3);
  }
  std::int32_t to(std::int32_t side) const {
    return corner(triangles[static_cast<std::size_t>(side / 3)], (side + 1) % 3);
  }
};

/// Joins places that borders connect, and counts the groups that are left.
class Groups {
 public:
  explicit Groups(std::int64_t places) : parent_(static_cast<std::size_t>(places), kUnused) {}
  void join(std::int32_t a, std::int32_t b) {
    a = root(a);
    b = root(b);
    parent_[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  }
  std::int64_t count() const {
    std::int64_t groups = 0;
    for (std::size_t i = 0; i < parent_.size(); ++i) {
      groups += parent_[i] == static_cast<std::int32_t>(i);
    }
    return groups;
  }

 private:
  static constexpr std::int32_t kUnused = -1;
  std::int32_t root(std::int32_t i) {
    if (parent_[static_cast<std::size_t>(i)] == kUnused) parent_[static_cast<std::size_t>(i)] = i;
    while (parent_[static_cast<std::size_t>(i)] != i) {
      std::int32_t& up = parent_[static_cast<std::size_t>(i)];
      up = parent_[static_cast<std::size_t>(up)];
      i = up;
    }
    return i;
  }
  std::vector<std::int32_t> parent_;
};

/// For each side the one of the neighbour, kOpen or kCrowded; counts edges on the way.
std::vector<std::int32_t> find_neighbours(const Context& context, const Sides& sides,
                                          std::int64_t places, Winding& winding) {
  const std::size_t count = 3 * sides.triangles.size();
  const auto bits = static_cast<int>(
      std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(places, 1))));
  std::vector<std::uint64_t> keys(count);
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  for (std::size_t i = 0; i < count; ++i) {
    const auto side = static_cast<std::int32_t>(i);
    const auto [low, high] = std::minmax({sides.from(side), sides.to(side)});
    keys[i] = static_cast<std::uint64_t>(low) << bits | static_cast<std::uint64_t>(high);
  }
  sort_pairs<std::uint64_t>(context, view_of(keys), view_of(order), {0, 2 * bits});
  std::vector<std::int32_t> neighbour(count, kOpen);
  Groups borders(places);
  for (std::size_t i = 0; i < count;) {
    std::size_t end = i + 1;
    while (end < count && keys[end] == keys[i]) ++end;
    if (end - i == 1) {
      ++winding.open_edges;
      const auto side = static_cast<std::int32_t>(order[i]);
      borders.join(sides.from(side), sides.to(side));
    } else if (end - i == 2) {
      neighbour[order[i]] = static_cast<std::int32_t>(order[i + 1]);
      neighbour[order[i + 1]] = static_cast<std::int32_t>(order[i]);
    } else {
      ++winding.crowded_edges;
      for (std::size_t k = i; k < end; ++k) neighbour[order[k]] = kCrowded;
    }
    i = end;
  }
  winding.holes = borders.count();
  return neighbour;
}

/// Walks over the part of a triangle that has none yet and gives each triangle its winding relative
/// to the first.
void walk_part(const Sides& sides, std::span<const std::int32_t> neighbour, std::int32_t first,
               std::vector<std::int32_t>& waiting, Winding& winding) {
  const auto number = static_cast<std::int32_t>(winding.parts.size());
  Part part;
  std::int64_t turned = 0;
  waiting.assign(1, first);
  winding.part[static_cast<std::size_t>(first)] = number;
  for (std::size_t next = 0; next < waiting.size(); ++next) {
    const std::int32_t triangle = waiting[next];
    const bool is_turned = winding.turned[static_cast<std::size_t>(triangle)];
    ++part.triangles;
    turned += is_turned;
    for (std::int32_t side = 3 * triangle; side < 3 * triangle + 3; ++side) {
      const std::int32_t other = neighbour[static_cast<std::size_t>(side)];
      if (other < 0) {
        part.closed = false;
        continue;
      }
      // Neighbours that agree walk their common edge in opposite directions.
      const bool agrees = sides.from(side) == sides.to(other);
      const bool other_turned = agrees ? is_turned : !is_turned;
      const auto there = static_cast<std::size_t>(other / 3);
      if (winding.part[there] == number) {
        part.one_sided = part.one_sided || static_cast<bool>(winding.turned[there]) != other_turned;
        continue;
      }
      winding.part[there] = number;
      winding.turned[there] = other_turned;
      waiting.push_back(other / 3);
    }
  }
  if (2 * turned > part.triangles || part.one_sided) {
    for (const std::int32_t triangle : waiting) {
      char& is_turned = winding.turned[static_cast<std::size_t>(triangle)];
      is_turned = part.one_sided ? 0 : !is_turned;
    }
  }
  winding.parts.push_back(part);
}

}  // namespace

Winding find_winding(const Context& context, std::span<const Vec3i> triangles,
                     std::int64_t places) {
  require(triangles.size() <= INT32_MAX / 3, "triangles: ", triangles.size(), " are more than ",
          INT32_MAX / 3);
  Winding winding;
  const Sides sides{triangles};
  const std::vector<std::int32_t> neighbour = find_neighbours(context, sides, places, winding);
  winding.part.assign(triangles.size(), -1);
  winding.turned.assign(triangles.size(), 0);
  std::vector<std::int32_t> waiting;
  for (std::size_t i = 0; i < triangles.size(); ++i) {
    if (winding.part[i] < 0) {
      walk_part(sides, neighbour, static_cast<std::int32_t>(i), waiting, winding);
    }
  }
  return winding;
}

}  // namespace sextant::detail::mesh_health
