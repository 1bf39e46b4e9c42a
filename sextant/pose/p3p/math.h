// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/eigen3.h"
#include "sextant/pose/p3p.h"

namespace sextant::detail::p3p {

/// Newton's steps from a closed form to the last bits of a root of t³ + a t² + b t + c.
SEXTANT_HD inline double polished_root(double a, double b, double c, double root) {
  for (int step = 0; step < 3; ++step) {
    const double value = ((root + a) * root + b) * root + c;
    const double slope = (3 * root + 2 * a) * root + b;
    if (!(std::abs(slope) > 0)) break;
    const double next = root - value / slope;
    if (!std::isfinite(next)) break;
    root = next;
  }
  return root;
}

/// A real root of t³ + a t² + b t + c: of three, the one that lies apart from the others, which
/// rounding moves least.
SEXTANT_HD inline double apart_root(double a, double b, double c) {
  const double shift = a / 3;
  const double p = b - a * shift;  // t = s - shift: s³ + p s + q
  const double q = c - shift * b + 2 * shift * shift * shift;
  const double half = 0.5 * std::abs(q);
  const double third = p / 3;
  const double discriminant = half * half + third * third * third;
  double s;
  if (discriminant < 0) {
    const double radius = std::sqrt(-third);
    s = 2 * radius * std::cos(std::acos(min_of(half / (radius * radius * radius), 1.0)) / 3);
  } else {
    const double u = std::cbrt(half + std::sqrt(discriminant));
    s = u > 0 ? u - third / u : 0;
  }
  return polished_root(a, b, c, (q > 0 ? -s : s) - shift);
}

/// A quadratic form of the three distances.
SEXTANT_HD inline double value(const Sym3d& m, const Vec3d& a, const Vec3d& b) {
  return dot(a, m * b);
}

/// The coefficients of det(first + t second), from the constant one up.
struct Cubic {
  double c[4];
};
SEXTANT_HD inline Cubic determinant_of_pencil(const Sym3d& first, const Sym3d& second) {
  const Mat3d a = to_mat3(first), b = to_mat3(second);
  Cubic cubic{};
  cubic.c[0] = determinant(a);
  cubic.c[3] = determinant(b);
  for (int i = 0; i < 3; ++i) {
    Mat3d one = a, two = b;
    one.row[i] = b.row[i];
    two.row[i] = a.row[i];
    cubic.c[1] += determinant(one);
    cubic.c[2] += determinant(two);
  }
  return cubic;
}

/// A member of the pencil that is a pair of planes through the origin.
SEXTANT_HD inline Sym3d singular_member(const Sym3d& first, const Sym3d& second) {
  const Cubic cubic = determinant_of_pencil(first, second);
  const bool swapped = std::abs(cubic.c[3]) < std::abs(cubic.c[0]);
  const double lead = swapped ? cubic.c[0] : cubic.c[3];
  if (!(std::abs(lead) > 0)) return first;  // both are singular
  const double t = swapped ? apart_root(cubic.c[1] / lead, cubic.c[2] / lead, cubic.c[3] / lead)
                           : apart_root(cubic.c[2] / lead, cubic.c[1] / lead, cubic.c[0] / lead);
  return swapped ? first * t + second : first + second * t;
}

/// Squared lengths of the triangle's edges and cosines between the rays, edge i opposite point i.
struct Triangle {
  double edge_sq[3];
  double cosine[3];
};

/// What the distances l leave of |l_j b_j - l_k b_k|² = edge².
SEXTANT_HD inline Vec3d misfit(const Triangle& t, const Vec3d& l) {
  return {l.y * l.y + l.z * l.z - 2 * t.cosine[0] * l.y * l.z - t.edge_sq[0],
          l.z * l.z + l.x * l.x - 2 * t.cosine[1] * l.z * l.x - t.edge_sq[1],
          l.x * l.x + l.y * l.y - 2 * t.cosine[2] * l.x * l.y - t.edge_sq[2]};
}

/// Newton's method on the three equations: from the closed form's digits to nearly all.
SEXTANT_HD inline Vec3d polished_distances(const Triangle& t, Vec3d l) {
  Vec3d rest = misfit(t, l);
  for (int step = 0; step < 4; ++step) {
    const Mat3d j{{{0, 2 * (l.y - t.cosine[0] * l.z), 2 * (l.z - t.cosine[0] * l.y)},
                   {2 * (l.x - t.cosine[1] * l.z), 0, 2 * (l.z - t.cosine[1] * l.x)},
                   {2 * (l.x - t.cosine[2] * l.y), 2 * (l.y - t.cosine[2] * l.x), 0}}};
    const double det = determinant(j);
    if (!(std::abs(det) > 0)) break;
    const Vec3d a = j.column(0), b = j.column(1), c = j.column(2);
    const Vec3d change =
        Vec3d{dot(rest, cross(b, c)), dot(a, cross(rest, c)), dot(a, cross(b, rest))} / det;
    const Vec3d next = l - change;
    const Vec3d left = misfit(t, next);
    if (!(norm_sq(left) < norm_sq(rest))) break;
    l = next;
    rest = left;
  }
  return l;
}

/// An orthonormal frame of a triangle, as columns.
SEXTANT_HD inline Mat3d frame_of(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const Vec3d x = normalized(b - a);
  const Vec3d z = normalized(cross(x, c - a));
  return Mat3d::from_columns(x, cross(z, x), z);
}

/// See solve_p3p.
SEXTANT_HD inline P3pSolutions solve(const Vec3d (&points_m)[3], const Vec3d (&rays)[3]) {
  P3pSolutions solutions;
  const Vec3d edge[3] = {points_m[1] - points_m[2], points_m[2] - points_m[0],
                         points_m[0] - points_m[1]};
  double longest_sq = 0;
  for (const Vec3d& e : edge) longest_sq = max_of(longest_sq, norm_sq(e));
  const double scale = std::sqrt(longest_sq);
  // Twice the triangle's area, against a triangle of equal sides.
  if (!(scale > 0) || !std::isfinite(scale) ||
      !(norm_sq(cross(edge[1], edge[2])) > 1e-12 * longest_sq * longest_sq)) {
    return solutions;
  }
  Vec3d b[3];
  for (int i = 0; i < 3; ++i) {
    b[i] = normalized(rays[i]);
    if (!(norm_sq(b[i]) > 0.5)) return solutions;  // zero or not finite
  }
  Triangle t{};
  for (int i = 0; i < 3; ++i) {
    t.edge_sq[i] = norm_sq(edge[i]) / longest_sq;
    t.cosine[i] = dot(b[(i + 1) % 3], b[(i + 2) % 3]);
    if (!(t.cosine[i] < 1 - 1e-14)) return solutions;
  }
  // The equations l M l = edge², and combinations of them without a constant.
  const Sym3d m0{0, 0, 0, 1, -t.cosine[0], 1};
  const Sym3d m1{1, 0, -t.cosine[1], 0, 0, 1};
  const Sym3d m2{1, -t.cosine[2], 0, 1, 0, 0};
  const Sym3d d1 = m2 * t.edge_sq[0] - m0 * t.edge_sq[2];
  const Sym3d d2 = m1 * t.edge_sq[0] - m0 * t.edge_sq[1];
  const Eigen3<double> e = eigen(singular_member(d1, d2));
  double low = -e.values[0], high = e.values[2];
  if (!(max_of(low, high) > 0)) return solutions;
  // Two planes that coincide have no second eigenvalue, but for rounding.
  if (low < 0 && low > -1e-12 * high) low = 0;
  if (high < 0 && high > -1e-12 * low) high = 0;
  if (!(low >= 0) || !(high >= 0)) return solutions;

  const Mat3d object = frame_of(points_m[0], points_m[1], points_m[2]);
  for (int sign = -1; sign <= 1; sign += 2) {
    // The plane √high (e₂·l) ± √low (e₀·l) = 0 and a basis of it.
    const Vec3d normal =
        normalized(e.vectors.row[2] * std::sqrt(high) + e.vectors.row[0] * (sign * std::sqrt(low)));
    const Vec3d u = any_perpendicular(normal);
    const Vec3d v = cross(normal, u);
    // Where the plane meets the cone of the equation that sees it better: a c² + 2 b c s + d s².
    double form[3] = {value(d1, u, u), value(d1, u, v), value(d1, v, v)};
    const double other[3] = {value(d2, u, u), value(d2, u, v), value(d2, v, v)};
    if (std::abs(other[0]) + std::abs(other[1]) + std::abs(other[2]) >
        std::abs(form[0]) + std::abs(form[1]) + std::abs(form[2])) {
      for (int i = 0; i < 3; ++i) form[i] = other[i];
    }
    const double size = form[0] * form[0] + form[1] * form[1] + form[2] * form[2];
    double root_sq = form[1] * form[1] - form[0] * form[2];
    if (!(root_sq > -1e-12 * size) || !(size > 0)) continue;
    const double root = std::sqrt(max_of(root_sq, 0.0));
    const double sum = -(form[1] + (form[1] < 0 ? -root : root));
    const Vec3d lines[2] = {u * sum + v * form[0], u * form[2] + v * sum};
    for (const Vec3d& line : lines) {
      // Scaled by the edge that is seen under the widest angle.
      const Vec3d direction = dot(line, Vec3d{1, 1, 1}) < 0 ? -line : line;
      const double direction_size = norm(direction);
      if (!(direction_size > 0)) continue;
      Vec3d l = direction / direction_size;
      const double squares = value(m0, l, l) + value(m1, l, l) + value(m2, l, l);
      if (!(squares > 0)) continue;
      l = l * std::sqrt((t.edge_sq[0] + t.edge_sq[1] + t.edge_sq[2]) / squares);
      if (!(l.x > 0 && l.y > 0 && l.z > 0)) continue;
      l = polished_distances(t, l);
      const Vec3d rest = misfit(t, l);
      if (!(l.x > 0 && l.y > 0 && l.z > 0) || !(norm_sq(rest) < 1e-12)) continue;
      const Vec3d p = b[0] * (l.x * scale), q = b[1] * (l.y * scale), r = b[2] * (l.z * scale);
      const Mat3d rotation = frame_of(p, q, r) * transpose(object);
      bool known = false;
      for (int i = 0; i < solutions.count; ++i) {
        const Vec3d other_point = solutions.camera_from_object[i] * points_m[0];
        const Vec3d other_end = solutions.camera_from_object[i] * points_m[1];
        known |= norm_sq(other_point - p) + norm_sq(other_end - q) < 1e-18 * longest_sq;
      }
      if (!known && solutions.count < 4) {
        solutions.camera_from_object[solutions.count++] = {rotation, p - rotation * points_m[0]};
      }
    }
  }
  return solutions;
}

}  // namespace sextant::detail::p3p
