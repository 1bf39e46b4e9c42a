// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/sym3.h"

namespace sextant {

/// Eigenvalues in ascending order; `vectors.row[i]` is the unit eigenvector of `values[i]`, and the
/// rows form a right-handed orthonormal frame, also when eigenvalues coincide.
template <class T>
struct Eigen3 {
  T values[3];
  Mat3<T> vectors;
};

namespace detail {

/// One Jacobi rotation that zeroes entry (p, q) of a; v collects the rotations in its rows.
template <class T>
SEXTANT_HD void jacobi_rotate(T a[3][3], T v[3][3], int p, int q) {
  if (a[p][q] == T(0)) return;
  const T theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  // For |theta| so large that theta² overflows, t tends to 1 / (2 theta).
  const T magnitude = std::abs(theta);
  const T t_abs = magnitude > T(1e8) ? T(0.5) / magnitude
                                     : T(1) / (magnitude + std::sqrt(magnitude * magnitude + T(1)));
  const T t = theta < T(0) ? -t_abs : t_abs;
  const T c = T(1) / std::sqrt(t * t + T(1));
  const T s = t * c;
  const T apq = a[p][q];
  a[p][p] -= t * apq;
  a[q][q] += t * apq;
  a[p][q] = a[q][p] = T(0);
  const int r = 3 - p - q;
  const T arp = a[r][p];
  const T arq = a[r][q];
  a[r][p] = a[p][r] = c * arp - s * arq;
  a[r][q] = a[q][r] = s * arp + c * arq;
  for (int k = 0; k < 3; ++k) {
    const T vp = v[p][k];
    const T vq = v[q][k];
    v[p][k] = c * vp - s * vq;
    v[q][k] = s * vp + c * vq;
  }
}

/// Swaps the eigenpairs i < j when they are out of order.
template <class T>
SEXTANT_HD void order_pair(Eigen3<T>& e, int i, int j) {
  if (!(e.values[j] < e.values[i])) return;
  const T value = e.values[i];
  e.values[i] = e.values[j];
  e.values[j] = value;
  const Vec3<T> vector = e.vectors.row[i];
  e.vectors.row[i] = e.vectors.row[j];
  e.vectors.row[j] = vector;
}

template <class T>
SEXTANT_HD void order(Eigen3<T>& e) {
  order_pair(e, 0, 1);
  order_pair(e, 1, 2);
  order_pair(e, 0, 1);
  e.vectors.row[2] = cross(e.vectors.row[0], e.vectors.row[1]);
}

/// Returns a unit vector perpendicular to the unit vector w.
template <class T>
SEXTANT_HD Vec3<T> any_perpendicular(const Vec3<T>& w) {
  return std::abs(w.x) > std::abs(w.y) ? normalized(Vec3<T>{-w.z, T(0), w.x})
                                       : normalized(Vec3<T>{T(0), w.z, -w.y});
}

/// Returns the kernel of m - value I as the largest cross product of its rows, and its squared
/// length in `length_sq`.
template <class T>
SEXTANT_HD Vec3<T> kernel_vector(const Sym3<T>& m, T value, T& length_sq) {
  const Vec3<T> r0{m.xx - value, m.xy, m.xz};
  const Vec3<T> r1{m.xy, m.yy - value, m.yz};
  const Vec3<T> r2{m.xz, m.yz, m.zz - value};
  const Vec3<T> c01 = cross(r0, r1);
  const Vec3<T> c02 = cross(r0, r2);
  const Vec3<T> c12 = cross(r1, r2);
  Vec3<T> best = c01;
  length_sq = norm_sq(c01);
  if (norm_sq(c02) > length_sq) {
    best = c02;
    length_sq = norm_sq(c02);
  }
  if (norm_sq(c12) > length_sq) {
    best = c12;
    length_sq = norm_sq(c12);
  }
  return best;
}

}  // namespace detail

/// Solves by cyclic Jacobi rotations: the slow and always accurate way, about 500 flop. The input
/// is finite.
template <class T>
SEXTANT_HD Eigen3<T> eigen_jacobi(const Sym3<T>& m) {
  T a[3][3] = {{m.xx, m.xy, m.xz}, {m.xy, m.yy, m.yz}, {m.xz, m.yz, m.zz}};
  T v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  // Converges quadratically: six sweeps reach the last bit of a double for every 3×3 matrix.
  for (int sweep = 0; sweep < 8; ++sweep) {
    if (a[0][1] == T(0) && a[0][2] == T(0) && a[1][2] == T(0)) break;
    detail::jacobi_rotate(a, v, 0, 1);
    detail::jacobi_rotate(a, v, 0, 2);
    detail::jacobi_rotate(a, v, 1, 2);
  }
  Eigen3<T> e;
  for (int i = 0; i < 3; ++i) {
    e.values[i] = a[i][i];
    e.vectors.row[i] = {v[i][0], v[i][1], v[i][2]};
  }
  // Two dozen rotations have rounded two dozen times: make the frame orthonormal again.
  Vec3<T>* row = e.vectors.row;
  row[0] = normalized(row[0]);
  row[1] = normalized(row[1] - row[0] * dot(row[0], row[1]));
  row[2] = cross(row[0], row[1]);
  detail::order(e);
  return e;
}

/// Finds the eigenvalues and eigenvectors of a symmetric matrix, in about 220 flop.
///
/// A closed form gives the eigenvalue that stands apart most, and an exact 2×2 rotation in the
/// plane perpendicular to its vector the others, so that a coinciding pair still gives an
/// orthonormal frame. The matrix is scaled by its largest entry, and Jacobi takes over where the
/// closed form has lost its digits. The residual |M v - λ v| and the error of λ stay below 16 ε
/// max|M|, where ε is the unit of T. A matrix with NaN or infinite entries gives NaN in every value
/// and vector.
template <class T>
SEXTANT_HD Eigen3<T> eigen(const Sym3<T>& matrix) {
  const T scale = max_abs(matrix);
  if (!is_finite(matrix)) {
    const T nan = T(NAN);
    return {{nan, nan, nan}, {{{nan, nan, nan}, {nan, nan, nan}, {nan, nan, nan}}}};
  }
  if (scale == T(0)) return {{T(0), T(0), T(0)}, Mat3<T>::identity()};
  // A subnormal scale has no finite inverse: divide entry by entry.
  const Sym3<T> m{matrix.xx / scale, matrix.xy / scale, matrix.xz / scale,
                  matrix.yy / scale, matrix.yz / scale, matrix.zz / scale};

  // Eigenvalues of the traceless part B = (M - q I) / p are 2 cos of thirds of an angle.
  const T q = trace(m) / T(3);
  const T bxx = m.xx - q;
  const T byy = m.yy - q;
  const T bzz = m.zz - q;
  const T off_sq = m.xy * m.xy + m.xz * m.xz + m.yz * m.yz;
  const T p = std::sqrt((bxx * bxx + byy * byy + bzz * bzz + T(2) * off_sq) / T(6));
  if (!(p > T(0))) {
    return {{matrix.xx, matrix.xx, matrix.xx}, Mat3<T>::identity()};
  }
  const T det = bxx * (byy * bzz - m.yz * m.yz) - m.xy * (m.xy * bzz - m.yz * m.xz) +
                m.xz * (m.xy * m.yz - byy * m.xz);
  const T half_det = clamp(det / (T(2) * p * p * p), T(-1), T(1));
  const T angle = std::acos(half_det) / T(3);
  const T third_turn = T(2.0943951023931954923);
  const T largest = q + T(2) * p * std::cos(angle);
  const T smallest = q + T(2) * p * std::cos(angle + third_turn);
  const T apart = half_det >= T(0) ? largest : smallest;

  T length_sq;
  const Vec3<T> kernel = detail::kernel_vector(m, apart, length_sq);
  // The gap of the isolated eigenvalue is at least √3 p, so the cross product is of order p².
  // Below this the spectrum is too narrow for the closed form: the spec's 1e-4 of the scale.
  if (!(length_sq > T(1e-8))) {
    Eigen3<T> e = eigen_jacobi(m);
    for (int i = 0; i < 3; ++i) e.values[i] *= scale;
    return e;
  }
  const Vec3<T> w = kernel / std::sqrt(length_sq);
  const Vec3<T> u = detail::any_perpendicular(w);
  const Vec3<T> v = cross(w, u);

  // The matrix in the plane (u, v), diagonalised by one rotation. Rayleigh quotients as values:
  // their error is the square of the vectors' error.
  const Vec3<T> mu = m * u;
  const Vec3<T> mv = m * v;
  const T a = dot(u, mu);
  const T b = dot(u, mv);
  const T d = dot(v, mv);
  T c = T(1);
  T s = T(0);
  if (b != T(0)) {
    const T theta = (d - a) / (T(2) * b);
    const T magnitude = std::abs(theta);
    const T t_abs = magnitude > T(1e8)
                        ? T(0.5) / magnitude
                        : T(1) / (magnitude + std::sqrt(magnitude * magnitude + T(1)));
    const T t = theta < T(0) ? -t_abs : t_abs;
    c = T(1) / std::sqrt(t * t + T(1));
    s = t * c;
  }
  Eigen3<T> e;
  e.vectors.row[0] = u * c - v * s;
  e.vectors.row[1] = u * s + v * c;
  e.vectors.row[2] = w;
  for (int i = 0; i < 3; ++i) {
    e.values[i] = dot(e.vectors.row[i], m * e.vectors.row[i]) * scale;
  }
  detail::order(e);
  return e;
}

}  // namespace sextant
