// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/symmetries/axes.h"

#include <algorithm>
#include <atomic>
#include <numbers>

#include "sextant/core/cholesky.h"
#include "sextant/core/eigen3.h"
#include "sextant/core/for_each.h"

namespace sextant::detail::symmetries {

namespace {

constexpr double kPi = std::numbers::pi;
constexpr int kMostOrder = 12;
constexpr int kDirections = 1500;              ///< of the hemisphere, some 4 degrees apart
constexpr double kApart_rad = 10 * kPi / 180;  ///< two axes of one group are farther apart

/// Directions spread evenly over a hemisphere, on a spiral.
Vec3d direction(int i) {
  const double z = 1 - (i + 0.5) / kDirections;
  const double turn = i * kPi * (3 - std::sqrt(5.0));
  const double r = std::sqrt(1 - z * z);
  return {r * std::cos(turn), r * std::sin(turn), z};
}

double angle_between_lines(const Vec3d& a, const Vec3d& b) {
  return std::atan2(norm(cross(a, b)), std::abs(dot(a, b)));
}

/// Whether the inertia allows a turn of this order about a direction that may be off by a few
/// degrees: an axis of symmetry is a main axis, and from order 3 on the inertia across it is round.
bool inertia_allows(const Sym3d& inertia, const Vec3d& axis, int order) {
  const double scale = trace(inertia);
  const Vec3d image = inertia * axis;
  const double along = dot(axis, image);
  const Eigen3<double> e = eigen(inertia);
  // Off by δ, the image leaves the axis by δ times the difference of the main inertias.
  const double slack = 0.02 * scale + 0.08 * (e.values[2] - e.values[0]);
  if (norm(image - axis * along) > slack) return false;
  if (order == 2) return true;
  const Vec3d u = any_perpendicular(axis);
  const Vec3d v = cross(axis, u);
  const double uu = dot(u, inertia * u), vv = dot(v, inertia * v), uv = dot(u, inertia * v);
  return std::hypot(uu - vv, 2 * uv) < 2 * slack;
}

struct Candidate {
  Vec3d axis;
  double score = INFINITY;
};

/// Directions about which a turn brings the surface near itself, the best first, none near a better
/// one.
std::vector<Candidate> coarse_axes(const Context& context, const SelfSurface& surface, int order,
                                   std::size_t most) {
  const double diameter = surface.diameter();
  const double good_enough = 0.05 * diameter;
  std::vector<Candidate> candidates;
  const Eigen3<double> main = eigen(surface.inertia());
  for (const Vec3d& axis : main.vectors.row) candidates.push_back({axis});
  for (int i = 0; i < kDirections; ++i) candidates.push_back({direction(i)});
  std::erase_if(candidates, [&](const Candidate& c) {
    return !inertia_allows(surface.inertia(), c.axis, order);
  });
  for_each_chunk(context, static_cast<std::int64_t>(candidates.size()), 64,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     Candidate& c = candidates[static_cast<std::size_t>(i)];
                     const Rigid3d turn = turn_about({c.axis, surface.centre()}, 2 * kPi / order);
                     c.score = surface.rough_distance(turn, 256);
                   }
                 });
  std::erase_if(candidates, [&](const Candidate& c) { return !(c.score < good_enough); });
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.score < b.score; });
  std::vector<Candidate> kept;
  for (const Candidate& c : candidates) {
    const bool is_new = std::none_of(kept.begin(), kept.end(), [&](const Candidate& k) {
      return angle_between_lines(k.axis, c.axis) < kApart_rad;
    });
    if (is_new) kept.push_back(c);
    if (kept.size() == most) break;
  }
  return kept;
}

double tolerance_m(const SelfSurface& surface, const ContinuousSymmetry& axis, double tolerance) {
  return tolerance * surface.extent_across(axis);
}

}  // namespace

ContinuousSymmetry axis_of(const Rigid3d& motion, double angle_rad, const Vec3d& centre) {
  const Vec3d axis = normalized(log_rotation(motion.rotation));
  const Vec3d moved = motion * centre - centre;
  const Vec3d across = moved - axis * dot(axis, moved);
  // The inverse of 1 - R in the plane across the axis is (1 + cot(angle / 2) [axis]) / 2.
  const double cotangent = std::cos(angle_rad / 2) / std::sin(angle_rad / 2);
  return {axis, centre + (across + cross(axis, across) * cotangent) * 0.5};
}

Rigid3d refined(const SelfSurface& surface, const Rigid3d& motion) {
  constexpr int kRounds = 10;
  constexpr std::size_t kUsed = 256;
  const double scale = surface.diameter() / 2;
  Rigid3d best = motion;
  const std::size_t count = std::min(kUsed, surface.samples().size());
  for (int round = 0; round < kRounds; ++round) {
    if (round == 3 && surface.rough_distance(best, 256) > 0.03 * surface.diameter()) return best;
    // Far pairs guide the first rounds and are wrong pairs in the last.
    const double limit = surface.diameter() * std::max(0.04, 0.15 * std::pow(0.8, round));
    SymN<double, 6> normal_equations;
    double x[6] = {};
    for (std::size_t i = 0; i < count; ++i) {
      const Sample& s = surface.samples()[i];
      const Vec3d p = best * s.point;
      const SelfSurface::Meeting m = surface.meet(p, best.rotation * s.normal, limit);
      if (!std::isfinite(m.distance) || !(norm_sq(m.normal) > 0.5)) continue;
      const Vec3d arm = cross((p - surface.centre()) / scale, m.normal);
      const double row[6] = {arm.x, arm.y, arm.z, m.normal.x, m.normal.y, m.normal.z};
      normal_equations.add_outer(row, 1.0);
      for (int r = 0; r < 6; ++r) x[r] -= row[r] * m.distance;
    }
    // What the surface does not determine, such as turns of a cylinder, stays as it is.
    double sum = 0;
    for (int r = 0; r < 6; ++r) sum += normal_equations.at(r, r);
    for (int r = 0; r < 6; ++r) normal_equations.at(r, r) += 1e-4 * sum;
    const Cholesky<double, 6> factor = cholesky(normal_equations);
    if (!factor.ok) return best;
    factor.solve(x);
    const Vec3d turn{x[0] / scale, x[1] / scale, x[2] / scale};
    const Mat3d rotation = exp_rotation(turn);
    const Vec3d shift{x[3], x[4], x[5]};
    best = renormalized(Rigid3d{rotation, surface.centre() - rotation * surface.centre() + shift} *
                        best);
    if (norm(turn) < 1e-5 && norm(shift) < 1e-5 * scale) break;
  }
  return best;
}

bool is_continuous(const SelfSurface& surface, const ContinuousSymmetry& axis, double tolerance) {
  const double limit_m = tolerance_m(surface, axis, tolerance);
  // Multiples of the golden angle fill the circle evenly. A dented cup may just fail at some, while
  // a finite group fails at most.
  int failures = 0;
  for (int i = 1; i <= 16 && failures <= 2; ++i) {
    const double angle = std::remainder(i * kPi * (3 - std::sqrt(5.0)), 2 * kPi);
    failures += !surface.holds(turn_about(axis, angle), limit_m);
  }
  return failures <= 2;
}

bool all_hold(const Context& context, const SelfSurface& surface,
              std::span<const Rigid3d> rotations, double tolerance) {
  std::atomic<bool> all = true;
  for_each_chunk(context, static_cast<std::int64_t>(rotations.size()), 1,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end && all; ++i) {
                     const Rigid3d& m = rotations[static_cast<std::size_t>(i)];
                     const double angle = rotation_angle(m.rotation);
                     const ContinuousSymmetry axis = axis_of(m, angle, surface.centre());
                     if (!surface.holds(m, tolerance_m(surface, axis, tolerance))) all = false;
                   }
                 });
  return all;
}

bool is_ball(const SelfSurface& surface, double tolerance) {
  for (const Vec3d& axis : {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}}) {
    if (!is_continuous(surface, {axis, surface.centre()}, tolerance)) return false;
  }
  return true;
}

namespace {

/// What holds about the axis of a turn that was nearly found.
FoundAxis examined(const SelfSurface& surface, const Vec3d& axis, int order, double tolerance) {
  const double angle = 2 * kPi / order;
  const Rigid3d start = turn_about({axis, surface.centre()}, angle);
  FoundAxis found{axis_of(refined(surface, start), angle, surface.centre()), false, {}};
  const double limit_m = tolerance_m(surface, found.axis, tolerance);
  if (!surface.holds(turn_about(found.axis, angle), limit_m)) return found;
  if (inertia_allows(surface.inertia(), found.axis.axis, 3)) {
    found.continuous = is_continuous(surface, found.axis, tolerance);
    if (found.continuous) return found;
    for (int n = 2; n <= kMostOrder; ++n) {
      if (surface.holds(turn_about(found.axis, 2 * kPi / n), limit_m)) found.orders.push_back(n);
    }
  } else {
    found.orders.push_back(2);
  }
  return found;
}

}  // namespace

std::vector<FoundAxis> find_axes(const Context& context, const SelfSurface& surface,
                                 double tolerance, const Progress& progress) {
  // Every group has an axis of one of these orders, every axis a turn of one of them or of 2 or 3.
  struct Search {
    int order;
    std::size_t most;  ///< axes of an icosahedron, and a few that fail
  };
  constexpr Search kSearches[] = {{5, 16}, {3, 16}, {2, 32}, {7, 4}, {11, 4}};
  std::vector<FoundAxis> axes;
  int done = 0;
  for (const Search& search : kSearches) {
    report(progress, done++, std::size(kSearches));
    std::vector<Candidate> candidates = coarse_axes(context, surface, search.order, search.most);
    std::erase_if(candidates, [&](const Candidate& c) {
      return std::any_of(axes.begin(), axes.end(), [&](const FoundAxis& a) {
        return angle_between_lines(a.axis.axis, c.axis) < kApart_rad / 2;
      });
    });
    std::vector<FoundAxis> examinations(candidates.size());
    for_each_chunk(context, static_cast<std::int64_t>(candidates.size()), 1,
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i) {
                       const auto k = static_cast<std::size_t>(i);
                       examinations[k] =
                           examined(surface, candidates[k].axis, search.order, tolerance);
                     }
                   });
    for (const FoundAxis& found : examinations) {
      if (found.continuous) return {found};
      const bool is_new = std::none_of(axes.begin(), axes.end(), [&](const FoundAxis& a) {
        return angle_between_lines(a.axis.axis, found.axis.axis) < kApart_rad / 2;
      });
      if (is_new && !found.orders.empty()) axes.push_back(found);
    }
  }
  report(progress, std::size(kSearches), std::size(kSearches));
  return axes;
}

}  // namespace sextant::detail::symmetries
