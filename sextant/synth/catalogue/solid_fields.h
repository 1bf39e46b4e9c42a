// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "sextant/core/vec.h"

// Solids as fields: negative inside, positive outside, near the surface about the distance to it in
// metres. Sums of few of them model a free-form body.

namespace sextant::detail::catalogue {

inline double ball(const Vec3d& p, const Vec3d& center, double radius) {
  return norm(p - center) - radius;
}

inline Vec3d divided(const Vec3d& a, const Vec3d& b) { return {a.x / b.x, a.y / b.y, a.z / b.z}; }

/// Zero on the ellipsoid with slope 1 there; a fair distance nearby.
inline double ellipsoid(const Vec3d& p, const Vec3d& center, const Vec3d& radii) {
  const Vec3d scaled = divided(p - center, radii);
  const double inner = norm(scaled);
  const double slope = norm(divided(scaled, radii));
  return slope > 0 ? inner * (inner - 1) / slope : -std::min({radii.x, radii.y, radii.z});
}

/// A rod with round ends whose radius goes from `radius_a` to `radius_b`.
inline double rod(const Vec3d& p, const Vec3d& a, const Vec3d& b, double radius_a,
                  double radius_b) {
  const Vec3d along = b - a;
  const double t = clamp(dot(p - a, along) / norm_sq(along), 0.0, 1.0);
  return norm(p - a - along * t) - (radius_a + (radius_b - radius_a) * t);
}

/// A box with edges rounded by `rounding`; `half` are half its outer sides.
inline double rounded_box(const Vec3d& p, const Vec3d& center, const Vec3d& half, double rounding) {
  const Vec3d q{std::abs(p.x - center.x) - half.x + rounding,
                std::abs(p.y - center.y) - half.y + rounding,
                std::abs(p.z - center.z) - half.z + rounding};
  const Vec3d out{std::max(q.x, 0.0), std::max(q.y, 0.0), std::max(q.z, 0.0)};
  return norm(out) + std::min(std::max({q.x, q.y, q.z}), 0.0) - rounding;
}

/// The union, with the seam filled over a width of about `width` (a quadratic blend).
inline double join(double a, double b, double width) {
  const double h = std::max(width - std::abs(a - b), 0.0) / width;
  return std::min(a, b) - 0.25 * h * h * width;
}
/// What two solids have in common, with the edge rounded.
inline double overlap(double a, double b, double width) { return -join(-a, -b, width); }
/// The first without the second, with the edge rounded.
inline double carve(double a, double b, double width) { return -join(-a, b, width); }

/// A mirror: x and -x alike.
inline Vec3d mirrored_x(const Vec3d& p) { return {std::abs(p.x), p.y, p.z}; }

}  // namespace sextant::detail::catalogue
