// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/cholesky.h"

/// Stands before a short loop of device code whose count is known, so that arrays it indexes stay
/// in registers; the host's compiler does better by itself.
#if defined(__CUDA_ARCH__)
#define SEXTANT_UNROLL_ON_DEVICE _Pragma("unroll")
#else
#define SEXTANT_UNROLL_ON_DEVICE
#endif

namespace sextant {

/// Eigenvalues in ascending order; `vectors[i]` is the unit eigenvector of `values[i]`.
template <class T, int N>
struct EigenN {
  T values[N];
  T vectors[N][N];
};

/// Solves by cyclic Jacobi rotations, which find small eigenvalues of a well-scaled matrix as
/// accurately as large ones. That takes about 40 N³ flop: it is meant for the few matrices of a
/// problem, not for each of its points. A matrix with an entry that is not finite gives NaN
/// everywhere. For 3×3 matrices `eigen` (eigen3.h) is faster.
template <class T, int N>
SEXTANT_HD EigenN<T, N> eigen_jacobi(const SymN<T, N>& m) {
  T a[N][N];
  EigenN<T, N> e;
  T total = T(0);
  SEXTANT_UNROLL_ON_DEVICE
  for (int i = 0; i < N; ++i) {
    SEXTANT_UNROLL_ON_DEVICE
    for (int j = 0; j < N; ++j) {
      a[i][j] = m.at(i, j);
      total += std::abs(a[i][j]);
      e.vectors[i][j] = i == j ? T(1) : T(0);
    }
  }
  if (!std::isfinite(total)) {
    SEXTANT_UNROLL_ON_DEVICE
    for (int i = 0; i < N; ++i) {
      e.values[i] = T(NAN);
      SEXTANT_UNROLL_ON_DEVICE
      for (int j = 0; j < N; ++j) e.vectors[i][j] = T(NAN);
    }
    return e;
  }
  constexpr T kNegligible_sq = sizeof(T) == 4 ? T(1e-17) : T(1e-34);
  // Converges quadratically; ten sweeps are more than a double needs for any N that is used here.
  for (int sweep = 0; sweep < 16; ++sweep) {
    T off = T(0);
    SEXTANT_UNROLL_ON_DEVICE
    for (int p = 0; p < N; ++p) {
      SEXTANT_UNROLL_ON_DEVICE
      for (int q = p + 1; q < N; ++q) off += std::abs(a[p][q]);
    }
    if (!(off > T(0))) break;
    SEXTANT_UNROLL_ON_DEVICE
    for (int p = 0; p < N; ++p) {
      SEXTANT_UNROLL_ON_DEVICE
      for (int q = p + 1; q < N; ++q) {
        // What changes neither diagonal entry relative to its size is left (Demmel and Veselić).
        if (a[p][q] * a[p][q] <= kNegligible_sq * std::abs(a[p][p] * a[q][q])) {
          a[p][q] = a[q][p] = T(0);
          continue;
        }
        const T theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const T magnitude = std::abs(theta);
        const T t_abs = magnitude > T(1e8)
                            ? T(0.5) / magnitude
                            : T(1) / (magnitude + std::sqrt(magnitude * magnitude + T(1)));
        const T t = theta < T(0) ? -t_abs : t_abs;
        const T c = T(1) / std::sqrt(t * t + T(1));
        const T s = t * c;
        const T apq = a[p][q];
        a[p][p] -= t * apq;
        a[q][q] += t * apq;
        a[p][q] = a[q][p] = T(0);
        SEXTANT_UNROLL_ON_DEVICE
        for (int r = 0; r < N; ++r) {
          if (r != p && r != q) {
            const T arp = a[r][p];
            const T arq = a[r][q];
            a[r][p] = a[p][r] = c * arp - s * arq;
            a[r][q] = a[q][r] = s * arp + c * arq;
          }
          const T vp = e.vectors[p][r];
          const T vq = e.vectors[q][r];
          e.vectors[p][r] = c * vp - s * vq;
          e.vectors[q][r] = s * vp + c * vq;
        }
      }
    }
  }
  SEXTANT_UNROLL_ON_DEVICE
  for (int i = 0; i < N; ++i) e.values[i] = a[i][i];
  SEXTANT_UNROLL_ON_DEVICE
  for (int i = 0; i < N; ++i) {
    SEXTANT_UNROLL_ON_DEVICE
    for (int j = i + 1; j < N; ++j) {
      if (!(e.values[j] < e.values[i])) continue;
      const T value = e.values[i];
      e.values[i] = e.values[j];
      e.values[j] = value;
      SEXTANT_UNROLL_ON_DEVICE
      for (int k = 0; k < N; ++k) {
        const T entry = e.vectors[i][k];
        e.vectors[i][k] = e.vectors[j][k];
        e.vectors[j][k] = entry;
      }
    }
  }
  return e;
}

}  // namespace sextant
