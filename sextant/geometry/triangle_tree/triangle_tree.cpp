// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/triangle_tree/triangle_tree.h"

#include <algorithm>

#include "sextant/geometry/space_order/space_order.h"

namespace sextant::detail {

namespace {

constexpr std::int64_t kLeaf = 4;
constexpr int kDeepest = 64;  // two entries a level are ample for 2³¹ triangles

Vec3d nearest_on_segment(const Vec3d& p, const Vec3d& a, const Vec3d& b) {
  const Vec3d along = b - a;
  const double length_sq = norm_sq(along);
  if (!(length_sq > 0)) return a;
  return a + along * clamp(dot(p - a, along) / length_sq, 0.0, 1.0);
}

/// Where the ray passes the triangle's inside or border, in multiples of the direction; NaN where
/// it does not (Möller and Trumbore 1997).
double ray_meets(const Vec3d& origin, const Vec3d& direction, const Vec3d& a, const Vec3d& b,
                 const Vec3d& c) {
  const Vec3d ab = b - a;
  const Vec3d ac = c - a;
  const Vec3d h = cross(direction, ac);
  const double determinant = dot(ab, h);
  if (determinant == 0) return NAN;
  const Vec3d s = origin - a;
  const double u = dot(s, h) / determinant;
  if (!(u >= 0 && u <= 1)) return NAN;
  const Vec3d q = cross(s, ab);
  const double v = dot(direction, q) / determinant;
  if (!(v >= 0 && u + v <= 1)) return NAN;
  return dot(ac, q) / determinant;
}

}  // namespace

Vec3d nearest_on_triangle(const Vec3d& p, const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const Vec3d normal = cross(b - a, c - a);
  const double area_sq = norm_sq(normal);
  if (area_sq > 0) {
    const double wa = dot(cross(b - p, c - p), normal);
    const double wb = dot(cross(c - p, a - p), normal);
    const double wc = dot(cross(a - p, b - p), normal);
    if (wa >= 0 && wb >= 0 && wc >= 0) return p - normal * (dot(p - a, normal) / area_sq);
  }
  Vec3d best = nearest_on_segment(p, a, b);
  for (const Vec3d& other : {nearest_on_segment(p, b, c), nearest_on_segment(p, c, a)}) {
    if (norm_sq(other - p) < norm_sq(best - p)) best = other;
  }
  return best;
}

TriangleTree::TriangleTree(const Context& context, std::span<const Vec3f> points,
                           std::span<const Vec3i> triangles) {
  const auto corner = [&](std::int32_t i) {
    return cast<double>(points[static_cast<std::size_t>(i)]);
  };
  std::vector<Triangle> list;
  normals_.reserve(triangles.size());
  for (std::size_t i = 0; i < triangles.size(); ++i) {
    const Vec3i& t = triangles[i];
    list.push_back({corner(t.x), corner(t.y), corner(t.z), static_cast<std::int32_t>(i)});
    normals_.push_back(normalized(cross(list[i].b - list[i].a, list[i].c - list[i].a)));
  }
  build(context, list);
}

TriangleTree::TriangleTree(const Context& context, std::span<const Vec3f> points,
                           std::span<const Vec3f> normals) {
  std::vector<Triangle> list;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec3d p = cast<double>(points[i]);
    list.push_back({p, p, p, static_cast<std::int32_t>(i)});
    const bool has_normal = !normals.empty() && is_finite(normals[i]);
    normals_.push_back(has_normal ? normalized(cast<double>(normals[i])) : Vec3d{});
  }
  build(context, list);
}

void TriangleTree::build(const Context& context, std::span<const Triangle> triangles) {
  std::vector<Triangle> finite;
  std::vector<Vec3d> middles;
  for (const Triangle& t : triangles) {
    const Vec3d middle = (t.a + t.b + t.c) / 3.0;
    if (!is_finite(middle)) continue;
    finite.push_back(t);
    middles.push_back(middle);
  }
  triangles_.reserve(finite.size());
  for (const std::uint32_t i : space_order(context, middles)) triangles_.push_back(finite[i]);
  while (leaves_ * kLeaf < static_cast<std::int64_t>(triangles_.size())) leaves_ *= 2;
  boxes_.resize(static_cast<std::size_t>(2 * leaves_));
  const auto lower = [](Vec3d& a, const Vec3d& b) {
    a = {std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)};
  };
  const auto raise = [](Vec3d& a, const Vec3d& b) {
    a = {std::max(a.x, b.x), std::max(a.y, b.y), std::max(a.z, b.z)};
  };
  for (std::int64_t node = 2 * leaves_ - 1; node >= 1; --node) {
    Box& box = boxes_[static_cast<std::size_t>(node)];
    if (node < leaves_) {
      for (const std::int64_t child : {2 * node, 2 * node + 1}) {
        const Box& part = boxes_[static_cast<std::size_t>(child)];
        lower(box.low, part.low);
        raise(box.high, part.high);
        lower(box.normal_low, part.normal_low);
        raise(box.normal_high, part.normal_high);
      }
      continue;
    }
    for (const Triangle& t : triangles_of(node)) {
      for (const Vec3d& p : {t.a, t.b, t.c}) {
        lower(box.low, p);
        raise(box.high, p);
      }
      lower(box.normal_low, normal(t.number));
      raise(box.normal_high, normal(t.number));
    }
  }
}

std::span<const TriangleTree::Triangle> TriangleTree::triangles_of(std::int64_t leaf) const {
  const auto count = static_cast<std::int64_t>(triangles_.size());
  const std::int64_t begin = std::min(count, (leaf - leaves_) * kLeaf);
  const std::int64_t end = std::min(count, begin + kLeaf);
  return std::span(triangles_)
      .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
}

bool TriangleTree::meets(const Vec3d& origin, const Vec3d& direction, double from,
                         std::int32_t skip) const {
  const Vec3d inverse{1 / direction.x, 1 / direction.y, 1 / direction.z};
  const auto passes = [&](const Box& box) {
    double begin = from, end = INFINITY;
    const auto cut = [&](double low, double high, double o, double inv, double d) {
      if (d == 0) {
        if (!(o >= low && o <= high)) end = -INFINITY;
        return;
      }
      const double one = (low - o) * inv;
      const double two = (high - o) * inv;
      begin = std::max(begin, std::min(one, two));
      end = std::min(end, std::max(one, two));
    };
    cut(box.low.x, box.high.x, origin.x, inverse.x, direction.x);
    cut(box.low.y, box.high.y, origin.y, inverse.y, direction.y);
    cut(box.low.z, box.high.z, origin.z, inverse.z, direction.z);
    return begin <= end * (1 + 1e-12);
  };
  std::int64_t waiting[kDeepest];
  int count = 0;
  waiting[count++] = 1;
  while (count > 0) {
    const std::int64_t node = waiting[--count];
    const Box& box = boxes_[static_cast<std::size_t>(node)];
    if (!(box.low.x <= box.high.x) || !passes(box)) continue;
    if (node < leaves_) {
      waiting[count++] = 2 * node;
      waiting[count++] = 2 * node + 1;
      continue;
    }
    for (const Triangle& t : triangles_of(node)) {
      if (t.number != skip && ray_meets(origin, direction, t.a, t.b, t.c) > from) return true;
    }
  }
  return false;
}

double TriangleTree::distance_sq(const Box& box, const Vec3d& p) {
  if (!(box.low.x <= box.high.x)) return INFINITY;
  const auto outside = [](double low, double high, double x) {
    return std::max({low - x, x - high, 0.0});
  };
  return norm_sq(Vec3d{outside(box.low.x, box.high.x, p.x), outside(box.low.y, box.high.y, p.y),
                       outside(box.low.z, box.high.z, p.z)});
}

bool TriangleTree::may_face(const Box& box, const Vec3d& d) {
  const Vec3d &low = box.normal_low, &high = box.normal_high;
  return std::max(low.x * d.x, high.x * d.x) + std::max(low.y * d.y, high.y * d.y) +
             std::max(low.z * d.z, high.z * d.z) >=
         0;
}

bool TriangleTree::is_beyond(const Triangle& t, const Vec3d& normal, const Vec3d& p,
                             double limit_sq) {
  // Rounding must not leave out one that is as near as the limit.
  const double most_sq = limit_sq * (1 + 1e-9);
  const double off = dot(p - t.a, normal);
  if (off * off > most_sq) return true;
  const auto outside = [](double a, double b, double c, double x) {
    return std::max({std::min({a, b, c}) - x, x - std::max({a, b, c}), 0.0});
  };
  return norm_sq(Vec3d{outside(t.a.x, t.b.x, t.c.x, p.x), outside(t.a.y, t.b.y, t.c.y, p.y),
                       outside(t.a.z, t.b.z, t.c.z, p.z)}) > most_sq;
}

NearestOnTriangles TriangleTree::nearest(const Vec3d& point, double limit_sq,
                                         const Vec3d& facing) const {
  const bool any = facing == Vec3d{};
  NearestOnTriangles best;
  best.distance_sq = limit_sq;
  struct Waiting {
    std::int64_t node;
    double distance_sq;
  };
  Waiting waiting[kDeepest];
  int count = 0;
  waiting[count++] = {1, distance_sq(boxes_[1], point)};
  while (count > 0) {
    const Waiting next = waiting[--count];
    if (!(next.distance_sq < best.distance_sq)) continue;
    if (next.node < leaves_) {
      const auto child = [&](std::int64_t node) -> Waiting {
        const Box& box = boxes_[static_cast<std::size_t>(node)];
        return {node, any || may_face(box, facing) ? distance_sq(box, point) : INFINITY};
      };
      Waiting a = child(2 * next.node);
      Waiting b = child(2 * next.node + 1);
      if (a.distance_sq < b.distance_sq) std::swap(a, b);
      waiting[count++] = a;  // the nearer one is asked first
      waiting[count++] = b;
      continue;
    }
    for (const Triangle& t : triangles_of(next.node)) {
      const Vec3d& across = normals_[static_cast<std::size_t>(t.number)];
      if (!any && dot(across, facing) < 0) continue;
      if (is_beyond(t, across, point, best.distance_sq)) continue;
      const Vec3d on = nearest_on_triangle(point, t.a, t.b, t.c);
      const double d = norm_sq(on - point);
      if (d < best.distance_sq) best = {d, on, t.number};
    }
  }
  if (best.triangle < 0) best.distance_sq = INFINITY;
  return best;
}

}  // namespace sextant::detail
