// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/cholesky.h"
#include "sextant/core/eigen3.h"
#include "sextant/surface/segment.h"

// Plane, sphere and cylinder through the points of one region, from sums over its points. Offsets q
// are from the region's first point, so that doubles lose nothing.

namespace sextant::detail::segment {

/// Σ over a region's points of the moments up to third order. Only points on no crease count for
/// the models; the others only for `points` and `area_m2`.
struct RegionMoments {
  double points = 0, area_m2 = 0, count = 0;
  double sum[3] = {};
  double squares[6] = {};  ///< xx xy xz yy yz zz
  double cubes[10] = {};   ///< xxx xxy xxz xyy xyz xzz yyy yyz yzz zzz
  double normals[3] = {};
  double normal_squares[6] = {};
};

/// Σ for one Gauss-Newton step of sphere (x, y, z, r) and cylinder (two shifts, two tilts, r).
struct RegionResiduals {
  double sphere[10] = {};  ///< JᵀJ, packed
  double sphere_error[4] = {};
  double sphere_error_sq = 0;
  double cylinder[15] = {};
  double cylinder_error[5] = {};
  double cylinder_error_sq = 0;
};

/// Σ over the points near a region's plane, and over those far from it.
struct PlaneSides {
  RegionMoments near;
  double far = 0;
  double far_sq = 0;  ///< distances in tolerances, squared
};

/// All are plain runs of doubles, which add up one by one.
inline constexpr int kMomentSums = sizeof(RegionMoments) / sizeof(double);
inline constexpr int kResidualSums = sizeof(RegionResiduals) / sizeof(double);
inline constexpr int kSideSums = sizeof(PlaneSides) / sizeof(double);
inline constexpr int kMostRegionSums = max_of(max_of(kMomentSums, kResidualSums), kSideSums);

struct SphereModel {
  Vec3d centre;
  double radius_m = 0;
  double rms_m = INFINITY;
};

struct CylinderModel {
  Vec3d axis, across, beside;  ///< an orthonormal frame
  Vec3d centre;
  double radius_m = 0;
  double rms_m = INFINITY;
};

/// Sphere and cylinder while they are improved. One that does not fit is dropped.
struct CurvedModels {
  Vec3d origin;
  bool has_sphere = false, has_cylinder = false;
  SphereModel sphere;
  CylinderModel cylinder;
};

struct RegionFit {
  Vec3d origin;
  double points = 0, area_m2 = 0, count = 0;
  Vec3d mean;
  Sym3d covariance;
  Vec3d mean_normal;
  Vec3d plane_normal;
  double plane_rms_m = INFINITY;
  double extent_m = 0;  ///< length of a rod with the largest deviation
  double tolerance_m = 0;
  double most_deviation_m = 0;  ///< of the points from a model that they lie on
  bool parts = false;           ///< a plane with something else that leaked into it
  CurvedModels curved;
  SphereModel best_sphere;
  CylinderModel best_cylinder;
};

SEXTANT_HD inline void add_squares(double* to, const Vec3d& v) {
  to[0] += v.x * v.x;
  to[1] += v.x * v.y;
  to[2] += v.x * v.z;
  to[3] += v.y * v.y;
  to[4] += v.y * v.z;
  to[5] += v.z * v.z;
}

/// What a plane needs.
SEXTANT_HD inline void add_to_plane_moments(RegionMoments& m, const Vec3d& q, const Vec3d& n) {
  m.count += 1.0;
  m.sum[0] += q.x;
  m.sum[1] += q.y;
  m.sum[2] += q.z;
  add_squares(m.squares, q);
  m.normals[0] += n.x;
  m.normals[1] += n.y;
  m.normals[2] += n.z;
}

SEXTANT_HD inline void add_to_moments(RegionMoments& m, const Vec3d& q, const Vec3d& n) {
  add_to_plane_moments(m, q, n);
  const double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
  m.cubes[0] += xx * q.x;
  m.cubes[1] += xx * q.y;
  m.cubes[2] += xx * q.z;
  m.cubes[3] += q.x * yy;
  m.cubes[4] += q.x * q.y * q.z;
  m.cubes[5] += q.x * zz;
  m.cubes[6] += yy * q.y;
  m.cubes[7] += yy * q.z;
  m.cubes[8] += q.y * zz;
  m.cubes[9] += zz * q.z;
  add_squares(m.normal_squares, n);
}

/// Adds the moments of other points, whose offsets begin `from` further on.
SEXTANT_HD inline void add_moved(RegionMoments& to, const RegionMoments& other, const Vec3d& from) {
  const double t[3] = {from.x, from.y, from.z};
  const double n = other.count;
  const double* sum = other.sum;
  const auto square = [&](int i, int j) { return other.squares[i * (5 - i) / 2 + j]; };  // i <= j
  to.points += other.points;
  to.area_m2 += other.area_m2;
  to.count += n;
  int at_square = 0, at_cube = 0;
  for (int i = 0; i < 3; ++i) {
    to.sum[i] += sum[i] + n * t[i];
    to.normals[i] += other.normals[i];
    for (int j = i; j < 3; ++j) {
      to.normal_squares[at_square] += other.normal_squares[at_square];
      to.squares[at_square++] += square(i, j) + t[i] * sum[j] + t[j] * sum[i] + n * t[i] * t[j];
      for (int k = j; k < 3; ++k) {
        to.cubes[at_cube] += other.cubes[at_cube] + t[i] * square(j, k) + t[j] * square(i, k) +
                             t[k] * square(i, j) + t[i] * t[j] * sum[k] + t[i] * t[k] * sum[j] +
                             t[j] * t[k] * sum[i] + n * t[i] * t[j] * t[k];
        ++at_cube;
      }
    }
  }
}

/// Third moments about the mean, E[x_i x_j x_k].
struct CentralCubes {
  double c[10];

  SEXTANT_HD double at(int i, int j, int k) const {
    // Sorted, (i, j, k) counts up in the order of RegionMoments::cubes.
    const int low = min_of(min_of(i, j), k);
    const int high = max_of(max_of(i, j), k);
    const int middle = i + j + k - low - high;
    const int first = low == 0 ? 0 : low == 1 ? 6 : 9;
    const int a = middle - low;
    const int b = high - low;
    return c[first + (a == 0 ? b : a == 1 ? (low == 0 ? 2 + b : 1 + b) : 5)];
  }
  SEXTANT_HD double along(const Vec3d& x, const Vec3d& y, const Vec3d& z) const {
    const double a[3] = {x.x, x.y, x.z}, b[3] = {y.x, y.y, y.z}, d[3] = {z.x, z.y, z.z};
    double sum = 0;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        for (int k = 0; k < 3; ++k) sum += at(i, j, k) * a[i] * b[j] * d[k];
      }
    }
    return sum;
  }
};

SEXTANT_HD inline CentralCubes central_cubes(const RegionMoments& m) {
  const double n = m.count;
  const double mean[3] = {m.sum[0] / n, m.sum[1] / n, m.sum[2] / n};
  const double* s = m.squares;
  const double square[3][3] = {{s[0] / n, s[1] / n, s[2] / n},
                               {s[1] / n, s[3] / n, s[4] / n},
                               {s[2] / n, s[4] / n, s[5] / n}};
  CentralCubes result;
  int at = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = i; j < 3; ++j) {
      for (int k = j; k < 3; ++k, ++at) {
        result.c[at] = m.cubes[at] / n - mean[i] * square[j][k] - mean[j] * square[i][k] -
                       mean[k] * square[i][j] + 2 * mean[i] * mean[j] * mean[k];
      }
    }
  }
  return result;
}

/// A larger radius, in extents of the region, says nothing: it turns by less than a third of a
/// radian. (The algebraic fit errs towards small radii: what it finds too large is too large.)
inline constexpr double kMostRadius = 3.0;

/// The algebraic sphere, min Σ (|q|² - 2 c · q - d)²: C c = t / 2 about the mean, t = E[q |q|²].
SEXTANT_HD inline void start_sphere(RegionFit& fit, const Vec3d& t) {
  const Sym3d& c = fit.covariance;
  SymN<double, 3> matrix;
  matrix.at(0, 0) = c.xx;
  matrix.at(1, 0) = c.xy;
  matrix.at(1, 1) = c.yy;
  matrix.at(2, 0) = c.xz;
  matrix.at(2, 1) = c.yz;
  matrix.at(2, 2) = c.zz;
  const Cholesky<double, 3> factors = cholesky(matrix, 1e-9);
  if (!factors.ok) return;
  double x[3] = {t.x / 2, t.y / 2, t.z / 2};
  factors.solve(x);
  const Vec3d offset{x[0], x[1], x[2]};
  SphereModel& m = fit.curved.sphere;
  m.centre = fit.mean + offset;
  m.radius_m = std::sqrt(norm_sq(offset) + trace(c));
  fit.curved.has_sphere = m.radius_m <= kMostRadius * fit.extent_m;
}

/// The axis is what all normals are perpendicular to; the circle across it is the algebraic one.
SEXTANT_HD inline void start_cylinder(RegionFit& fit, const Eigen3<double>& of_normals,
                                      const Vec3d& t, const CentralCubes& cubes) {
  CylinderModel& m = fit.curved.cylinder;
  m.axis = of_normals.vectors.row[0];
  m.across = of_normals.vectors.row[1];
  m.beside = of_normals.vectors.row[2];
  const double tu = dot(t, m.across) - cubes.along(m.across, m.axis, m.axis);
  const double tv = dot(t, m.beside) - cubes.along(m.beside, m.axis, m.axis);
  const double cuu = dot(m.across, fit.covariance * m.across);
  const double cuv = dot(m.across, fit.covariance * m.beside);
  const double cvv = dot(m.beside, fit.covariance * m.beside);
  const double det = cuu * cvv - cuv * cuv;
  if (!(det > 1e-9 * (cuu + cvv) * (cuu + cvv))) return;
  const double u = (tu * cvv - tv * cuv) / (2 * det);
  const double v = (tv * cuu - tu * cuv) / (2 * det);
  m.centre = fit.mean + m.across * u + m.beside * v;
  m.radius_m = std::sqrt(u * u + v * v + cuu + cvv);
  fit.curved.has_cylinder = m.radius_m <= kMostRadius * fit.extent_m;
}

/// Normals that turn less, as a root mean square, leave no doubt that a region is flat (3.4°).
inline constexpr double kFlatNormals_rad = 0.06;

/// The deviation of a model within which points count as lying on it, in tolerances.
inline constexpr double kMostDeviation = 1.5;

/// Everything that the moments tell. `with_curved`: also where to start sphere and cylinder.
SEXTANT_HD inline RegionFit fit_from_moments(const RegionMoments& m, const Vec3d& origin,
                                             double tolerance_m, bool with_curved) {
  RegionFit fit;
  fit.origin = origin;
  fit.points = m.points;
  fit.area_m2 = m.area_m2;
  fit.count = m.count;
  fit.tolerance_m = tolerance_m;
  fit.most_deviation_m = kMostDeviation * tolerance_m;
  const double n = max_of(m.count, 1.0);
  fit.mean = Vec3d{m.sum[0], m.sum[1], m.sum[2]} / n;
  const double* s = m.squares;
  fit.covariance =
      Sym3d{s[0] / n, s[1] / n, s[2] / n, s[3] / n, s[4] / n, s[5] / n} - outer(fit.mean);
  fit.mean_normal = normalized(Vec3d{m.normals[0], m.normals[1], m.normals[2]});
  const Eigen3<double> shape = eigen(fit.covariance);
  fit.plane_normal = shape.vectors.row[0];
  if (dot(fit.plane_normal, fit.mean_normal) < 0) fit.plane_normal = -fit.plane_normal;
  fit.plane_rms_m = std::sqrt(max_of(shape.values[0], 0.0));
  fit.extent_m = std::sqrt(12 * max_of(shape.values[2], 0.0));
  if (!with_curved) return fit;
  const double* k = m.normal_squares;
  const Eigen3<double> of_normals =
      eigen(Sym3d{k[0] / n, k[1] / n, k[2] / n, k[3] / n, k[4] / n, k[5] / n});
  const double spread_sq = of_normals.values[0] + of_normals.values[1];
  if (!(spread_sq > kFlatNormals_rad * kFlatNormals_rad)) return fit;
  fit.curved.origin = origin;
  const CentralCubes cubes = central_cubes(m);
  const Vec3d t{cubes.at(0, 0, 0) + cubes.at(0, 1, 1) + cubes.at(0, 2, 2),
                cubes.at(1, 0, 0) + cubes.at(1, 1, 1) + cubes.at(1, 2, 2),
                cubes.at(2, 0, 0) + cubes.at(2, 1, 1) + cubes.at(2, 2, 2)};
  start_sphere(fit, t);
  start_cylinder(fit, of_normals, t, cubes);
  return fit;
}

/// Adds row rowᵀ, row · error and error² of one point.
template <int N>
SEXTANT_HD void add_equation(const double (&row)[N], double error, double* matrix, double* right,
                             double& error_sq) {
  int at = 0;
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j <= i; ++j) matrix[at++] += row[i] * row[j];
    right[i] += row[i] * error;
  }
  error_sq += error * error;
}

/// The distances of one point from the current sphere and cylinder, with their derivatives.
SEXTANT_HD inline void add_to_residuals(RegionResiduals& r, const CurvedModels& fit,
                                        const Vec3d& q) {
  if (fit.has_sphere) {
    const Vec3d d = q - fit.sphere.centre;
    const double length = norm(d);
    const Vec3d u = length > 0 ? d / length : Vec3d{0, 0, 1};
    const double row[4] = {-u.x, -u.y, -u.z, -1.0};
    add_equation(row, length - fit.sphere.radius_m, r.sphere, r.sphere_error, r.sphere_error_sq);
  }
  if (fit.has_cylinder) {
    const CylinderModel& m = fit.cylinder;
    const Vec3d d = q - m.centre;
    const double height = dot(d, m.axis);
    const double x = dot(d, m.across);
    const double y = dot(d, m.beside);
    const double length = std::sqrt(x * x + y * y);
    const double c = length > 0 ? x / length : 1.0;
    const double s = length > 0 ? y / length : 0.0;
    const double row[5] = {-c, -s, -height * c, -height * s, -1.0};
    add_equation(row, length - m.radius_m, r.cylinder, r.cylinder_error, r.cylinder_error_sq);
  }
}

template <int N>
SEXTANT_HD bool solve_step(const double* matrix, const double* right, double (&step)[N]) {
  SymN<double, N> normal_matrix;
  for (int i = 0; i < N * (N + 1) / 2; ++i) normal_matrix.packed[i] = matrix[i];
  const Cholesky<double, N> factors = cholesky(normal_matrix, 1e-12);
  for (int i = 0; i < N; ++i) step[i] = -right[i];
  if (factors.ok) factors.solve(step);
  return factors.ok;
}

/// Notes how well the current sphere and cylinder fit, keeps the best, and takes one step. What
/// fits worse than the plane is given up.
SEXTANT_HD inline void improve(RegionFit& fit, const RegionResiduals& r) {
  if (fit.curved.has_sphere) {
    SphereModel& m = fit.curved.sphere;
    m.rms_m = std::sqrt(r.sphere_error_sq / fit.count);
    if (m.rms_m < fit.best_sphere.rms_m) fit.best_sphere = m;
    double step[4] = {};
    fit.curved.has_sphere =
        m.rms_m <= fit.plane_rms_m && solve_step(r.sphere, r.sphere_error, step);
    m.centre += Vec3d{step[0], step[1], step[2]};
    m.radius_m += step[3];
  }
  if (fit.curved.has_cylinder) {
    CylinderModel& m = fit.curved.cylinder;
    m.rms_m = std::sqrt(r.cylinder_error_sq / fit.count);
    if (m.rms_m < fit.best_cylinder.rms_m) fit.best_cylinder = m;
    double step[5] = {};
    fit.curved.has_cylinder =
        m.rms_m <= fit.plane_rms_m && solve_step(r.cylinder, r.cylinder_error, step);
    m.centre += m.across * step[0] + m.beside * step[1];
    m.axis = normalized(m.axis + m.across * step[2] + m.beside * step[3]);
    m.across = normalized(m.across - m.axis * dot(m.axis, m.across));
    m.beside = cross(m.axis, m.across);
    m.radius_m += step[4];
  }
}

}  // namespace sextant::detail::segment
