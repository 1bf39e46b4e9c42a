// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/eigen3.h"
#include "sextant/core/simd/lane_math.h"
#include "sextant/surface/normals/curved.h"

// The plane through the points of one neighbourhood. Organised and unorganised normals share it, on
// either device. T is a number, or a pack of numbers that are treated alike (see LaneMath).

namespace sextant::detail::normals {

/// Zeroth, first and second moments of the offsets q - o of a neighbourhood's points from some
/// origin o. Take an o among the points: then float suffices, whatever the distance to the camera.
template <class T>
struct Moments {
  T count{};
  Vec3<T> sum;
  Sym3<T> squares;
};

template <class T>
SEXTANT_HD void accumulate(Moments<T>& moments, const Vec3<T>& offset) {
  moments.count = moments.count + T(1.0f);
  moments.sum += offset;
  moments.squares = moments.squares + outer(offset);
}

/// 1 / count, and 1 for no points.
template <class T>
SEXTANT_HD T inverse_count(const Moments<T>& moments) {
  const T one(1.0f);
  return one / LaneMath<T>::select(moments.count > one, moments.count, one);
}

/// Σ (q - mean)(q - mean)ᵀ, the covariance times the number of points. Zero for no points.
template <class T>
SEXTANT_HD Sym3<T> scatter_about_mean(const Moments<T>& moments) {
  return moments.squares - outer(moments.sum) * inverse_count(moments);
}

/// The eigenvector of the smallest eigenvalue, in closed form and without branches.
template <class T>
struct SmallestEigenvector {
  Vec3<T> vector;  ///< of unit length
  T gap;  ///< (λ1 - λ0)(λ2 - λ0) / trace²: the closed form loses digits as this goes to zero
};

/// Below this gap take `eigen`: the closed form's direction is wrong by up to 1e-6 / gap radians.
inline constexpr float kLeastGap = 1e-3f;

/// About 110 flop and three square roots, in single precision. The matrix is positive semi-definite
/// with a positive trace; for others the gap comes out below kLeastGap or NaN.
template <class T>
SEXTANT_HD SmallestEigenvector<T> smallest_eigenvector(const Sym3<T>& matrix) {
  using Math = LaneMath<T>;
  const T zero(0.0f);
  const T one(1.0f);
  const T half(0.5f);
  const Sym3<T> m = matrix * (one / trace(matrix));
  // As in core/eigen3.h: λ0 = 1/3 - 2 p cos(acos(-h) / 3), with h half the determinant of the
  // traceless part divided by p.
  const T third(1.0f / 3.0f);
  const T bxx = m.xx - third;
  const T byy = m.yy - third;
  const T bzz = m.zz - third;
  const T off_sq = m.xy * m.xy + m.xz * m.xz + m.yz * m.yz;
  const T p_sq = (bxx * bxx + byy * byy + bzz * bzz + off_sq + off_sq) * T(1.0f / 6.0f);
  const T inverse_p = Math::inverse_square_root(p_sq);
  const T det = bxx * (byy * bzz - m.yz * m.yz) - m.xy * (m.xy * bzz - m.yz * m.xz) +
                m.xz * (m.xy * m.yz - byy * m.xz);
  const T h = half * det * (inverse_p * inverse_p * inverse_p);
  T s_sq = half - half * h;
  s_sq = Math::select(s_sq > zero, s_sq, zero);
  s_sq = Math::select(s_sq < one, s_sq, one);
  const T s = Math::square_root(s_sq);
  // cos(2/3 acos s) on [0, 1], interpolated at Chebyshev nodes: wrong by 1.9e-7 at most.
  T cosine = s * T(-0.002103491f) + T(0.010501754f);
  cosine = cosine * s - T(0.026399749f);
  cosine = cosine * s + T(0.051474763f);
  cosine = cosine * s - T(0.11080547f);
  cosine = cosine * s + T(0.5773319f);
  cosine = cosine * s + T(0.50000019f);
  const T p = p_sq * inverse_p;
  const T smallest = third - (p + p) * cosine;

  // The adjugate of M - λ0 I is (λ1 - λ0)(λ2 - λ0) v vᵀ. Its largest column is v up to the error of
  // λ0 over the gap; the product with the adjugate squares that error away.
  const T a = m.xx - smallest;
  const T b = m.yy - smallest;
  const T c = m.zz - smallest;
  const Sym3<T> adjugate{b * c - m.yz * m.yz, m.xz * m.yz - m.xy * c, m.xy * m.yz - m.xz * b,
                         a * c - m.xz * m.xz, m.xy * m.xz - m.yz * a, a * b - m.xy * m.xy};
  Vec3<T> column{adjugate.xx, adjugate.xy, adjugate.xz};
  T largest = adjugate.xx;
  const auto y_wins = adjugate.yy > largest;
  largest = Math::select(y_wins, adjugate.yy, largest);
  column.x = Math::select(y_wins, adjugate.xy, column.x);
  column.y = Math::select(y_wins, adjugate.yy, column.y);
  column.z = Math::select(y_wins, adjugate.yz, column.z);
  const auto z_wins = adjugate.zz > largest;
  column.x = Math::select(z_wins, adjugate.xz, column.x);
  column.y = Math::select(z_wins, adjugate.yz, column.y);
  column.z = Math::select(z_wins, adjugate.zz, column.z);
  const Vec3<T> v = adjugate * column;
  return {v * Math::inverse_square_root(dot(v, v)), trace(adjugate)};
}

/// The careful way, for matrices that the closed form leaves: NaN when the points are no plane at
/// all (all equal, on a line, or the same spread in every direction).
SEXTANT_HD inline Vec3f careful_plane_normal(const Sym3f& scatter) {
  constexpr float kLeastRelativeGap = 1e-5f;  // a hundred times the rounding of a scatter matrix
  const Eigen3<float> e = eigen(scatter);
  const bool is_plane = e.values[1] - e.values[0] > kLeastRelativeGap * e.values[2];
  return is_plane ? e.vectors.row[0] : Vec3f{NAN, NAN, NAN};
}

/// The unit normal of the least-squares plane of points with this scatter matrix, of either sign;
/// NaN when they determine no plane.
SEXTANT_HD inline Vec3f plane_normal(const Sym3f& scatter) {
  const SmallestEigenvector<float> closed_form = smallest_eigenvector(scatter);
  return closed_form.gap > kLeastGap ? closed_form.vector : careful_plane_normal(scatter);
}

/// A point seen by a sensor at the origin, in the coordinates (X/Z, Y/Z, 1/Z). A plane n · p = 1 is
/// a plane there too, 1/Z = n · (X/Z, Y/Z, 1), and the error of a depth map is in 1/Z alone.
template <class T>
SEXTANT_HD Vec3<T> ray_coordinates(const Vec3<T>& point) {
  const T inverse = T(1.0f) / point.z;
  return {point.x * inverse, point.y * inverse, inverse};
}

/// The plane that fits 1/Z best, towards the sensor.
template <class T>
struct RayPlane {
  Vec3<T> normal;  ///< of unit length
  /// Positive when the plane is determined: λ1 λ2 of the image coordinates, less 1e-4 (λ1 + λ2)².
  T certainty;
};

/// The slopes along X/Z and Y/Z times the determinant: only the normal's direction matters.
template <class T>
struct RaySlopes {
  T x, y, det;
};
template <class T>
SEXTANT_HD RaySlopes<T> ray_slopes(const Sym3<T>& scatter) {
  return {scatter.xz * scatter.yy - scatter.yz * scatter.xy,
          scatter.yz * scatter.xx - scatter.xz * scatter.xy,
          scatter.xx * scatter.yy - scatter.xy * scatter.xy};
}

/// The plane with these slopes through the mean.
template <class T>
SEXTANT_HD RayPlane<T> ray_plane(const RaySlopes<T>& slopes, const Sym3<T>& scatter,
                                 const Vec3<T>& mean) {
  // Points on a line in the image have λ1 = 0. A strip two pixels wide stays far above the limit.
  constexpr float kLeastDetermined = 1e-4f;
  const T spread = scatter.xx + scatter.yy;
  const T offset = slopes.det * mean.z - slopes.x * mean.x - slopes.y * mean.y;
  const Vec3<T> n{-slopes.x, -slopes.y, -offset};
  return {n * LaneMath<T>::inverse_square_root(dot(n, n)),
          slopes.det - spread * spread * T(kLeastDetermined)};
}

/// From the scatter matrix and the mean in ray coordinates; about 40 flop.
template <class T>
SEXTANT_HD RayPlane<T> ray_plane(const Sym3<T>& scatter, const Vec3<T>& mean) {
  return ray_plane(ray_slopes(scatter), scatter, mean);
}

/// The same with slopes that a bent surface changes.
template <class T>
SEXTANT_HD RayPlane<T> ray_plane(const Sym3<T>& scatter, const Vec3<T>& mean, const Bend<T>& bend) {
  RaySlopes<T> slopes = ray_slopes(scatter);
  slopes.x = slopes.x + slopes.det * bend.x;
  slopes.y = slopes.y + slopes.det * bend.y;
  return ray_plane(slopes, scatter, Vec3<T>{mean.x, mean.y, mean.z + bend.middle});
}

/// select() of lane math, number by number.
template <class T, class Condition>
SEXTANT_HD Vec3<T> chosen(const Condition& condition, const Vec3<T>& yes, const Vec3<T>& no) {
  using Math = LaneMath<T>;
  return {Math::select(condition, yes.x, no.x), Math::select(condition, yes.y, no.y),
          Math::select(condition, yes.z, no.z)};
}
template <class T, class Condition>
SEXTANT_HD Sym3<T> chosen(const Condition& condition, const Sym3<T>& yes, const Sym3<T>& no) {
  using Math = LaneMath<T>;
  return {Math::select(condition, yes.xx, no.xx), Math::select(condition, yes.xy, no.xy),
          Math::select(condition, yes.xz, no.xz), Math::select(condition, yes.yy, no.yy),
          Math::select(condition, yes.yz, no.yz), Math::select(condition, yes.zz, no.zz)};
}

/// The normal turned so that it points from `point` to the side of the viewpoint.
template <class T>
SEXTANT_HD Vec3<T> oriented_towards(const Vec3<T>& viewpoint, const Vec3<T>& point,
                                    const Vec3<T>& normal) {
  return chosen(dot(normal, viewpoint - point) < T(0.0f), -normal, normal);
}

}  // namespace sextant::detail::normals
