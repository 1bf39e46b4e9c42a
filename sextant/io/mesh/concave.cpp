// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/mesh/concave.h"

#include <algorithm>
#include <cmath>

#include "sextant/core/error.h"

namespace sextant::detail::mesh {

namespace {

constexpr std::size_t kMostCornersCut = 16384;  // a second

/// Twice the area vector of the polygon (Newell).
Vec3d area_of(std::span<const Vec3d> corners) {
  Vec3d sum{};
  for (std::size_t i = 2; i < corners.size(); ++i) {
    sum = sum + cross(corners[i - 1] - corners[0], corners[i] - corners[0]);
  }
  return sum;
}

/// Whether the triangles around the first corner all face as the polygon does.
bool fan_stays_inside(std::span<const Vec3d> corners, const Vec3d& area) {
  for (std::size_t i = 2; i < corners.size(); ++i) {
    if (dot(cross(corners[i - 1] - corners[0], corners[i] - corners[0]), area) < 0) return false;
  }
  return true;
}

/// The corners in the plane that the polygon covers most of, turning to the left.
std::vector<Vec2d> flattened(std::span<const Vec3d> corners, const Vec3d& area) {
  const double x = std::abs(area.x), y = std::abs(area.y), z = std::abs(area.z);
  std::vector<Vec2d> flat;
  flat.reserve(corners.size());
  for (const Vec3d& corner : corners) {
    const Vec3d p = corner - corners[0];
    if (z >= x && z >= y) {
      flat.push_back(area.z > 0 ? Vec2d{p.x, p.y} : Vec2d{p.y, p.x});
    } else if (y >= x) {
      flat.push_back(area.y > 0 ? Vec2d{p.z, p.x} : Vec2d{p.x, p.z});
    } else {
      flat.push_back(area.x > 0 ? Vec2d{p.y, p.z} : Vec2d{p.z, p.y});
    }
  }
  return flat;
}

class EarCutter {
 public:
  explicit EarCutter(std::vector<Vec2d> corners) : at_(std::move(corners)) {
    for (std::size_t i = 0; i < at_.size(); ++i) left_.push_back(static_cast<std::int32_t>(i));
  }

  /// Empty where no ear is found before three corners are left.
  std::vector<Vec3i> cut() {
    std::vector<Vec3i> triangles;
    while (left_.size() > 3) {
      const std::size_t ear = find_ear();
      if (ear == left_.size()) return {};
      triangles.push_back(triangle_at(ear));
      left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(ear));
    }
    triangles.push_back(triangle_at(1));
    return triangles;
  }

 private:
  Vec3i triangle_at(std::size_t i) const {
    return {left_[(i + left_.size() - 1) % left_.size()], left_[i], left_[(i + 1) % left_.size()]};
  }

  double turn(std::int32_t a, std::int32_t b, std::int32_t c) const {
    const Vec2d p = point(a), q = point(b), r = point(c);
    return (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x);
  }
  const Vec2d& point(std::int32_t i) const { return at_[static_cast<std::size_t>(i)]; }

  /// Corners in the same place, where a bridge leads to a hole, are not in the way.
  bool is_empty(const Vec3i& t) const {
    return std::none_of(left_.begin(), left_.end(), [&](std::int32_t i) {
      const Vec2d p = point(i);
      const auto same = [&](std::int32_t k) { return p.x == point(k).x && p.y == point(k).y; };
      if (same(t.x) || same(t.y) || same(t.z)) return false;
      return turn(t.x, t.y, i) >= 0 && turn(t.y, t.z, i) >= 0 && turn(t.z, t.x, i) >= 0;
    });
  }

  /// Corners in line with their neighbours make triangles without area, which come last.
  std::size_t find_ear() const {
    std::size_t flat = left_.size();
    for (std::size_t i = 0; i < left_.size(); ++i) {
      const Vec3i t = triangle_at(i);
      const double area = turn(t.x, t.y, t.z);
      if (area > 0 && is_empty(t)) return i;
      if (area == 0 && flat == left_.size()) flat = i;
    }
    return flat;
  }

  std::vector<Vec2d> at_;
  std::vector<std::int32_t> left_;  ///< corners that are not cut off yet
};

}  // namespace

std::vector<Vec3i> ears_of_polygon(std::span<const Vec3d> corners, const std::string& file) {
  const Vec3d area = area_of(corners);
  const bool has_area = dot(area, area) > 0 && std::isfinite(dot(area, area));
  if (!has_area || fan_stays_inside(corners, area)) return {};
  require(corners.size() <= kMostCornersCut, file, ": a face has ", corners.size(),
          " corners and is not convex; such faces have at most ", kMostCornersCut);
  return EarCutter(flattened(corners, area)).cut();
}

}  // namespace sextant::detail::mesh
