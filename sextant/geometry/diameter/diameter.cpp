// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/diameter.h"

#include <algorithm>
#include <numbers>

#include "sextant/geometry/space_order/space_order.h"

namespace sextant {

namespace {

constexpr std::int64_t kLeaf = 8;
/// A group is left out only when its bound is shorter by this: rounding must not drop the longest.
constexpr double kMargin = 1e-10;

/// What holds a run of points: a box, and a cone about the centre with the largest distance from
/// it.
struct Group {
  Vec3d low{INFINITY, INFINITY, INFINITY};
  Vec3d high{-INFINITY, -INFINITY, -INFINITY};
  Vec3d axis;
  double half_angle = std::numbers::pi;
  double cosine = -1;  ///< of the half angle
  double sine = 0;
  double reach = 0;
};

std::int64_t farthest_from(std::span<const Vec3d> points, const Vec3d& from) {
  std::int64_t best = 0;
  double best_sq = -1;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double distance_sq = norm_sq(points[i] - from);
    if (distance_sq > best_sq) {
      best_sq = distance_sq;
      best = static_cast<std::int64_t>(i);
    }
  }
  return best;
}

/// Two points that are each other's farthest, nearly always: walks from a point to its farthest.
std::pair<Vec3d, Vec3d> long_pair(std::span<const Vec3d> points) {
  constexpr int kWalk = 8;
  Vec3d a = points[0];
  Vec3d b = points[static_cast<std::size_t>(farthest_from(points, a))];
  for (int i = 0; i < kWalk; ++i) {
    const Vec3d c = points[static_cast<std::size_t>(farthest_from(points, b))];
    if (!(norm_sq(c - b) > norm_sq(a - b))) break;
    a = b;
    b = c;
  }
  return {a, b};
}

/// A binary tree over runs of the points: node n has the children 2 n and 2 n + 1, the leaves come
/// last.
class PairSearch {
 public:
  PairSearch(std::vector<Vec3d> points, const Vec3d& centre, double best_sq)
      : points_(std::move(points)), centre_(centre), best_sq_(best_sq) {
    const auto count = static_cast<std::int64_t>(points_.size());
    while (leaves_ * kLeaf < count) leaves_ *= 2;
    groups_.resize(static_cast<std::size_t>(2 * leaves_));
    for (std::int64_t node = 2 * leaves_ - 1; node >= 1; --node) {
      bound(node);
      group(node).cosine = std::cos(group(node).half_angle);
      group(node).sine = std::sin(group(node).half_angle);
    }
  }

  double best_sq() {
    visit(1, 1);
    return best_sq_;
  }

 private:
  Group& group(std::int64_t node) { return groups_[static_cast<std::size_t>(node)]; }

  std::span<const Vec3d> points_of(std::int64_t leaf) const {
    const auto count = static_cast<std::int64_t>(points_.size());
    const std::int64_t begin = std::min(count, (leaf - leaves_) * kLeaf);
    const std::int64_t end = std::min(count, begin + kLeaf);
    return std::span(points_).subspan(static_cast<std::size_t>(begin),
                                      static_cast<std::size_t>(end - begin));
  }

  void bound(std::int64_t node) {
    Group& g = group(node);
    if (node < leaves_) {
      const Group& a = group(2 * node);
      const Group& b = group(2 * node + 1);
      g.low = {std::min(a.low.x, b.low.x), std::min(a.low.y, b.low.y), std::min(a.low.z, b.low.z)};
      g.high = {std::max(a.high.x, b.high.x), std::max(a.high.y, b.high.y),
                std::max(a.high.z, b.high.z)};
      g.reach = std::max(a.reach, b.reach);
      g.axis = normalized(a.axis + b.axis);
      if (norm_sq(g.axis) > 0) {
        g.half_angle = std::min(std::numbers::pi, std::max(angle(g.axis, a.axis) + a.half_angle,
                                                           angle(g.axis, b.axis) + b.half_angle));
      }
      return;
    }
    for (const Vec3d& p : points_of(node)) {
      g.low = {std::min(g.low.x, p.x), std::min(g.low.y, p.y), std::min(g.low.z, p.z)};
      g.high = {std::max(g.high.x, p.x), std::max(g.high.y, p.y), std::max(g.high.z, p.z)};
      g.reach = std::max(g.reach, norm(p - centre_));
      g.axis += normalized(p - centre_);
    }
    g.axis = normalized(g.axis);
    if (!(norm_sq(g.axis) > 0)) return;
    g.half_angle = 0;
    for (const Vec3d& p : points_of(node)) {
      g.half_angle = std::max(g.half_angle, angle(g.axis, normalized(p - centre_)));
    }
  }

  /// Between unit vectors, also nearly parallel ones.
  static double angle(const Vec3d& a, const Vec3d& b) {
    return std::atan2(norm(cross(a, b)), dot(a, b));
  }

  static double box_bound_sq(const Group& a, const Group& b) {
    const Vec3d far{std::max(a.high.x - b.low.x, b.high.x - a.low.x),
                    std::max(a.high.y - b.low.y, b.high.y - a.low.y),
                    std::max(a.high.z - b.low.z, b.high.z - a.low.z)};
    return norm_sq(far);
  }
  /// The law of cosines with the widest angle that the cones allow. The square of the distance is
  /// convex in each of the two distances from the centre, so it is largest at their ends.
  static double cone_bound_sq(const Group& a, const Group& b) {
    const double room = a.half_angle + b.half_angle;
    // The cosine of the angle between the axes plus the room, -1 from a straight angle on.
    const double c = dot(a.axis, b.axis);
    const double s = norm(cross(a.axis, b.axis));
    const double cosine = a.cosine * b.cosine - a.sine * b.sine;
    const double sine = a.sine * b.cosine + a.cosine * b.sine;
    const bool straight = room >= std::numbers::pi || s * cosine + c * sine <= 0;
    const double widest = straight ? -1.0 : c * cosine - s * sine;
    const double both = a.reach * a.reach + b.reach * b.reach - 2 * a.reach * b.reach * widest;
    return std::max({both, a.reach * a.reach, b.reach * b.reach});
  }
  bool can_hold_longer(const Group& a, const Group& b) const {
    const double limit = best_sq_ * (1 - kMargin);
    if (!(a.low.x <= a.high.x) || !(b.low.x <= b.high.x)) return false;
    return box_bound_sq(a, b) > limit && cone_bound_sq(a, b) > limit;
  }

  // NOLINTNEXTLINE(misc-no-recursion): no deeper than twice the logarithm of the number of points
  void visit(std::int64_t a, std::int64_t b) {
    if (!can_hold_longer(group(a), group(b))) return;
    if (a >= leaves_) {
      compare(a, b);
      return;
    }
    // Both are of one level, so a pair is visited once when a <= b.
    if (a != b) {
      visit(2 * a, 2 * b);
      visit(2 * a, 2 * b + 1);
      visit(2 * a + 1, 2 * b);
      visit(2 * a + 1, 2 * b + 1);
    } else {
      visit(2 * a, 2 * a + 1);
      visit(2 * a, 2 * a);
      visit(2 * a + 1, 2 * a + 1);
    }
  }

  void compare(std::int64_t a, std::int64_t b) {
    for (const Vec3d& p : points_of(a)) {
      for (const Vec3d& q : points_of(b)) best_sq_ = std::max(best_sq_, norm_sq(p - q));
    }
  }

  std::vector<Vec3d> points_;
  Vec3d centre_;
  std::vector<Group> groups_;
  std::int64_t leaves_ = 1;
  double best_sq_;
};

}  // namespace

double diameter_m(const Context& context, View<const Vec3f> points) {
  require_on(context, points, "points");
  require(context.is_cpu(), "diameter_m: runs on the host; the points lie on ",
          to_string(points.device));
  std::vector<Vec3d> finite;
  finite.reserve(static_cast<std::size_t>(points.size));
  for (const Vec3f& p : points) {
    if (is_finite(p)) finite.push_back(cast<double>(p));
  }
  if (finite.empty()) return NAN;
  const auto [a, b] = long_pair(finite);
  const Vec3d centre = (a + b) / 2.0;
  const double best = norm(a - b);
  const double reach =
      norm(finite[static_cast<std::size_t>(farthest_from(finite, centre))] - centre);
  // A pair is no longer than the distances of its ends from the centre together.
  std::erase_if(finite,
                [&](const Vec3d& p) { return norm(p - centre) + reach < best * (1 - kMargin); });
  std::vector<Vec3d> sorted;
  sorted.reserve(finite.size());
  for (const std::uint32_t i : detail::space_order(context, finite)) sorted.push_back(finite[i]);
  return std::sqrt(PairSearch(std::move(sorted), centre, norm_sq(a - b)).best_sq());
}

}  // namespace sextant
