// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/mesh_health/outside.h"

#include <algorithm>
#include <numbers>

#include "sextant/core/for_each.h"
#include "sextant/core/random.h"
#include "sextant/geometry/triangle_tree/triangle_tree.h"

namespace sextant::detail::mesh_health {

namespace {

/// How many rays from the front and from the back of a part reach the open.
struct Votes {
  int rays = 0;  ///< cast from each side
  int front = 0;
  int back = 0;

  bool hidden() const { return front + back == 0; }
  /// By more than chance (three standard deviations of a fair coin), and seen from most sides: the
  /// back of a scrap beneath a surface sees the open too, through holes.
  bool clearly_back() const {
    const int more = back - front;
    return more > 0 && more * more > 9 * (front + back) && 2 * back > rays;
  }
};

/// The triangles of each part, with the area up to the end of each.
struct PartSurface {
  std::vector<std::int32_t> triangles;
  std::vector<double> area_until;
};

class Visibility {
 public:
  Visibility(const Context& context, std::span<const Vec3f> points,
             std::span<const Vec3i> triangles, const Winding& winding)
      : points_(points), triangles_(triangles), tree_(context, points, triangles) {
    surfaces_.resize(winding.parts.size());
    Vec3d low{INFINITY, INFINITY, INFINITY};
    Vec3d high = -low;
    for (std::size_t i = 0; i < triangles.size(); ++i) {
      PartSurface& surface = surfaces_[static_cast<std::size_t>(winding.part[i])];
      const double before = surface.area_until.empty() ? 0.0 : surface.area_until.back();
      surface.triangles.push_back(static_cast<std::int32_t>(i));
      surface.area_until.push_back(before + norm(normal(i)));
      const Vec3d p = corner(triangles[i].x);
      low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
    }
    // Rays begin off the surface, nearer than walls are thick and farther than rounding reaches.
    gap_ = 1e-5 * norm(high - low);
  }

  Votes votes(std::size_t part, int rays) const {
    const PartSurface& surface = surfaces_[part];
    Votes votes{rays};
    const double area = surface.area_until.back();
    if (!(area > 0)) return votes;
    for (int ray = 0; ray < rays; ++ray) {
      const Random random{part, static_cast<std::uint64_t>(ray)};
      const double at = (ray + double{random.uniform(0)}) / rays * area;
      const auto found =
          std::upper_bound(surface.area_until.begin(), surface.area_until.end() - 1, at);
      const std::int32_t triangle =
          surface.triangles[static_cast<std::size_t>(found - surface.area_until.begin())];
      votes.front += escapes(triangle, random, 1.0);
      votes.back += escapes(triangle, random, -1.0);
    }
    return votes;
  }

 private:
  Vec3d corner(std::int32_t i) const { return cast<double>(points_[static_cast<std::size_t>(i)]); }
  Vec3d normal(std::size_t i) const {
    const Vec3i& t = triangles_[i];
    return cross(corner(t.y) - corner(t.x), corner(t.z) - corner(t.x));
  }

  /// Whether a ray from a random point of the triangle, on one side of it, meets nothing. The ray
  /// of the other side is its mirror image, so that both have the same chances.
  bool escapes(std::int32_t triangle, const Random& random, double side) const {
    const Vec3i& t = triangles_[static_cast<std::size_t>(triangle)];
    const Vec3d n = normalized(normal(static_cast<std::size_t>(triangle)));
    if (!(norm_sq(n) > 0)) return false;
    const double root = std::sqrt(double{random.uniform(1)});
    const double v = random.uniform(2);
    const Vec3d p =
        corner(t.x) * (1 - root) + corner(t.y) * (root * (1 - v)) + corner(t.z) * (root * v);
    // More rays along the normal than aslant, as light leaves a matt surface.
    const double radius = std::sqrt(double{random.uniform(3)});
    const double turn = 2 * std::numbers::pi * double{random.uniform(4)};
    const Vec3d e = normalized(corner(t.y) - corner(t.x));
    const Vec3d f = cross(n, e);
    const Vec3d direction = e * (radius * std::cos(turn)) + f * (radius * std::sin(turn)) +
                            n * (side * std::sqrt(std::max(0.0, 1 - radius * radius)));
    return !tree_.meets(p + n * (side * gap_), direction, 0, triangle);
  }

  std::span<const Vec3f> points_;
  std::span<const Vec3i> triangles_;
  TriangleTree tree_;
  std::vector<PartSurface> surfaces_;
  double gap_ = 0;
};

/// Six times the enclosed volume of each part, about one of its own corners, so that little is lost
/// where it lies far from the origin.
std::vector<double> volumes(std::span<const Vec3f> points, std::span<const Vec3i> triangles,
                            const Winding& winding) {
  std::vector<double> sums(winding.parts.size(), 0.0);
  std::vector<std::int32_t> base(winding.parts.size(), -1);
  const auto corner = [&](std::int32_t i) {
    return cast<double>(points[static_cast<std::size_t>(i)]);
  };
  for (std::size_t i = 0; i < triangles.size(); ++i) {
    const auto part = static_cast<std::size_t>(winding.part[i]);
    if (base[part] < 0) base[part] = triangles[i].x;
    const Vec3d o = corner(base[part]);
    sums[part] += dot(corner(triangles[i].x) - o,
                      cross(corner(triangles[i].y) - o, corner(triangles[i].z) - o));
  }
  return sums;
}

}  // namespace

std::vector<char> parts_inside_out(const Context& context, std::span<const Vec3f> points,
                                   std::span<const Vec3i> triangles, const Winding& winding) {
  const std::size_t parts = winding.parts.size();
  const std::vector<double> volume = volumes(points, triangles, winding);
  std::vector<char> inside_out(parts, 0);
  std::vector<std::int32_t> doubtful;
  for (std::size_t i = 0; i < parts; ++i) {
    const Part& part = winding.parts[i];
    if (!part.one_sided && (!part.closed || volume[i] < 0)) {
      doubtful.push_back(static_cast<std::int32_t>(i));
    }
  }
  if (doubtful.empty()) return inside_out;
  // Many parts share what rays may cost; sixteen still tell an inside from an outside.
  constexpr std::int64_t kAllRays = 1 << 16;
  const int rays = static_cast<int>(
      clamp<std::int64_t>(kAllRays / static_cast<std::int64_t>(doubtful.size()), 16, 1024));
  const Visibility visibility(context, points, triangles, winding);
  for_each_chunk(
      context, static_cast<std::int64_t>(doubtful.size()), 1,
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const auto part = static_cast<std::size_t>(doubtful[static_cast<std::size_t>(i)]);
          const Votes votes = visibility.votes(part, rays);
          inside_out[part] = winding.parts[part].closed ? !votes.hidden() : votes.clearly_back();
        }
      });
  return inside_out;
}

}  // namespace sextant::detail::mesh_health
