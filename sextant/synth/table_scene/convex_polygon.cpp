// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/table_scene/convex_polygon.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace sextant::detail::table_scene {

namespace {

double turn(const Vec2d& a, const Vec2d& b, const Vec2d& c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/// How far the point lies to the left of the edge, which is the inside for a polygon's own edges.
double inside_by(const Vec2d& from, const Vec2d& to, const Vec2d& point) {
  const Vec2d along = to - from;
  return turn(from, to, point) / std::sqrt(dot(along, along));
}

bool separates_from(const ConvexPolygon& a, const ConvexPolygon& b, double gap) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Vec2d &from = a[i], &to = a[(i + 1) % a.size()];
    if (from == to) continue;
    double nearest = -std::numeric_limits<double>::infinity();
    for (const Vec2d& p : b) nearest = std::max(nearest, inside_by(from, to, p));
    if (nearest <= -gap) return true;
  }
  return false;
}

}  // namespace

ConvexPolygon convex_hull(std::vector<Vec2d> points) {
  const auto before = [](const Vec2d& a, const Vec2d& b) {
    return std::tie(a.x, a.y) < std::tie(b.x, b.y);
  };
  std::sort(points.begin(), points.end(), before);
  points.erase(std::unique(points.begin(), points.end()), points.end());
  if (points.size() < 3) return points;
  ConvexPolygon hull;
  for (const bool upper : {false, true}) {
    const std::size_t first = hull.size();
    for (const Vec2d& p : points) {
      while (hull.size() >= first + 2 && turn(hull[hull.size() - 2], hull.back(), p) <= 0) {
        hull.pop_back();
      }
      hull.push_back(p);
    }
    hull.pop_back();  // the other chain begins with it
    if (!upper) std::reverse(points.begin(), points.end());
  }
  return hull;
}

double area(const ConvexPolygon& polygon) {
  double sum = 0;
  for (std::size_t i = 2; i < polygon.size(); ++i) {
    sum += turn(polygon[0], polygon[i - 1], polygon[i]) / 2;
  }
  return sum;
}

Vec2d centroid(const ConvexPolygon& polygon) {
  Vec2d sum{};
  double total = 0;
  for (std::size_t i = 2; i < polygon.size(); ++i) {
    const double part = turn(polygon[0], polygon[i - 1], polygon[i]) / 2;
    sum = sum + (polygon[0] + polygon[i - 1] + polygon[i]) * (part / 3);
    total += part;
  }
  if (total > 0) return sum * (1 / total);
  return polygon.empty() ? Vec2d{} : polygon[0];
}

bool contains(const ConvexPolygon& polygon, const Vec2d& point, double margin) {
  if (polygon.size() < 3) return false;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    if (inside_by(polygon[i], polygon[(i + 1) % polygon.size()], point) < margin) return false;
  }
  return true;
}

bool contains(const ConvexPolygon& outer, const ConvexPolygon& inner, double margin) {
  return !inner.empty() && std::all_of(inner.begin(), inner.end(),
                                       [&](const Vec2d& p) { return contains(outer, p, margin); });
}

bool apart(const ConvexPolygon& a, const ConvexPolygon& b, double gap) {
  return a.empty() || b.empty() || separates_from(a, b, gap) || separates_from(b, a, gap);
}

ConvexPolygon moved(const ConvexPolygon& polygon, double turn_rad, const Vec2d& by) {
  const double c = std::cos(turn_rad), s = std::sin(turn_rad);
  ConvexPolygon result;
  for (const Vec2d& p : polygon) {
    result.push_back({c * p.x - s * p.y + by.x, s * p.x + c * p.y + by.y});
  }
  return result;
}

}  // namespace sextant::detail::table_scene
